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
	"reprise/internal/prices"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"

	"github.com/spf13/cobra"
)

func statsCommand(a *app.App) *cobra.Command {
	var asJSON, summary, all bool
	var s stats
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

func runStats(a *app.App, s stats, flags app.FilterFlags, asJSON, summary, all bool) error {
	if !slices.Contains(history.Bys, s.By) {
		return app.Usage(fmt.Sprintf("calls cannot be grouped by %q", s.By), "by "+byWords)
	}
	if s.By == history.ByDay || s.By == history.ByWeek {
		s.limit = 0
	}
	err := a.WithLedger(func(l *ledger.Ledger, r view.Reporter) (err error) {
		if s.Filter, err = app.Filter(a, l, flags); err != nil {
			return err
		}
		if s.Filter, err = a.Summed(l, s.Filter); err != nil {
			return err
		}
		return s.sum(l, r)
	})
	if err != nil {
		return err
	}
	switch {
	case asJSON:
		return a.Stdout.PrintJSON(statsJSON(s))
	case summary:
		printSummary(a, s)
	default:
		printStats(a, s, all)
	}
	return nil
}

type stats struct {
	By     history.By
	Filter history.Filter
	limit  uint // of Groups, 0 for none
	Groups []billedGroup
	Total  billedGroup
	Cached []history.CacheRow
	Hour   []history.HourRow
	Chains map[string]int64 // by arm
	arms   []billedGroup
	saving.Saving
}

// A billedGroup is the calls with the same key.
type billedGroup struct {
	Key             string
	Created, Reused int64 // sessions
	view.Bill
}

func (s *stats) sum(l *ledger.Ledger, r view.Reporter) (err error) {
	var errs [4]error
	var groups []history.Group
	groups, errs[0] = history.Groups(l, s.By, s.Filter, r.Prices.LongPrompt(), int(s.limit))
	s.Hour, errs[1] = history.HourRows(l, s.Filter)
	s.Cached, errs[2] = history.CacheRows(l, s.Filter)
	s.Chains, errs[3] = history.Arms(l, s.Filter)
	if err := cmp.Or(errs[:]...); err != nil {
		return err
	}
	var all []history.Slice
	for _, g := range groups {
		s.Groups = append(s.Groups, billedGroup{g.Key, g.Created, g.Reused, r.Bill(g.Slices)})
		all = append(all, g.Slices...)
		s.Total.Created, s.Total.Reused = s.Total.Created+g.Created, s.Total.Reused+g.Reused
	}
	s.Total.Bill = r.Bill(all)
	s.Saving = saving.New(all, r.ListPrice)
	for _, name := range []string{ledger.Control, ledger.Treated} {
		if s.Chains[name] > 0 {
			its := slices.DeleteFunc(slices.Clone(all), func(s history.Slice) bool {
				return s.Arm != name
			})
			s.arms = append(s.arms, billedGroup{Key: name, Bill: r.Bill(its)})
		}
	}
	return nil
}

// The columns after the key, the columns of --all last.
var (
	statsColumns = []string{"CALLS", "RESUMED", "OK", "COST", "PRICED", "DURATION"}
	moreColumns  = []string{"INPUT", "CACHED", "WRITTEN", "OUTPUT", "COUNTED", "SESSIONS", "REUSED"}
)

func printStats(a *app.App, s stats, all bool) {
	if s.Total.Calls == 0 {
		a.Stderr.Notice(noCallMade(s.Filter))
		return
	}
	a.Stdout.Notice(app.CallsSince(s.Filter.Since) + ": " + s.Headline())
	fmt.Fprintln(a.Stdout)
	header := slices.Concat([]string{strings.ToUpper(string(s.By))}, statsColumns, moreColumns)
	if !all {
		header = header[:1+len(statsColumns)]
	}
	t := view.NewTable(header...)
	for _, g := range s.Groups {
		key := view.TextCell(g.Key)
		if s.By == history.ByRole {
			key = view.RoleCell(g.Key)
		}
		if s.By == history.ByCwd {
			key = a.PathCell(g.Key)
		}
		if g.Key == history.OtherKeys {
			key = view.TextCell(view.AllOthers)
		}
		t.Add(groupRow(key, g)[:len(header)]...)
	}
	if len(s.Groups) > 1 && a.Stdout.Terminal {
		t.Add(groupRow(view.TextCell("all"), s.Total)[:len(header)]...)
	}
	t.Print(a.Stdout)
	if all {
		printEstimate(a, s.Saving)
		printArms(a, s)
		printCache(a, s.Cached)
		printHour(a, s.Hour)
	}
}

func groupRow(key view.Cell, g billedGroup) []view.Cell {
	tokens := func(n int64) view.Cell {
		if g.Metered == 0 {
			return view.UnknownCell()
		}
		return view.AmountCell("tokens", view.Number(n))
	}
	return []view.Cell{key, view.NumberCell(g.Calls), view.NumberCell(g.Resumed),
		view.AmountCell("share", view.Rate(g.OK, g.Ended)),
		view.PriceCell(g.Total), view.NumberCell(g.HasPrice()),
		view.AmountCell("ms", view.Rate(g.Duration, g.Timed)),
		tokens(g.Input), tokens(g.CacheRead), tokens(g.CacheWrite), tokens(g.Output),
		view.NumberCell(g.Metered), view.NumberCell(g.Created), view.NumberCell(g.Reused)}
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
func printArms(a *app.App, s stats) {
	if len(s.arms) == 0 {
		return
	}
	fmt.Fprintln(a.Stdout)
	t := view.NewTable(slices.Concat([]string{"ARM", "CHAINS", "ROUNDS"}, statsColumns,
		moreColumns)...)
	for _, arm := range s.arms {
		row := groupRow(view.TextCell(arm.Key), arm)
		rounds := view.AmountCell("calls", view.Rate(arm.Calls, s.Chains[arm.Key]))
		t.Add(slices.Insert(row, 1, view.NumberCell(s.Chains[arm.Key]), rounds)...)
	}
	t.Print(a.Stdout)
}

// printSummary prints the saving in a sentence and a table, as Markdown: CI systems show it beside
// a job.
func printSummary(a *app.App, s stats) {
	fmt.Fprintf(a.Stdout, "**reprise**, %s: %s.\n", app.CallsSince(s.Filter.Since),
		inMarkdown(s.Headline()))
	if s.Total.Calls == 0 {
		return
	}
	fmt.Fprintf(a.Stdout, "\n| %s | calls | resumed | read from cache | cost |\n| --- | ---: | "+
		"---: | ---: | ---: |\n", s.By)
	for _, g := range s.Groups {
		name := view.OrDash(view.RoleName(g.Key))
		if g.Key == history.OtherKeys {
			name = view.AllOthers
		}
		fmt.Fprintf(a.Stdout, "| %s | %s | %s | %s | %s |\n", inMarkdown(name),
			view.Thousands(g.Calls), view.Thousands(g.Resumed),
			view.Amount("share", view.CacheRate(g.Sums)), view.PriceCell(g.Total).Human)
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
}

// An armReport is the chains that were held out, or the others.
type armReport struct {
	Arm    string      `json:"arm" doc:"control: held out; treated: the others"`
	Chains int64       `json:"chains" doc:"its chains"`
	Rounds view.Number `json:"rounds" doc:"mean number of calls of a chain"`
	Calls  groupReport `json:"calls" doc:"its calls"`
}

type groupReport struct {
	Key             *string     `json:"key" doc:"the value that the calls have in common"`
	Others          bool        `json:"others,omitempty" doc:"whether these are all groups beyond --limit"`
	Calls           int64       `json:"calls" doc:"managed calls"`
	Ended           int64       `json:"ended" doc:"calls that have ended"`
	OK              int64       `json:"ok" doc:"calls that ended well"`
	Resumed         int64       `json:"resumed" doc:"resumed calls"`
	Forked          int64       `json:"forked" doc:"of the resumed calls, those in a copy because another process had used the session"`
	SessionsCreated int64       `json:"sessions_created" doc:"sessions created"`
	SessionsReused  int64       `json:"sessions_reused" doc:"sessions that were resumed at least once"`
	ReuseRate       view.Number `json:"reuse_rate" doc:"resumed calls as a share of all"`
	CacheRate       view.Number `json:"cache_rate" doc:"share of the tokens read that came from the cache"`
	MeteredCalls    int64       `json:"metered_calls" doc:"calls of known tokens; the tokens are theirs"`
	prices.Usage
	PricedCalls int64       `json:"priced_calls" doc:"calls of known cost; the cost is theirs"`
	MeanMS      view.Number `json:"mean_duration_ms" doc:"milliseconds"`
	view.MoneyReport
}

func statsJSON(s stats) statsReport {
	r := statsReport{Schema: "shimctl.stats/1", By: s.By, Groups: []groupReport{},
		Total: groupJSON(s.Total), Saved: s.Summary(),
		Arms: view.Mapped(s.arms, func(arm billedGroup) armReport {
			return armReport{arm.Key, s.Chains[arm.Key], view.Rate(arm.Calls, s.Chains[arm.Key]),
				groupJSON(arm)}
		}),
		Cache: cacheJSON(s.Cached)}
	r.Hour = slices.DeleteFunc(append([]history.HourRow{}, s.Hour...),
		func(h history.HourRow) bool { return h.Calls+h.Chains == 0 })
	r.Since = beginning(s.Filter.Since)
	for _, g := range s.Groups {
		row := groupJSON(g)
		if s.By == history.ByRole {
			g.Key = view.RoleName(g.Key)
		}
		if row.Others = g.Key == history.OtherKeys; g.Key != "" && !row.Others {
			row.Key = &g.Key
		}
		r.Groups = append(r.Groups, row)
	}
	return r
}

func groupJSON(g billedGroup) groupReport {
	return groupReport{Calls: g.Calls, Ended: g.Ended, OK: g.OK, Resumed: g.Resumed,
		Forked: g.Forked, SessionsCreated: g.Created, SessionsReused: g.Reused,
		ReuseRate: view.Rate(g.Resumed, g.Calls), CacheRate: view.CacheRate(g.Sums),
		MeteredCalls: g.Metered, Usage: view.UsageOf(g.Sums), PricedCalls: g.HasPrice(),
		MeanMS:      view.Rate(g.Duration, g.Timed),
		MoneyReport: view.MoneyJSON(g.Total, g.Source())}
}

// beginning returns a time of a filter, nil for all of the past.
func beginning(since decide.Millis) *time.Time {
	if since == 0 {
		return nil
	}
	return new(since.Time())
}
