package report

import (
	"bytes"
	"database/sql"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/saving"
	"reprise/internal/ctl/view"
	"reprise/internal/prices"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/test/sample"

	"golang.org/x/net/html"
)

var samples = flag.String("samples", "", "write sample reports into this `directory`")

// reportOf makes the page of a ledger.
func reportOf(t testing.TB, ledgerPath string, args ...string) string {
	t.Helper()
	a, out, errs := newApp(ledgerPath)
	if code := a.Run(Command(a), append([]string{"--html", "-"}, args...)); code != app.ExitOK || errs.Len() > 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	return out.String()
}

// newApp returns an app with that ledger, and what it prints.
func newApp(ledgerPath string) (a *app.App, out, errs *bytes.Buffer) {
	out, errs = new(bytes.Buffer), new(bytes.Buffer)
	return &app.App{Stdin: os.Stdin, Stdout: view.Screen{Writer: out}, Stderr: view.Screen{Writer: errs}, Now: sample.Now,
		Environ: []string{"HOME=/home/me", "XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(ledgerPath))}}, out, errs
}

// samplePages are reports on ledgers of several sizes.
func samplePages(t *testing.T) map[string]string {
	return map[string]string{
		"none":     reportOf(t, filepath.Join(t.TempDir(), "reprise", "ledger.db")),
		"one":      reportOf(t, sample.Ledger(t, 1, false)),
		"estimate": reportOf(t, sample.Ledger(t, 1000, false)),
		"control":  reportOf(t, sample.Ledger(t, 1000, true)),
	}
}

// What a page has in it depends on what there is to show.
func TestReportSections(t *testing.T) {
	for name, page := range samplePages(t) {
		if *samples != "" {
			if err := os.WriteFile(filepath.Join(*samples, name+".html"), []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want := "Money by day|Tokens by day|Tokens by day but for cache reads|From the cache by day|By project|By tool|By model|By task|What resuming saved|Decisions|Chains"
		if name == "none" {
			want = ""
		}
		if got := strings.Join(texts(t, page, "h2"), "|"); got != want {
			t.Errorf("%s: %s", name, got)
		}
		if got, want := strings.Contains(page, "without resuming"), name == "estimate" || name == "control"; got != want {
			t.Errorf("%s: is there something without resuming: %v", name, got)
		}
		if got, want := strings.Contains(page, "control group: "), name == "control"; got != want {
			t.Errorf("%s: is there a control group: %v", name, got)
		}
		if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") {
			t.Errorf("%s: a figure that is not known is printed as a number", name)
		}
	}
}

// texts returns what stands in the elements of that name.
func texts(t *testing.T, page, element string) (found []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == element {
			var text strings.Builder
			for inner := range n.Descendants() {
				if inner.Type == html.TextNode {
					text.WriteString(inner.Data)
				}
			}
			found = append(found, text.String())
		}
	}
	return found
}

// No table ends in a row for the others that stands for one of them.
func TestOthersAreSeveral(t *testing.T) {
	for jobs, want := range map[int]bool{mostRows - 1: false, mostRows: false, mostRows + 1: true} {
		path := sample.Ledger(t, 600, false)
		db, err := sql.Open("sqlite3", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("UPDATE chains SET role = 'part ' || id, task = 'job ' || (id % ?)", jobs); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if page := reportOf(t, path); strings.Contains(page, view.AllOthers) != want {
			t.Errorf("%d tasks: are there others: %t", jobs, !want)
		}
	}
}

// A page does not grow with the ledger.
func TestReportIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a ledger of 100 000 calls")
	}
	path := sample.Ledger(t, 100_000, true)
	page := reportOf(t, path, "--since", "2020-01-01")
	if len(page) > 1<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
	if !strings.Contains(page, ">100,000<") {
		t.Error("calls are missing")
	}
	a, out, errs := newApp(path)
	if code := a.Run(Command(a), []string{"--html", "-"}); code != app.ExitOK || !strings.Contains(errs.String(), "the latest 50,000 calls") || strings.Contains(out.String(), ">100,000<") {
		t.Errorf("exit %d without a period: %s", code, errs)
	}
}

// The page says what stats says.
func TestReportAgreesWithStats(t *testing.T) {
	for _, control := range []bool{false, true} {
		path := sample.Ledger(t, 2000, control)
		l, err := ledger.OpenExisting(path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		none := view.Reporter{Prices: &prices.Table{}}
		slices, err := history.Slices(l, history.Filter{}, none.Prices.LongPrompt())
		if err != nil {
			t.Fatal(err)
		}
		arms, err := history.Arms(l, history.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		want := saving.New(slices, nil, arms, none.ListPrice)
		s, err := history.ReadSnapshot(l, history.Filter{}, 100_000, mostDrawn)
		if err != nil {
			t.Fatal(err)
		}
		got := saving.New(s.Slices, s.Peers, s.Arms, none.ListPrice)
		spans, _ := newSpans(s.Slices, got, none)
		for i, f := range saving.Figures {
			if f.Unit == "share" {
				continue
			}
			byDay := 0.0
			for _, day := range spans {
				byDay += day.saved[i]
			}
			if saved := float64(want.Saved(f.Key)); saved <= 0 || !near(saved, float64(got.Saved(f.Key))) || !near(saved, byDay) {
				t.Errorf("control %v: %s: stats says %v, the report %v, its days %v", control, f.Key, saved, got.Saved(f.Key), byDay)
			}
		}
	}
}

func near(a, b float64) bool { return a-b <= a/1e9 && b-a <= a/1e9 }

// Long periods are shared out in weeks or more.
func TestSpans(t *testing.T) {
	for days, want := range map[int64]struct{ spans, width int64 }{1: {1, 1}, 60: {60, 1}, 61: {9, 7}, 420: {60, 7}, 421: {31, 14}, 100_000: {60, 1673}} {
		slices := []history.Slice{{Day: 0}, {Day: decide.Millis((days - 1) * dayLength)}}
		slices[0].Calls, slices[1].Calls = 1, 1
		spans, named := newSpans(slices, saving.New(nil, nil, nil, nil), view.Reporter{Prices: &prices.Table{}})
		if int64(len(spans)) != want.spans || spans[len(spans)-1].last != slices[1].Day || spans[len(spans)-1].sums.Calls == 0 {
			t.Errorf("%d days: %d columns, the last one to %s with %d calls", days, len(spans), day(spans[len(spans)-1].last), spans[len(spans)-1].sums.Calls)
		}
		unit := map[int64]string{1: "day", 7: "week", 14: "span of 2 weeks", 1673: "span of 239 weeks"}[want.width]
		if drawn := charts(spans, named); drawn[0].Title != "Money by "+unit || drawn[3].Title != "From the cache by "+unit {
			t.Errorf("%d days: %q, %q", days, drawn[0].Title, drawn[3].Title)
		}
		if width := int64(spans[0].last-spans[0].first)/dayLength + 1; width != want.width {
			t.Errorf("%d days: columns of %d", days, width)
		}
	}
}
