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
	"reprise/internal/prices"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite/reason"

	"github.com/spf13/cobra"
)

func statusCommand(a *app.App) *cobra.Command {
	var asJSON, all bool
	var f app.FilterFlags
	c := &cobra.Command{
		Use: "status", Short: "show savings, warnings and the last decisions",
		Long: `Shows the savings, warnings, the running calls and the last decisions on one screen. With --all, and in
a pipe: all warnings, and advice on calls that were passed through.`,
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

// An overview holds the figures and lists of status.
type overview struct {
	bill  view.Bill     // of the last days
	saved saving.Saving // of the last days
	whole history.WholePrompts
	// of the figures, 0 for the last days: the requested time, or of a huge ledger the time of the
	// latest calls
	since     decide.Millis
	span      string // names it
	chains    []history.ChainRow
	running   []ledger.Record
	decisions []ledger.Record
	passed    []why.PassthroughReport // in the last days
	broken    []warning               // why no call is managed
	warnings  []warning               // all others
}

func showStatus(a *app.App, l *ledger.Ledger, r view.Reporter, flags app.FilterFlags, asJSON,
	all bool) error {
	f, err := app.Filter(a, l, flags)
	if err != nil {
		return err
	}
	o, err := readOverview(a, l, r, f)
	switch {
	case err != nil:
		return err
	case asJSON:
		return a.Stdout.PrintJSON(statusJSON(r, o))
	case len(o.decisions) == 0:
		printFirst(a, o)
		a.Stderr.Notice(noCallMade(f))
	case a.Stdout.Terminal && !all:
		printScreen(a, o)
	default:
		printStatus(a, o)
	}
	return nil
}

func noCallMade(f history.Filter) string {
	return "no managed call has been made" + app.FilterWords(f)
}

func readOverview(a *app.App, l *ledger.Ledger, r view.Reporter,
	f history.Filter) (o overview, err error) {
	cfg, wrong := a.Configuration()
	// of any time if no period is given
	last := history.Query{Filter: f, Limit: statusDecisions, Lasting: a.Lasting()}
	if f, err = app.Summed(l, f); err != nil {
		return o, err
	}
	o.since, o.span = f.Since, app.SinceWords(f.Since)
	if recent := a.Recent(); last.Since == 0 && f.Since <= recent {
		f.Since, o.since, o.span = recent, 0, fmt.Sprintf("last %d days", app.RecentDays)
	}
	var errs [9]error
	var cached []history.CacheRow
	var versions []warning
	var passed []history.PassthroughRow
	var hour []history.HourRow
	o.bill, o.saved, errs[0] = sums(l, f, r)
	cached, errs[1] = history.CacheRows(l, f)
	o.running, errs[2] = history.RunningCalls(l, f, decide.MillisOf(a.Now))
	o.decisions, errs[3] = history.LatestCalls(l, last)
	last.Limit = maxChains
	o.chains, errs[4] = history.Chains(l, last)
	o.whole, errs[5] = history.CountWhole(l, f)
	versions, errs[6] = versionWarnings(l)
	passed, errs[7] = history.PassthroughRows(l, f)
	hour, errs[8] = history.HourRows(l, f)
	if err := cmp.Or(errs[:]...); err != nil {
		return o, err
	}
	o.passed = slices.DeleteFunc(why.PassthroughReports(passed),
		func(p why.PassthroughReport) bool {
			// a warning names the version that refuses the shim's additions, and the cost of a
			// mistake in the configuration is history once the mistake is mended
			return p.Reason == reason.AddedRefused ||
				p.Reason == reason.ConfigMistake && wrong == ""
		})
	o.broken = brokenWarnings(a, l, wrong)
	o.warnings = slices.Concat(versions, untestedWarnings(a, cfg, o.chains),
		contextWarnings(cfg, o.chains), cacheWarnings(cached, hour), decisionWarnings(o.decisions),
		priceWarnings(a, o.bill))
	return o, nil
}

// brokenWarnings returns the reasons why no call is managed; wrong is the configuration's.
func brokenWarnings(a *app.App, l *ledger.Ledger, wrong string) (found []warning) {
	add := func(kind, says string) {
		if says != "" {
			found = append(found, warning{Kind: kind, Says: says, Command: "shimctl doctor"})
		}
	}
	add("configuration", wrong)
	add("shell", a.PassedHere())
	if err := l.CheckWritable(); err != nil && !errors.Is(err, ledger.ErrLocked) {
		add("ledger", "every call is passed through: "+a.TildeIn(err.Error()))
	}
	return found
}

func sums(l *ledger.Ledger, f history.Filter, r view.Reporter) (view.Bill, saving.Saving, error) {
	slices, err := history.Slices(l, f, r.Prices.LongPrompt())
	return r.Bill(slices), saving.New(slices, r.ListPrice), err
}

// printFirst says before anything else that no call is managed, and counts the missed ones.
func printFirst(a *app.App, o overview) {
	printWarnings(a, o.broken)
	if len(o.passed) > 0 {
		a.Stdout.Sentences("PASSED THROUGH", view.Warn, view.Mapped(o.passed,
			func(p why.PassthroughReport) string {
				return a.TildeIn(p.Words(a.WhenWords(p.Last)))
			})...)
		fmt.Fprintln(a.Stdout)
	}
}

func printWarnings(a *app.App, list []warning) {
	if len(list) > 0 {
		a.Stdout.Sentences("WARNING", view.Warn, view.Mapped(list,
			func(w warning) string { return w.Says })...)
		fmt.Fprintln(a.Stdout)
	}
}

func printStatus(a *app.App, o overview) {
	lines := []string{o.headline()}
	if o.saved.LeftOutBytes == 0 && o.whole.Long > 0 {
		lines = append(lines, fmt.Sprintf("%s of 2 KB or more went whole: shimctl why CALL says "+
			"why",
			view.Count(o.whole.Long, "prompt")))
	}
	if cost := o.costWords(); cost != "" {
		lines = append(lines, cost)
	}
	a.Stdout.Sentences("HEADLINE", view.Strong, lines...)
	fmt.Fprintln(a.Stdout)
	printFirst(a, o)
	printWarnings(a, o.warnings)
	if len(o.running) > 0 {
		runningTable(a, o.running).Print(a.Stdout)
		fmt.Fprintln(a.Stdout)
	}
	decisionTable(a, o.decisions).Print(a.Stdout)
}

func (o overview) headline() string { return o.span + ": " + o.saved.Headline() }

func (o overview) costWords() string {
	b := &o.bill
	if !b.Total.Known {
		return ""
	}
	words := view.Count(b.Calls, "call") + " cost " + b.Total.Human()
	if b.NotKnown > 0 {
		words = fmt.Sprintf("%s of %s (the others' cost is not known)",
			view.Thousands(b.HasPrice()), words)
	}
	if cached := view.CacheRate(b.Sums); cached.Known() {
		words += fmt.Sprintf(", %.1f %% of the input came from the cache", 100*cached)
	}
	return words
}

func runningTable(a *app.App, calls []ledger.Record) *view.Table {
	t := view.NewTable("CALL", "FOR", "TOOL", "CHAIN", "DECISION", "DIRECTORY")
	for _, i := range calls {
		so := sql.NullInt64{Int64: max(0, a.Now.Sub(i.Started.Time()).Milliseconds()), Valid: true}
		t.Add(view.IDCell(i.ID), view.DurationCell(so), view.TextCell(i.Tool),
			view.ChainCell(i.Chain), view.DecisionCell(i), a.PathCell(i.Cwd))
	}
	return t
}

func decisionTable(a *app.App, decisions []ledger.Record) *view.Table {
	t := view.NewTable("CALL", "WHEN", "TOOL", "CHAIN", "DECISION", "OUTCOME", "DIRECTORY").
		Spare("DIRECTORY", "CHAIN", "TOOL", "CALL").
		Whole("DECISION")
	for _, i := range decisions {
		t.Add(view.IDCell(i.ID), a.WhenCell(i.Started), view.TextCell(i.Tool),
			view.ChainCell(i.Chain), view.DecisionCell(i), view.OutcomeCell(i), a.PathCell(i.Cwd))
	}
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
	Days    int        `json:"days" doc:"number of days"`
	Since   *time.Time `json:"since" doc:"start of the period, null for the last days"`
	Resumed int64      `json:"resumed" doc:"resumed calls"`
	Forked  int64      `json:"forked" doc:"of the resumed calls, those in a copy because another process had used the session"`
	Fresh   int64      `json:"fresh" doc:"fresh calls"`
	prices.Usage
	Uncounted int64 `json:"uncounted_calls" doc:"calls of unknown tokens, not in these sums"`
	NotKnown  int64 `json:"unpriced_calls" doc:"calls of unknown cost, not in the sum"`
	view.MoneyReport
	WholeShort int64          `json:"short_prompts_sent_whole" doc:"resumed calls with a prompt under 2 KB, sent whole"`
	WholeLong  int64          `json:"long_prompts_sent_whole" doc:"resumed calls with a longer prompt, sent whole"`
	Saved      saving.Summary `json:"saved" doc:"the saving, in short"`
}

func statusJSON(r view.Reporter, o overview) statusReport {
	b := &o.bill
	return statusReport{Schema: "shimctl.status/1", Chains: view.Mapped(o.chains, r.Chain),
		Recent: recentReport{app.RecentDays, beginning(o.since), b.Resumed, b.Forked, b.Fresh(),
			view.UsageOf(b.Sums), b.Calls - b.Metered, b.NotKnown,
			view.MoneyJSON(b.Total, b.Source()), o.whole.Short, o.whole.Long, o.saved.Summary()},
		Decisions: view.Mapped(o.decisions, r.Call),
		Passed:    append([]why.PassthroughReport{}, o.passed...),
		Warnings:  append(append([]warning{}, o.broken...), o.warnings...)}
}

// mostWarnings is how many warnings a screen shows.
const mostWarnings = 3

// printScreen prints the lines that fit on a terminal's screen, the most important first, and the
// commands that show the rest. The usual takes no space.
func printScreen(a *app.App, o overview) {
	room := a.Stdout.Height - 1 // for the shell's prompt
	if a.Stdout.Height == 0 {
		room = 1 << 20
	}
	parts := [][]string{headLines(a, o), warningLines(a, o),
		listLines(a, "running calls", runningTable(a, o.running), max(1, room/4), "")}
	for _, part := range parts {
		room -= len(part)
		if len(part) > 0 {
			room-- // the empty line below it
		}
	}
	parts = append(parts, listLines(a, "last decisions", decisionTable(a, o.decisions), room,
		"more: shimctl why CALL, shimctl log, shimctl show"))
	var shown []string
	for _, part := range parts {
		if len(part) > 0 {
			shown = append(shown, strings.Join(part, "\n")+"\n")
		}
	}
	fmt.Fprint(a.Stdout, strings.Join(shown, "\n"))
}

func headLines(a *app.App, o overview) []string {
	return a.Stdout.Drawn(func(s view.Screen) {
		s.Sentences("", view.Strong, o.headline())
		if cost := o.costWords(); cost != "" {
			s.Sentences("", view.Plain, cost)
		}
	})
}

// warningLines returns the first warnings, each with one command. They are folded and take a
// quarter of the screen at most.
func warningLines(a *app.App, o overview) (lines []string) {
	all := slices.Clone(o.broken)
	for _, p := range o.passed {
		if !p.Reason.MissesNothing() {
			all = append(all, warning{Says: p.Brief(), Command: "shimctl why " + string(p.Reason)})
		}
	}
	all = append(all, o.warnings...)
	left := len(all)
	for n, w := range oneOfAKind(all) {
		text := view.Printable(w.Says)
		if w.Kind == "" || !strings.Contains(text, "shimctl ") { // else it names the command
			text += ": " + strings.ReplaceAll(w.Command, " ", view.NoBreakSpace)
		}
		own := strings.Split(a.Stdout.Indented(text, 2), "\n")
		if n == mostWarnings || n > 0 && a.Stdout.Height > 0 &&
			len(lines)+len(own) > a.Stdout.Height/4 {
			break
		}
		left--
		for _, line := range own {
			lines = append(lines, a.Stdout.Paint(view.Warn, line))
		}
	}
	if left > 0 {
		lines = append(lines, a.Stdout.Paint(view.Dim,
			view.Count(int64(left), "more warning")+": shimctl status --all"))
	}
	return lines
}

// oneOfAKind returns the first warning of each kind, which counts the others.
func oneOfAKind(all []warning) (list []warning) {
	more := map[string]int{}
	for _, w := range all {
		if more[w.Kind]++; w.Kind == "" || more[w.Kind] == 1 {
			list = append(list, w)
		}
	}
	for i, w := range list {
		if n := more[w.Kind] - 1; n > 0 && w.Kind != "" {
			list[i].Says += fmt.Sprintf(" (and %d more like it)", n)
		}
	}
	return list
}

// listLines returns a list with its name, and as many rows as there is room for, at least one.
func listLines(a *app.App, name string, t *view.Table, room int, more string) (lines []string) {
	for rows := t.Len(); rows > 0 && (lines == nil || len(lines) > room); rows-- {
		lines = a.Stdout.Drawn(func(s view.Screen) {
			s.Heading(name)
			t.First(rows).Print(s)
			switch {
			case more != "":
				s.Sentences("", view.Dim, more)
			case rows < t.Len():
				s.Sentences("", view.Dim, fmt.Sprintf("%d more: shimctl status --all",
					t.Len()-rows))
			}
		})
	}
	return lines
}
