package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/report/draw"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
)

// A site makes the pages of the server.
type site struct {
	app    *app.App
	source *source
	view.Reporter
	linker
	now func() time.Time
}

// Limits of a page, however large the ledger is.
var (
	mostOfADay = history.SnapshotLimits{Chains: 200, Calls: 60, Keys: mostRows}
	mostLast   = 10
	mostCalls  = 500
)

// errNoPage reports that an address leads nowhere.
var errNoPage = errors.New("there is nothing at this address; it may have been pruned")

func newSite(a *app.App, s *source, r view.Reporter, base string) *site {
	return &site{a, s, r, linker{base: base, since: periods[0].since}, time.Now}
}

func (s *site) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/version", s.version)
	for pattern, make := range map[string]maker{
		"/{$}":          (*site).overview,
		"/day/{day}":    (*site).day,
		"/chain/{id}":   (*site).chain,
		"/call/{id}":    (*site).call,
		"/{nowhere...}": func(*site, *app.App, *ledger.Ledger, *http.Request) (draw.Page, error) { return draw.Page{}, errNoPage },
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.show(w, r, make) })
	}
	return mux
}

// A maker makes a page. The app has the time of the request.
type maker func(*site, *app.App, *ledger.Ledger, *http.Request) (draw.Page, error)

// version writes the version of the data, which a page compares with its own.
func (s *site) version(w http.ResponseWriter, _ *http.Request) {
	err := s.source.read(func(_ *ledger.Ledger, version string) error {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, err := fmt.Fprint(w, version)
		return err
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (s *site) show(w http.ResponseWriter, r *http.Request, make maker) {
	a := *s.app
	a.Now = s.now()
	a.Stdout = view.Screen{} // times are not relative
	live := draw.Live{URL: s.base + "version"}
	var page draw.Page
	err := s.source.read(func(l *ledger.Ledger, version string) (err error) {
		live.Version = version
		page, err = make(s, &a, l, r)
		return err
	})
	status := http.StatusOK
	switch {
	case errors.Is(err, errNoPage):
		status = http.StatusNotFound
	case app.IsUsage(err):
		status = http.StatusBadRequest
	case err != nil:
		status = http.StatusInternalServerError
	}
	if err != nil {
		page = draw.Page{Title: http.StatusText(status), Empty: a.TildeIn(err.Error()), Trail: s.trail()}
	}
	page.Live = live
	page.Footer = cmp.Or(page.Footer, footer(&a))
	var out bytes.Buffer
	if err := draw.Write(&out, page); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", page.Policy()+"; frame-ancestors 'none'")
	w.WriteHeader(status)
	_, _ = out.WriteTo(w) // the browser may be gone
}

// trail returns the links to the pages above one.
func (s *site) trail(above ...draw.Link) []draw.Link {
	return append([]draw.Link{{Text: "All days", URL: s.base}}, above...)
}

// periods are those that the overview offers; the first is what it shows if none is named.
var periods = []struct{ since, name string }{{"30d", "30 days"}, {"7d", "7 days"}, {"1d", "24 hours"}, {"", "always"}}

func (s *site) overview(a *app.App, l *ledger.Ledger, r *http.Request) (draw.Page, error) {
	query := r.URL.Query() // the filters have the names of the flags
	if !query.Has("since") {
		query.Set("since", periods[0].since)
	}
	flags := app.FilterBy(query.Get)
	f, err := app.Filter(a, l, flags)
	if err != nil {
		return draw.Page{}, err
	}
	snapshot, err := history.ReadSnapshot(l, f, s.Prices.LongPrompt(), mostDrawn)
	if err != nil {
		return draw.Page{}, err
	}
	link := s.linker
	link.since = *flags["since"]
	p := newPage(a, snapshot, history.Always, s.Reporter, link) // the period is named below
	if p.Latest, err = s.lastCalls(l, f); err != nil {
		return draw.Page{}, err
	}
	for _, other := range periods {
		link := draw.Link{Text: other.name}
		if other.since != *flags["since"] || *flags["until"] != "" {
			query.Del("until")
			query.Set("since", other.since)
			link.URL = s.base + "?" + query.Encode()
		}
		p.Others = append(p.Others, link)
	}
	var only []string
	for name, value := range flags.Set {
		if name != "since" && name != "until" {
			only = append(only, name+" "+view.Cut(a.Tilde(value)))
		}
	}
	if len(only) > 0 {
		p.Trail = s.trail()
		p.Title += ": " + strings.Join(only, ", ")
	}
	return p, nil
}

// lastCalls returns a table of the last selected calls, if there is any.
func (s *site) lastCalls(l *ledger.Ledger, f history.Filter) ([]draw.Table, error) {
	last, err := history.LatestInvocations(l, history.Wanted{Filter: f, Limit: mostLast})
	if err != nil || len(last) == 0 {
		return nil, err
	}
	names, err := chainNames(l, last)
	calls := s.callsTable(last, names)
	calls.Title = "Last calls"
	return []draw.Table{calls}, err
}

func (s *site) day(a *app.App, l *ledger.Ledger, r *http.Request) (draw.Page, error) {
	day, err := time.Parse(time.DateOnly, r.PathValue("day"))
	if err != nil {
		return draw.Page{}, errNoPage
	}
	period := history.Period{Since: decide.MillisOf(day), Until: decide.MillisOf(day.AddDate(0, 0, 1))}
	snapshot, err := history.ReadSnapshot(l, history.Filter{Period: period}, s.Prices.LongPrompt(), mostOfADay)
	if err != nil {
		return draw.Page{}, err
	}
	p := newPage(a, snapshot, period, s.Reporter, s.linker)
	p.Title, p.Subtitle, p.Trail = day.Format("Monday, 2 January 2006"), "in UTC", s.trail()
	p.Charts = nil // a chart of one column says nothing
	p.Of = "The chains with a call on this day."
	return p, nil
}

// pathNumber returns the number of a chain or a call in an address.
func pathNumber(r *http.Request) (int64, error) {
	n, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || n <= 0 {
		return 0, errNoPage
	}
	return n, nil
}

// A source is the ledger as the server reads it. It is opened anew if its file was replaced, and is
// empty while there is none.
type source struct {
	path   string
	mu     sync.Mutex // one page at a time
	ledger *ledger.Ledger
	file   fs.FileInfo // nil while there is none
	opened int         // how often
}

// read calls look with the ledger, and a text that changes with its content.
func (s *source) read(look func(l *ledger.Ledger, version string) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.open(); err != nil {
		return err
	}
	version, err := history.DataVersion(s.ledger)
	if err != nil {
		return err
	}
	return look(s.ledger, fmt.Sprintf("%d.%d", s.opened, version))
}

// open opens the ledger that is there now, unless it is open.
func (s *source) open() error {
	file, err := os.Stat(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open ledger: %w", err)
	}
	if s.ledger != nil && (file == s.file || os.SameFile(file, s.file)) {
		return nil
	}
	s.close()
	if file == nil {
		s.ledger, err = ledger.OpenMemory()
	} else {
		s.ledger, err = ledger.OpenReadOnly(s.path)
	}
	if err != nil {
		s.ledger = nil
		return err
	}
	s.file = file
	s.opened++
	return nil
}

func (s *source) close() {
	if s.ledger != nil {
		s.ledger.Close()
		s.ledger = nil
	}
}
