package ctl

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/saving"
	"reprise/internal/ctl/view"
	"reprise/internal/ctl/why"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite/reason"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

func statusCommand(a *app.App) *cobra.Command {
	var asJSON, all bool
	var f app.FilterFlags
	c := &cobra.Command{
		Use: "status", Short: "show on one screen what the shims did, and warnings",
		Long: `Shows on one screen what resuming saved, warnings, the calls that run and the last decisions. With --all, and in
a pipe: figures, all warnings and the live chains too.`,
		Args: app.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			return a.WithLedger(func(l *ledger.Ledger, r view.Reporter) error {
				return showStatus(a, l, r, f, asJSON, all)
			})
		},
	}
	app.JSONFlag(c, &asJSON, "shimctl.status/1")
	f = app.FilterFlag(a, c)
	c.Flags().BoolVar(&all, "all", false, "print all of it")
	c.MarkFlagsMutuallyExclusive("json", "all")
	return c
}

// Limits of the lists on the screen and in JSON.
const (
	statusDecisions = 8
	maxChains       = 50
)

// An overview holds what status shows.
type overview struct {
	bill      view.Bill     // of the last days
	saved     saving.Saving // of the last days
	whole     history.WholePrompts
	period    history.Period // of the figures, if it is not the last days: the requested one, or of a huge ledger the latest calls
	span      string         // names it
	chains    []history.ChainRow
	live      []history.ChainRow // a call could continue them
	running   []ledger.Record
	decisions []ledger.Record
	passed    []why.PassthroughReport // in the last days
	broken    []warning               // why no call is managed
	warnings  []warning               // all others
}

func showStatus(a *app.App, l *ledger.Ledger, r view.Reporter, flags app.FilterFlags, asJSON, all bool) error {
	f, err := app.Filter(a, l, flags)
	if err != nil {
		return err
	}
	var o overview
	err = a.Stderr.WithProgress("adding the calls up", func() (err error) {
		o, err = readOverview(a, l, r, f)
		return err
	})
	if err != nil {
		return err
	}
	if asJSON {
		return a.Stdout.PrintJSON(statusJSON(r, o))
	}
	if len(o.decisions) == 0 {
		printFirst(a, o)
		a.Stderr.Notice(noCallMade(f))
		return nil
	}
	if a.Stdout.Terminal && !all {
		printScreen(a, o)
	} else {
		printStatus(a, o)
	}
	return nil
}

func noCallMade(f history.Filter) string { return "no managed call has been made" + app.FilterWords(f) }

func readOverview(a *app.App, l *ledger.Ledger, r view.Reporter, f history.Filter) (o overview, err error) {
	cfg, wrong := a.Configuration()
	now := decide.MillisOf(a.Now)
	all := history.Wanted{Filter: f, Limit: maxChains, Lasting: a.Lasting()} // of any time if no period is given
	live, last := all, all
	live.Live, last.Limit = true, statusDecisions
	recent := a.Recent()
	if f, err = app.Summed(l, f, recent); err != nil {
		return o, err
	}
	if f.Period == (history.Period{}) { // of a chain or a task
		f.Period = history.Since(recent).Period
	}
	if f.Period == history.Since(recent).Period {
		o.span = fmt.Sprintf("last %d days", app.RecentDays)
	} else {
		o.period = f.Period
		o.span = strings.TrimSpace(app.PeriodWords(o.period))
	}
	var passed []history.PassedRow
	var cached []history.CacheRow
	var versions []warning
	var hour []history.HourRow
	forSums, err := a.OpenOrEmpty() // another connection, as most of the time is spent on the sums
	if err != nil {
		return o, err
	}
	defer forSums.Close()
	var adding errgroup.Group
	adding.Go(func() error {
		return inOrder(
			func() (err error) { o.bill, o.saved, err = sums(forSums, f, r); return err },
			func() (err error) { cached, err = history.CacheRows(forSums, f); return err },
			func() (err error) { o.chains, err = history.Chains(forSums, all); return err })
	})
	err = inOrder(
		func() (err error) { o.live, err = history.Chains(l, live); return err },
		func() (err error) { o.running, err = history.RunningCalls(l, f, now); return err },
		func() (err error) { o.decisions, err = history.LatestCalls(l, last); return err },
		func() (err error) { o.whole, err = history.CountWhole(l, f); return err },
		func() (err error) { versions, err = versionWarnings(l); return err },
		func() (err error) { passed, err = history.PassedRows(l, f); return err },
		func() (err error) { hour, err = history.HourRows(l, history.Wanted{Filter: f}); return err })
	if err = cmp.Or(adding.Wait(), err); err != nil {
		return o, err
	}
	// A warning names the version that refuses the shim's additions.
	o.passed = slices.DeleteFunc(why.PassthroughReports(passed), func(p why.PassthroughReport) bool { return p.Reason == reason.AddedRefused })
	if wrong == "" { // the cost of a mistake in the configuration is history once the mistake is mended
		o.passed = slices.DeleteFunc(o.passed, func(p why.PassthroughReport) bool { return p.Reason == reason.ConfigMistake })
	} else {
		o.broken = []warning{{Kind: "configuration", Says: wrong, Command: "shimctl doctor", urgency: 1}}
	}
	if here := a.PassedHere(); here != "" {
		o.broken = append(o.broken, warning{Kind: "shell", Says: here, Command: "shimctl doctor", urgency: 1})
	}
	if err := l.CheckWritable(); err != nil && !errors.Is(err, ledger.ErrLocked) {
		o.broken = append(o.broken, warning{Kind: "ledger",
			Says:    "every call is passed through: " + a.TildeIn(err.Error()),
			Command: "shimctl doctor", urgency: 1})
	}
	o.warnings = slices.Concat(versions, untestedWarnings(a, cfg, o.chains), contextWarnings(cfg, o.live), cacheWarnings(cached, hour), decisionWarnings(o.decisions), priceWarnings(a, o.bill))
	return o, nil
}

// sums returns the cost of the selected calls, and the saving.
func sums(l *ledger.Ledger, f history.Filter, r view.Reporter) (view.Bill, saving.Saving, error) {
	slices, err := history.Slices(l, f, r.Prices.LongPrompt())
	return r.Bill(slices), saving.New(slices, r.ListPrice), err
}

// printFirst says before anything else that no call is managed, and counts the missed ones.
func printFirst(a *app.App, o overview) {
	if len(o.broken) > 0 {
		a.Stdout.Sentences("WARNING", view.Warn, view.Mapped(o.broken, warning.words)...)
		fmt.Fprintln(a.Stdout)
	}
	if len(o.passed) > 0 {
		a.Stdout.Sentences("PASSED THROUGH", view.Warn, view.Mapped(o.passed, func(p why.PassthroughReport) string {
			return a.TildeIn(p.Words(a.WhenWords(p.Last)))
		})...)
		fmt.Fprintln(a.Stdout)
	}
}

// printStatus prints all of it.
func printStatus(a *app.App, o overview) {
	a.Stdout.Sentences("HEADLINE", view.Strong, append([]string{o.headline()}, o.whyWhole()...)...)
	fmt.Fprintln(a.Stdout)
	printFirst(a, o)
	figures(o).Print(a.Stdout)
	if len(o.running) > 0 {
		fmt.Fprintln(a.Stdout)
		runningTable(a, o.running).Print(a.Stdout)
	}
	if len(o.live) > 0 {
		fmt.Fprintln(a.Stdout)
		liveTable(a, o.live).Print(a.Stdout)
	}
	fmt.Fprintln(a.Stdout)
	decisionTable(a, o.decisions).Print(a.Stdout)
	if len(o.warnings) > 0 {
		fmt.Fprintln(a.Stdout)
		a.Stdout.Sentences("WARNING", view.Warn, view.Mapped(o.warnings, warning.words)...)
	}
}

func (o overview) headline() string { return o.span + ": " + o.saved.Headline() }

// whyWhole says how to find out why nothing was left out of long prompts, if nothing was.
func (o overview) whyWhole() []string {
	if o.saved.LeftOutBytes > 0 || o.whole.Long == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s of 2 KB or more went whole: shimctl why CALL says why", view.Count(o.whole.Long, "prompt"))}
}

func runningTable(a *app.App, calls []ledger.Record) *view.Table {
	t := view.NewTable("CALL", "FOR", "TOOL", "CHAIN", "DECISION", "DIRECTORY")
	for _, i := range calls {
		so := sql.NullInt64{Int64: max(0, a.Now.Sub(i.Started.Time()).Milliseconds()), Valid: true}
		t.Add(view.IDCell(i.ID), view.DurationCell(so), view.TextCell(i.Tool), view.ChainCell(i.Chain), view.DecisionCell(i), a.PathCell(i.Cwd))
	}
	return t
}

func liveTable(a *app.App, live []history.ChainRow) *view.Table {
	t := view.NewTable("CHAIN", "TOOL", "TASK", "ROLE", "CALLS", "CONTEXT", "LAST", "WHEN", "DIRECTORY", "NAME")
	for _, c := range live {
		t.Add(view.ChainCell(c.ID), view.TextCell(c.Tool), view.TextCell(c.Task), view.RoleCell(c.Role), view.NumberCell(int64(c.Calls)),
			view.ContextCell(view.Newest(c).Context), view.DecisionCell(c.Last), a.WhenCell(c.Updated), a.PathCell(c.Cwd), view.NameCell(c))
	}
	return t
}

func decisionTable(a *app.App, decisions []ledger.Record) *view.Table {
	t := view.NewTable("CALL", "WHEN", "TOOL", "CHAIN", "DECISION", "OUTCOME", "DIRECTORY").Spare("DIRECTORY", "CHAIN", "TOOL", "CALL")
	for _, i := range decisions {
		t.Add(view.IDCell(i.ID), a.WhenCell(i.Started), view.TextCell(i.Tool), view.ChainCell(i.Chain), view.DecisionCell(i), view.OutcomeCell(i), a.PathCell(i.Cwd))
	}
	return t
}

// figures returns the lines on the last days' calls.
func figures(o overview) *view.Table {
	t := view.NewFoldedTable("FIGURE", "VALUE", "ABOUT")
	managed := o.bill.Managed()
	add := func(name string, c view.Cell, about ...string) {
		t.Add(view.TextCell(name), c, view.Cell{Human: strings.Join(about, ", "), Raw: strings.Join(about, ", ")}.As(view.Dim))
	}
	calls := []string{view.Thousands(o.bill.Resumed) + " resumed"}
	if o.bill.Forked > 0 {
		calls = append(calls, view.Thousands(o.bill.Forked)+" of them forked")
	}
	calls = append(calls, view.Thousands(o.bill.Fresh)+" fresh")
	if o.bill.Never > 0 {
		calls = append(calls, fmt.Sprintf("%d of them never to be resumed", o.bill.Never))
	}
	if o.bill.Observed > 0 {
		calls = append(calls, fmt.Sprintf("%d observed", o.bill.Observed))
	}
	add("period", view.TextCell(o.span))
	add("managed calls", view.NumberCell(managed), calls...)
	add("reused", view.ShareCell(o.bill.Resumed, managed), "of the managed calls")
	add("prompts", view.SizeCell(o.bill.Asked))
	add("sent of them", view.SizeCell(o.bill.Sent))
	counted := o.bill.Uncounted < managed
	add("prompt tokens", view.TokensCell(sql.NullInt64{Int64: o.bill.Prompt(), Valid: counted}), o.bill.UncountedWords()...)
	add("from the cache", view.ShareCell(o.bill.Cached, o.bill.Prompt()), "of the prompt tokens")
	add("output tokens", view.TokensCell(sql.NullInt64{Int64: o.bill.Output, Valid: counted}), o.bill.UncountedWords()...)
	add("cost", view.PriceCell(o.bill.Total), o.bill.Sources()...)
	add("saved cost", view.AmountCell("nano_usd", o.saved.Cost.Saved), o.saved.Words())
	add("saved tokens", view.AmountCell("tokens", o.saved.Tokens.Saved), "weighted by what they cost", "shimctl stats says more")
	return t
}

type statusReport struct {
	Schema    string                  `json:"schema" doc:"name of this schema"`
	Recent    recentReport            `json:"recent" doc:"the calls of the last days"`
	Chains    []view.ChainReport      `json:"chains" doc:"the 50 chains used last, the last first"`
	Decisions []view.CallReport       `json:"decisions" doc:"the last calls, the latest first"`
	Passed    []why.PassthroughReport `json:"passed_through" doc:"recent headless calls that were passed through, by reason, the latest first"`
	Warnings  []warning               `json:"warnings" doc:"warnings"`
}

type recentReport struct {
	Days  int        `json:"days" doc:"number of days"`
	Since *time.Time `json:"since" doc:"start of the period, null for the last days"`
	view.Bill
	view.MoneyReport
	WholeShort int64          `json:"short_prompts_sent_whole" doc:"resumed calls whose prompt is under 2 KB and was sent whole"`
	WholeLong  int64          `json:"long_prompts_sent_whole" doc:"resumed calls whose prompt is longer and was sent whole"`
	Saved      saving.Summary `json:"saved" doc:"what resuming saved, in short"`
}

func statusJSON(r view.Reporter, o overview) statusReport {
	since := beginning(cmp.Or(o.period, history.Always))
	return statusReport{Schema: "shimctl.status/1", Chains: view.Mapped(o.chains, r.Chain),
		Recent:    recentReport{app.RecentDays, since, o.bill, view.MoneyJSON(o.bill.Total, o.bill.Source()), o.whole.Short, o.whole.Long, o.saved.Summary()},
		Decisions: view.Mapped(o.decisions, r.Call), Passed: append([]why.PassthroughReport{}, o.passed...),
		Warnings: append(append([]warning{}, o.broken...), o.warnings...)}
}
