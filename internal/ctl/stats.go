package ctl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/saving"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"

	"github.com/spf13/cobra"
)

func statsCommand(a *app.App) *cobra.Command {
	var asJSON, summary, all bool
	s := statsReport{Schema: "shimctl.stats/1"}
	var flags app.FilterFlags
	c := &cobra.Command{
		Use: "stats", Short: "sum up the calls, and the saving",
		Long: `Prints the saving, and sums up the managed calls in a table. With --all: tokens by kind, the estimate, the
provider's cache, and both groups of chains if rollout keeps a share fresh.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return runStats(a, s, flags, asJSON, summary, all)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "print all of it")
	c.Flags().BoolVar(&summary, "summary", false,
		"print a sentence and a table in Markdown, for a CI job's page")
	c.Flags().StringVar((*string)(&s.By), "by", string(history.ByTool),
		"one row for each `KEY`: "+byWords)
	app.LimitFlag(c, &s.limit, "show at most `N`, 0 for all; of days and weeks all")
	flags = app.FilterFlag(c)
	app.JSONFlag(c, &asJSON, "shimctl.stats/1")
	c.MarkFlagsMutuallyExclusive("json", "summary")
	app.CompleteFlag(c, "by", byNames)
	return c
}

// The keys that calls are grouped by, and as words for people.
var (
	byNames = view.Mapped(history.Bys, func(by history.By) string { return string(by) })
	byWords = strings.Join(byNames[:len(byNames)-1], ", ") + " or " + byNames[len(byNames)-1]
)

func runStats(a *app.App, s statsReport, flags app.FilterFlags, asJSON, summary,
	all bool) error {
	if !slices.Contains(history.Bys, s.By) {
		return app.Usage(fmt.Sprintf("calls cannot be grouped by %q", s.By), "by "+byWords)
	}
	if s.By == history.ByDay || s.By == history.ByWeek {
		s.limit = 0
	}
	err := a.WithLedger(func(l *ledger.Ledger, r view.Reporter) (err error) {
		if s.filter, err = app.Filter(a, l, flags); err != nil {
			return err
		}
		if s.filter, err = a.Summed(l, s.filter); err != nil {
			return err
		}
		return s.sum(l, r)
	})
	if err != nil {
		return err
	}
	switch {
	case asJSON:
		return a.Stdout.PrintJSON(s)
	case summary:
		printSummary(a, s)
	default:
		printStats(a, s, all)
	}
	return nil
}

type statsReport struct {
	Schema string            `json:"schema" doc:"name of this schema"`
	By     history.By        `json:"by" doc:"the grouping of the calls"`
	Since  *time.Time        `json:"since" doc:"start of the period, null if all"`
	Groups []groupReport     `json:"groups" doc:"most calls first; days in order"`
	Total  groupReport       `json:"total" doc:"all of them"`
	Saved  saving.Summary    `json:"saved" doc:"the saving, an estimate"`
	Arms   []armReport       `json:"arms" doc:"where rollout is set: the chains that were held out and the others"`
	Cache  []cacheReport     `json:"cache" doc:"what resumed calls found in the provider's cache"`
	Hour   []history.HourRow `json:"cache_ttl" doc:"the saving by a cache of an hour, made or missed"`
	filter history.Filter
	limit  uint // of Groups, 0 for none
	saving saving.Saving
}

// An armReport is the chains that were held out, or the others.
type armReport struct {
	Arm    string      `json:"arm" doc:"control: held out; treated: the others"`
	Chains int64       `json:"chains" doc:"its chains"`
	Rounds view.Number `json:"rounds" doc:"mean number of calls of a chain"`
	Calls  groupReport `json:"calls" doc:"its calls"`
}

// A groupReport is the calls with the same key.
type groupReport struct {
	Key    *string `json:"key" doc:"the value that the calls have in common"`
	Others bool    `json:"others,omitempty" doc:"whether these are all groups beyond --limit"`
	history.Sums
	SessionsCreated int64       `json:"sessions_created" doc:"sessions created"`
	SessionsReused  int64       `json:"sessions_reused" doc:"sessions that were resumed at least once"`
	ReuseRate       view.Number `json:"reuse_rate" doc:"resumed calls as a share of all"`
	CacheRate       view.Number `json:"cache_rate" doc:"share of the tokens read that came from the cache"`
	PricedCalls     int64       `json:"priced_calls" doc:"calls of known cost; the cost is theirs"`
	MeanMS          view.Number `json:"mean_duration_ms" doc:"milliseconds"`
	view.MoneyReport
	key   string // as the ledger has it
	total view.Sum
}

func newGroup(key string, created, reused int64, b view.Bill) groupReport {
	return groupReport{key: key, Sums: b.Sums,
		SessionsCreated: created, SessionsReused: reused,
		ReuseRate: view.Rate(b.Resumed, b.Calls), CacheRate: view.CacheRate(b.Sums),
		PricedCalls: b.HasPrice(), MeanMS: view.Rate(b.Duration, b.Timed),
		MoneyReport: view.MoneyJSON(b.Total), total: b.Total}
}

// sum fills the report in.
func (s *statsReport) sum(l *ledger.Ledger, r view.Reporter) error {
	groups, err := history.Groups(l, s.By, s.filter, r.Prices.LongPrompt(), int(s.limit))
	hour, hourErr := history.HourRows(l, s.filter)
	cached, cacheErr := history.CacheRows(l, s.filter)
	chains, armErr := history.Arms(l, s.filter)
	if err := cmp.Or(err, hourErr, cacheErr, armErr); err != nil {
		return err
	}
	s.Since, s.Cache, s.Groups = beginning(s.filter.Since), cacheReports(cached), []groupReport{}
	s.Hour = slices.DeleteFunc(append([]history.HourRow{}, hour...),
		func(h history.HourRow) bool { return h.Calls+h.Chains == 0 })
	var all []history.Slice
	var created, reused int64
	for _, g := range groups {
		row := newGroup(g.Key, g.Created, g.Reused, r.Bill(g.Slices))
		if s.By == history.ByRole {
			g.Key = view.RoleName(g.Key)
		}
		switch row.Others = g.Key == history.OtherKeys; {
		case row.Others:
			row.key = "all others"
		case g.Key != "":
			row.Key = &g.Key
		}
		s.Groups = append(s.Groups, row)
		all = append(all, g.Slices...)
		created, reused = created+g.Created, reused+g.Reused
	}
	s.Total = newGroup("", created, reused, r.Bill(all))
	s.saving = saving.New(all, r.ListPrice)
	s.Saved, s.Arms = s.saving.Summary(), []armReport{}
	for _, name := range []string{ledger.Control, ledger.Treated} {
		if chains[name] > 0 {
			calls := newGroup("", 0, 0, r.Bill(slices.DeleteFunc(slices.Clone(all),
				func(s history.Slice) bool { return s.Arm != name })))
			s.Arms = append(s.Arms, armReport{name, chains[name],
				view.Rate(calls.Calls, chains[name]), calls})
		}
	}
	return nil
}

// The columns after the key, the columns of --all last.
var (
	statsColumns = []string{"CALLS", "RESUMED", "OK", "COST", "PRICED", "DURATION"}
	moreColumns  = []string{"INPUT", "CACHED", "WRITTEN", "OUTPUT", "COUNTED", "SESSIONS", "REUSED"}
)

func printStats(a *app.App, s statsReport, all bool) {
	if s.Total.Calls == 0 {
		a.Stderr.Notice(app.NoCallMade(s.filter))
		return
	}
	a.Stdout.Notice(app.CallsSince(s.filter.Since)+": "+s.Saved.Headline, "")
	header := slices.Concat([]string{strings.ToUpper(string(s.By))}, statsColumns, moreColumns)
	if !all {
		header = header[:1+len(statsColumns)]
	}
	t := view.NewTable(header...)
	for _, g := range s.Groups {
		key := view.TextCell(g.key)
		switch {
		case s.By == history.ByRole:
			key = view.RoleCell(g.key)
		case s.By == history.ByCwd:
			key = a.PathCell(g.key)
		}
		t.Add(groupRow(key, g)[:len(header)]...)
	}
	if len(s.Groups) > 1 && a.Stdout.Terminal {
		t.Add(groupRow(view.TextCell("all"), s.Total)[:len(header)]...)
	}
	t.Print(a.Stdout)
	if all {
		printEstimate(a, s.saving)
		printArms(a, s.Arms)
		printCache(a, s.Cache)
		printHour(a, s.Hour)
	}
}

func groupRow(key view.Cell, g groupReport) []view.Cell {
	tokens := func(n int64) view.Cell {
		if g.Metered == 0 {
			return view.UnknownCell()
		}
		return view.AmountCell("tokens", view.Number(n))
	}
	return []view.Cell{key, view.NumberCell(g.Calls), view.NumberCell(g.Resumed),
		view.AmountCell("share", view.Rate(g.OK, g.Ended)),
		view.PriceCell(g.total), view.NumberCell(g.PricedCalls),
		view.AmountCell("ms", g.MeanMS),
		tokens(g.Input), tokens(g.CacheRead), tokens(g.CacheWrite), tokens(g.Output),
		view.NumberCell(g.Metered), view.NumberCell(g.SessionsCreated),
		view.NumberCell(g.SessionsReused)}
}

// printEstimate prints the figures that resumed calls are compared with, and the numbers of calls.
func printEstimate(a *app.App, s saving.Saving) {
	if s.Compared == 0 {
		return
	}
	fmt.Fprintln(a.Stdout)
	t := view.NewTable("ESTIMATE", "CALLS", "EACH-RESUMED", "EACH-FRESH", "SAVED")
	for _, f := range []saving.Amount{s.Cost, s.Tokens} {
		t.Add(view.TextCell(f.Name), view.NumberCell(f.Calls), view.AmountCell(f.Unit, f.Resumed),
			view.AmountCell(f.Unit, f.Fresh), view.AmountCell(f.Unit, f.Saved))
	}
	t.Print(a.Stdout)
}

// printArms prints the chains that were held out beside the others.
func printArms(a *app.App, arms []armReport) {
	if len(arms) == 0 {
		return
	}
	fmt.Fprintln(a.Stdout)
	t := view.NewTable(slices.Concat([]string{"ARM", "CHAINS", "ROUNDS"}, statsColumns,
		moreColumns)...)
	for _, arm := range arms {
		t.Add(slices.Insert(groupRow(view.TextCell(arm.Arm), arm.Calls), 1,
			view.NumberCell(arm.Chains), view.AmountCell("calls", arm.Rounds))...)
	}
	t.Print(a.Stdout)
}

// printSummary prints the saving in a sentence and a table, as Markdown: CI systems show it beside
// a job.
func printSummary(a *app.App, s statsReport) {
	fmt.Fprintf(a.Stdout, "**reprise**, %s: %s.\n", app.CallsSince(s.filter.Since),
		inMarkdown(s.Saved.Headline))
	if s.Total.Calls == 0 {
		return
	}
	fmt.Fprintf(a.Stdout, "\n| %s | calls | resumed | read from cache | cost |\n| --- | ---: | "+
		"---: | ---: | ---: |\n", s.By)
	for _, g := range s.Groups {
		fmt.Fprintf(a.Stdout, "| %s | %s | %s | %s | %s |\n",
			inMarkdown(view.OrDash(view.RoleName(g.key))),
			view.Thousands(g.Calls), view.Thousands(g.Resumed),
			view.Amount("share", g.CacheRate), g.total.Human())
	}
}

// inMarkdown returns a text that Markdown shows as it is, on one line.
func inMarkdown(text string) string {
	var b strings.Builder
	for _, r := range view.Printable(text) {
		if strings.ContainsRune("\\`*_[]<>|#&~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// beginning returns a time of a filter, nil for all of the past.
func beginning(since decide.Millis) *time.Time {
	if since == 0 {
		return nil
	}
	return new(since.Time())
}
