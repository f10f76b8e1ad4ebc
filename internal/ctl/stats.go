package ctl

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"reprise/fleet"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/saving"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

func statsCommand(a *app.App) *cobra.Command {
	var asJSON, summary bool
	var from statsSource
	var columns *view.ColumnsFlag
	c := &cobra.Command{
		Use: "stats", Short: "sum up what calls used, and what resuming saved",
		Long: `Sums up the managed calls: sessions created and reused, tokens, cost, duration. If rollout keeps a share of the
chains fresh as a control group, it compares the two groups and prints intervals; otherwise it prints an
estimate and how it was made. It also shows whether resumed chains took more calls or failed more often.`,
		Args: app.NoArguments,
		RunE: func(*cobra.Command, []string) error { return runStats(a, from, columns, asJSON, summary) },
	}
	app.StoreFlag(c, &from.store)
	c.Flags().BoolVar(&summary, "summary", false, "print a sentence and a table in Markdown, for a CI job's page")
	c.Flags().StringVar(&from.by, "by", string(history.ByTool), "one row for each `KEY`: "+byWords)
	app.LimitFlag(c, &from.limit, "show at most `N`, 0 for all; of days and weeks all")
	from.flags = app.FilterFlag(a, c)
	bys := slices.Concat(history.Bys, history.SharedBys)
	columns = view.AddColumns(c, view.Mapped(bys, byHeader), statsColumns)
	app.JSONFlag(c, &asJSON, "shimctl.stats/1")
	app.CompleteFlag(c, "by", view.Mapped(bys, func(by history.By) string { return string(by) }))
	return c
}

// byWords are the keys for people.
var byWords = func() string {
	names := view.Mapped(history.Bys, func(by history.By) string { return string(by) })
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}()

// A statsSource says which calls are summed up, and how.
type statsSource struct {
	store bool
	by    string
	limit int // of the rows, 0 for none
	flags app.FilterFlags
}

func runStats(a *app.App, from statsSource, columns *view.ColumnsFlag, asJSON, summary bool) error {
	by := history.By(from.by)
	switch {
	case asJSON && summary:
		return app.Usage("--summary is no JSON", "--json has the same figures under saved and machines")
	case slices.Contains(history.Bys, by), from.store && slices.Contains(history.SharedBys, by):
	case slices.Contains(history.SharedBys, by):
		return app.Usage(fmt.Sprintf("calls of one machine cannot be grouped by %q", by), "--store takes those of all machines")
	default:
		return app.Usage(fmt.Sprintf("calls cannot be grouped by %q", by), "by "+byWords)
	}
	s, err := readStats(a, from)
	if err != nil {
		return err
	}
	switch {
	case asJSON:
		return a.Stdout.PrintJSON(statsJSON(s))
	case summary:
		printSummary(a, s)
	default:
		printStats(a, s, columns)
	}
	return nil
}

type stats struct {
	By      history.By
	Filter  history.Filter
	limit   int  // of Groups, 0 for none
	latest  bool // of a huge ledger, only the latest calls
	Groups  []billedGroup
	Total   billedGroup
	Cached  []history.CacheRow
	Hour    []history.HourRow
	Quality saving.Quality
	Now     decide.Millis
	Fleet   *fleet.Sums // nil of one machine
	saving.Saving
}

type billedGroup struct {
	history.Group
	Bill view.Bill
}

// readStats reads the calls of this machine, or from the store those of all.
func readStats(a *app.App, from statsSource) (s stats, err error) {
	s = stats{By: history.By(from.by), limit: from.limit, Now: decide.MillisOf(a.Now)}
	if s.By == history.ByDay || s.By == history.ByWeek {
		s.limit = 0
	}
	err = a.WithCalls(app.CallsOf(a, from.store, from.flags), func(l *ledger.Ledger, r view.Reporter) (err error) {
		if s.Filter, err = app.Filter(a, l, from.flags); err != nil {
			return err
		}
		others := l
		if from.store {
			s.Fleet, err = sumShared(l, s.Filter)
		} else if others, err = a.OpenOrEmpty(); err == nil {
			defer others.Close()
		}
		if err != nil {
			return err
		}
		return a.Stderr.WithProgress("adding the calls up", func() error { return s.sum(l, others, r) })
	})
	return s, err
}

// sumShared sums up the selected calls of a store's log.
func sumShared(l *ledger.Ledger, f history.Filter) (*fleet.Sums, error) {
	var err error
	s := fleet.Sum(func(yield func(ledger.LoggedCall) bool) {
		for i, failed := range history.Invocations(l, f) {
			if err = failed; err != nil || !yield(ledger.LoggedCall{Host: i.Machine, From: i.From, Mode: i.Mode, Reason: i.Reason, FellBack: i.FellBack, Lost: i.Lost}) {
				return
			}
		}
	})
	return &s, err
}

// sum sums the calls up. Each ledger reads all calls: with a connection of its own they run in parallel.
func (s *stats) sum(forGroups, forOthers *ledger.Ledger, r view.Reporter) (err error) {
	asked := s.Filter
	if s.Filter, err = app.Summed(forGroups, asked, history.Always.Since); err != nil {
		return err
	}
	s.latest = s.Filter != asked
	var groups []history.Group
	var arms []history.ChainSums
	var courses []history.Course
	err = inParallel(
		func() (err error) {
			groups, err = history.Groups(forGroups, s.By, s.Filter, r.Prices.LongPrompt(), s.limit)
			return err
		},
		func() error {
			return inOrder(
				func() (err error) {
					s.Hour, err = history.HourRows(forOthers, history.Wanted{Filter: s.Filter})
					return err
				},
				func() (err error) { courses, err = history.Courses(forOthers, s.Filter, s.Now); return err },
				func() (err error) { s.Cached, err = history.CacheRows(forOthers, s.Filter); return err },
				func() (err error) { arms, err = history.Arms(forOthers, s.Filter); return err })
		})
	if err != nil {
		return err
	}
	s.Quality = saving.NewQuality(courses)
	for _, g := range groups {
		s.Groups = append(s.Groups, billedGroup{g, r.Bill(g.Slices)})
		s.Total.Add(g.Sums)
		s.Total.Slices = append(s.Total.Slices, g.Slices...)
		s.Total.Reused += g.Reused
		s.Total.Created += g.Created
	}
	s.Total.Bill = r.Bill(s.Total.Slices)
	peers, err := history.Peers(forGroups, s.Filter, r.Prices.LongPrompt())
	s.Saving = saving.New(s.Total.Slices, peers, arms, r.ListPrice)
	return err
}

// inOrder reads one thing after the other, until one cannot be read.
func inOrder(reads ...func() error) error {
	for _, read := range reads {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// inParallel reads at the same time what has connections of its own.
func inParallel(reads ...func() error) error {
	var reading errgroup.Group
	for _, read := range reads {
		reading.Go(read)
	}
	return reading.Wait()
}

// statsColumns are those after the key.
var statsColumns = []string{"CALLS", "RESUMED", "REUSE", "SESSIONS", "REUSED", "OK", "CACHE", "TOKENS/SESSION", "COST", "PRICED", "DURATION"}

func byHeader(by history.By) string { return strings.ToUpper(string(by)) }

func printStats(a *app.App, s stats, columns *view.ColumnsFlag) {
	if s.Total.Calls == 0 {
		a.Stderr.Notice(noCallMade(s.Filter))
		return
	}
	a.Stdout.Heading(app.CallsOfPeriod(s.Filter.Times()))
	if s.latest {
		a.Stderr.Notice(app.LatestWords)
	}
	t := view.NewTable(append([]string{byHeader(s.By)}, statsColumns...)...).Choose(columns.Names).
		Spare("PRICED", "REUSED", "SESSIONS", "DURATION", "TOKENS/SESSION", "REUSE", "OK")
	for _, g := range s.Groups {
		key := view.TextCell(g.Key)
		if s.By == history.ByRole {
			key = view.RoleCell(g.Key)
		}
		if s.By == history.ByCwd {
			key = a.PathCell(g.Key)
		}
		if g.Key == history.OtherKeys {
			key = view.TextCell(view.AllOthers).As(view.Dim)
		}
		t.Add(groupRow(key, g)...)
	}
	if len(s.Groups) > 1 && a.Stdout.Terminal {
		t.Add(groupRow(view.TextCell("all").As(view.Strong), s.Total)...)
	}
	t.Print(a.Stdout)
	fmt.Fprintln(a.Stdout)
	if s.Fleet != nil {
		a.Stdout.Sentences("MACHINES", view.Plain, fleetLines("all", s.Fleet)...)
		fmt.Fprintln(a.Stdout)
	}
	if s.Comparison != nil {
		printComparison(a, s.Comparison)
	}
	printSaving(a, s)
	printQuality(a, s.Quality)
	printCache(a, s.Cached)
	printHour(a, s.Hour)
}

func groupRow(key view.Cell, g billedGroup) []view.Cell {
	return []view.Cell{key, view.NumberCell(g.Calls), view.NumberCell(g.Resumed), view.AmountCell("share", view.ReuseRate(g.Group)),
		view.NumberCell(g.Created), view.NumberCell(g.Reused),
		view.AmountCell("share", view.Rate(g.OK, g.Ended)), view.AmountCell("share", view.CacheRate(g.Group)), view.AmountCell("tokens", view.TokensPerSession(g.Group)),
		view.PriceCell(g.Bill.Total), view.NumberCell(g.Bill.Priced()), view.AmountCell("ms", view.Rate(g.Duration, g.Timed))}
}

func printComparison(a *app.App, c *saving.Comparison) {
	a.Stdout.Sentences("NOTE", view.Plain, c.Method()...)
	fmt.Fprintln(a.Stdout)
	t := view.NewTable("FIGURE", "CONTROL", "TREATED", "DIFFERENCE", "INTERVAL", "INTERVAL-CONTROL", "INTERVAL-TREATED")
	for _, f := range c.Figures {
		t.Add(view.TextCell(f.Title()),
			view.AmountCell(f.Unit, f.Control.Mean), view.AmountCell(f.Unit, f.Treated.Mean), view.AmountCell(f.Unit, f.Difference.Mean),
			intervalCell(f.Unit, f.Difference), intervalCell(f.Unit, f.Control), intervalCell(f.Unit, f.Treated))
	}
	t.Print(a.Stdout)
	fmt.Fprintln(a.Stdout)
}

func intervalCell(unit string, e saving.Mean) view.Cell {
	if !e.Low.Known() { // of fewer than two
		return view.UnknownCell()
	}
	return view.Cell{Human: view.Amount(unit, e.Low) + " to " + view.Amount(unit, e.High),
		Raw: view.PlainAmount(unit, e.Low) + " to " + view.PlainAmount(unit, e.High), Right: true}
}

func printSaving(a *app.App, s stats) {
	e := s.Estimate
	a.Stdout.Sentences("NOTE", view.Plain, s.Method()...)
	if e.Resumed == 0 {
		return
	}
	fmt.Fprintln(a.Stdout)
	t := view.NewTable("FIGURE", "EACH-RESUMED", "EACH-FRESH", "SAVED-IN-ALL")
	for _, f := range e.Figures {
		t.Add(view.TextCell(f.Title()), view.AmountCell(f.Unit, f.Resumed), view.AmountCell(f.Unit, f.Fresh), view.AmountCell(f.Unit, f.Saved))
	}
	t.Print(a.Stdout)
}

// printSummary prints the saving in a sentence and a table, as Markdown: CI systems show it beside a
// job.
func printSummary(a *app.App, s stats) {
	fmt.Fprintf(a.Stdout, "**reprise**, %s: %s.\n", app.CallsOfPeriod(s.Filter.Times()), inMarkdown(s.Headline()))
	if s.Fleet != nil {
		fmt.Fprintf(a.Stdout, "%s.\n", inMarkdown(strings.Join(fleetLines("All machines", s.Fleet), "; ")))
	}
	if s.Total.Calls == 0 {
		return
	}
	fmt.Fprintf(a.Stdout, "\n| %s | calls | resumed | read from cache | cost |\n| --- | ---: | ---: | ---: | ---: |\n", s.By)
	for _, g := range s.Groups {
		name := view.OrDash(view.RoleName(g.Key))
		if g.Key == history.OtherKeys {
			name = view.AllOthers
		}
		fmt.Fprintf(a.Stdout, "| %s | %s | %s | %s | %s |\n", inMarkdown(name),
			view.Thousands(g.Calls), view.Thousands(g.Resumed), view.Amount("share", view.CacheRate(g.Group)), view.PriceCell(g.Bill.Total).Human)
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
	Schema     string             `json:"schema" doc:"name of this schema"`
	By         history.By         `json:"by" doc:"what the calls are grouped by"`
	Since      *time.Time         `json:"since" doc:"start of the period, null if all"`
	Until      *time.Time         `json:"until" doc:"end of the period, null if there is none"`
	Groups     []groupReport      `json:"groups" doc:"most calls first; days in order"`
	Total      groupReport        `json:"total" doc:"all of them"`
	Saved      saving.Summary     `json:"saved" doc:"what resuming saved, in short"`
	Comparison *saving.Comparison `json:"comparison" doc:"the control group against the others, null without a group"`
	Estimate   saving.Estimate    `json:"estimate" doc:"against similar fresh calls"`
	Cache      []cacheReport      `json:"cache" doc:"what resumed calls found in the provider's cache"`
	Quality    qualityReport      `json:"quality" doc:"whether the work of resumed chains went as well"`
	Hour       []history.HourRow  `json:"cache_ttl" doc:"what a cache of an hour saved, or would have saved"`
	Machines   *fleet.Sums        `json:"machines,omitempty" doc:"with --store, what the machines did"`
}

type groupReport struct {
	Key              *string     `json:"key" doc:"what its calls have in common"`
	Others           bool        `json:"others,omitempty" doc:"whether these are all groups beyond --limit"`
	Calls            int64       `json:"calls" doc:"managed calls"`
	Ended            int64       `json:"ended" doc:"those that have ended"`
	OK               int64       `json:"ok" doc:"those that ended well"`
	Resumed          int64       `json:"resumed" doc:"resumed calls"`
	Forked           int64       `json:"forked" doc:"of the resumed calls, those in a copy because another process had used the session"`
	SessionsCreated  int64       `json:"sessions_created" doc:"sessions created"`
	SessionsReused   int64       `json:"sessions_reused" doc:"sessions that were resumed at least once"`
	ReuseRate        view.Number `json:"reuse_rate" doc:"resumed calls as a share of all"`
	CacheRate        view.Number `json:"cache_rate" doc:"share of the tokens read that came from the cache"`
	TokensPerSession view.Number `json:"tokens_per_session" doc:"tokens of all kinds"`
	MeteredCalls     int64       `json:"metered_calls" doc:"calls of known tokens; the tokens are theirs"`
	Input            int64       `json:"input_tokens" doc:"tokens neither read from nor written to a cache"`
	CacheRead        int64       `json:"cache_read_tokens" doc:"tokens read from the cache"`
	CacheWrite       int64       `json:"cache_write_tokens" doc:"tokens written to the cache"`
	Output           int64       `json:"output_tokens" doc:"tokens that the model wrote"`
	PricedCalls      int64       `json:"priced_calls" doc:"calls of known cost; the cost is theirs"`
	MeanMS           view.Number `json:"mean_duration_ms" doc:"milliseconds"`
	view.MoneyReport
}

func statsJSON(s stats) statsReport {
	r := statsReport{Schema: "shimctl.stats/1", By: s.By, Groups: []groupReport{}, Total: groupJSON(s.Total), Saved: s.Summary(), Comparison: s.Comparison, Estimate: s.Estimate, Cache: cacheJSON(s.Cached), Quality: qualityJSON(s.Quality), Machines: s.Fleet}
	r.Hour = slices.DeleteFunc(append([]history.HourRow{}, s.Hour...), func(h history.HourRow) bool { return h.Calls+h.Chains == 0 })
	r.Since, r.Until = periodJSON(s.Filter.Times())
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
	return groupReport{Calls: g.Calls, Ended: g.Ended, OK: g.OK, Resumed: g.Resumed, Forked: g.Forked, SessionsCreated: g.Created, SessionsReused: g.Reused,
		ReuseRate: view.ReuseRate(g.Group), CacheRate: view.CacheRate(g.Group), TokensPerSession: view.TokensPerSession(g.Group),
		MeteredCalls: g.Metered, Input: g.Input, CacheRead: g.CacheRead, CacheWrite: g.CacheWrite, Output: g.Output,
		PricedCalls: g.Bill.Priced(), MeanMS: view.Rate(g.Duration, g.Timed), MoneyReport: view.MoneyJSON(g.Bill.Total, g.Bill.Source())}
}

// periodJSON returns the ends of a period, nil where it has none.
func periodJSON(p history.Period) (since, until *time.Time) {
	if p.Since != history.Always.Since {
		at := p.Since.Time()
		since = &at
	}
	if p.Until != history.Always.Until {
		at := p.Until.Time()
		until = &at
	}
	return since, until
}
