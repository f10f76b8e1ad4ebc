package ctl

import (
	"cmp"
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
)

func statusCommand(a *app.App) *cobra.Command {
	var asJSON, all bool
	var f app.FilterFlags
	c := &cobra.Command{
		Use: "status", Short: "show savings, warnings and the last decisions",
		Long: `Shows the savings, warnings, the running calls and the last decisions on one screen. With --all, and in
a pipe: all warnings.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.WithLedger(func(l *ledger.Ledger, r view.Reporter) error {
				return showStatus(a, l, r, f, asJSON, all)
			})
		},
	}
	app.JSONFlag(c, &asJSON, "shimctl.status/1")
	f = app.FilterFlag(c)
	c.Flags().BoolVar(&all, "all", false, "print all of it")
	c.MarkFlagsMutuallyExclusive("json", "all")
	return c
}

// Limits of the lists on the screen and in JSON.
const (
	recentDays      = 30 // that status looks back
	statusDecisions = 8
	maxChains       = 50
)

type statusReport struct {
	Schema    string                  `json:"schema" doc:"name of this schema"`
	Recent    recentReport            `json:"recent" doc:"the calls of the last days"`
	Chains    []view.ChainReport      `json:"chains" doc:"the 50 chains used last, the last first"`
	Decisions []view.CallReport       `json:"decisions" doc:"the last calls, the latest first"`
	Passed    []why.PassthroughReport `json:"passed_through" doc:"recent headless calls that were passed through, by reason, the latest first"`
	Warnings  []warning               `json:"warnings" doc:"warnings"`
	bill      view.Bill               // of Recent
	span      string                  // names the days or the period of Recent
	running   []ledger.Record
	last      []ledger.Record // Decisions
	broken    []warning       // Warnings that say why no call is managed
	others    []warning       // the rest of Warnings
}

type recentReport struct {
	Days  int        `json:"days" doc:"number of days"`
	Since *time.Time `json:"since" doc:"start of the period, null for the last days"`
	Fresh int64      `json:"fresh" doc:"fresh calls"`
	history.Sums
	Uncounted int64 `json:"uncounted_calls" doc:"calls of unknown tokens, not in these sums"`
	NotKnown  int64 `json:"unpriced_calls" doc:"calls of unknown cost, not in the sum"`
	view.MoneyReport
	history.WholePrompts
	Saved saving.Summary `json:"saved" doc:"the saving, in short"`
}

func showStatus(a *app.App, l *ledger.Ledger, r view.Reporter, flags app.FilterFlags, asJSON,
	all bool) error {
	f, err := app.Filter(a, l, flags)
	if err != nil {
		return err
	}
	o, err := readStatus(a, l, r, f)
	switch {
	case err != nil:
		return err
	case asJSON:
		return a.Stdout.PrintJSON(o)
	}
	printStatus(a, r, o, all || !a.Stdout.Terminal)
	if len(o.last) == 0 {
		a.Stderr.Notice(app.NoCallMade(f))
	}
	return nil
}

func readStatus(a *app.App, l *ledger.Ledger, r view.Reporter,
	f history.Filter) (o statusReport, err error) {
	cfg, wrong := a.Configuration()
	// of any time if no period is given
	last := history.Query{Filter: f, Limit: statusDecisions, Lasting: a.Lasting()}
	if f, err = a.Summed(l, f); err != nil {
		return o, err
	}
	o.Schema, o.Recent.Days, o.Recent.Since = "shimctl.status/1", recentDays, beginning(f.Since)
	o.span = app.SinceWords(f.Since)
	recent := decide.MillisOf(a.Now.AddDate(0, 0, -recentDays))
	if last.Since == 0 && f.Since <= recent {
		f.Since, o.Recent.Since = recent, nil
		o.span = fmt.Sprintf("last %d days", recentDays)
	}
	bill, saved, sumsErr := sums(l, f, r)
	cached, cacheErr := history.CacheRows(l, f)
	running, runningErr := history.RunningCalls(l, f, decide.MillisOf(a.Now))
	calls, callsErr := history.LatestCalls(l, last)
	last.Limit = maxChains
	chains, chainsErr := history.Chains(l, last)
	whole, wholeErr := history.CountWhole(l, f)
	versions, versionsErr := versionWarnings(l)
	passed, passedErr := history.PassthroughRows(l, f)
	hour, hourErr := history.HourRows(l, f)
	if err := cmp.Or(sumsErr, cacheErr, runningErr, callsErr, chainsErr, wholeErr, versionsErr,
		passedErr, hourErr); err != nil {
		return o, err
	}
	o.bill, o.running, o.last = bill, running, calls
	o.Recent.Fresh, o.Recent.Sums, o.Recent.MoneyReport = bill.Fresh(), bill.Sums,
		view.MoneyJSON(bill.Total)
	o.Recent.Uncounted, o.Recent.NotKnown = bill.Calls-bill.Metered, bill.NotKnown
	o.Recent.WholePrompts, o.Recent.Saved = whole, saved.Summary()
	o.Chains, o.Decisions = view.Mapped(chains, r.Chain), view.Mapped(calls, r.Call)
	o.Passed = slices.DeleteFunc(why.PassthroughReports(passed),
		func(p why.PassthroughReport) bool {
			// a warning names the version that refuses the shim's additions, and the cost of a
			// mistake in the configuration is history once the mistake is mended
			return p.Reason == reason.AddedRefused ||
				p.Reason == reason.ConfigMistake && wrong == ""
		})
	o.broken = brokenWarnings(a, l, wrong)
	o.others = slices.Concat(versions, contextWarnings(cfg, chains), cacheWarnings(cached, hour),
		decisionWarnings(calls), priceWarnings(a, bill))
	o.Warnings = append(append([]warning{}, o.broken...), o.others...)
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

// Bounds of the lists that status shows without --all.
const (
	mostWarnings = 3
	mostRunning  = 4
)

// warningTexts returns the warnings, each with a command; the reasons why no call is managed come
// first. Unless all, the first of each kind stands for the others, and calls that miss nothing by
// being passed through are left out.
func (o statusReport) warningTexts(a *app.App, all bool) (texts []string) {
	list := slices.Clone(o.broken)
	for _, p := range o.Passed {
		if all || !p.Reason.MissesNothing() {
			list = append(list, warning{Says: a.TildeIn(p.Words(a.WhenWords(p.Last)))})
		}
	}
	list = append(list, o.others...)
	shown := list
	if !all {
		shown = slices.CompactFunc(slices.Clone(list), func(a, b warning) bool {
			return a.Kind != "" && a.Kind == b.Kind
		})
		shown = shown[:min(len(shown), mostWarnings)]
	}
	for _, w := range shown {
		if w.Command != "" && !strings.Contains(w.Says, "shimctl ") { // else it names one
			w.Says += ": " + w.Command
		}
		texts = append(texts, w.Says)
	}
	if more := len(list) - len(shown); more > 0 {
		texts = append(texts, view.Count(int64(more), "more warning")+": shimctl status --all")
	}
	return texts
}

func printStatus(a *app.App, r view.Reporter, o statusReport, all bool) {
	if len(o.last) == 0 {
		a.Stdout.Notice(o.warningTexts(a, true)...)
		return
	}
	a.Stdout.Notice(o.headlines()...)
	if texts := o.warningTexts(a, all); len(texts) > 0 {
		fmt.Fprintln(a.Stdout)
		a.Stdout.Notice(texts...)
	}
	if running := o.running; len(running) > 0 {
		a.Stdout.Notice("", view.Count(int64(len(running)), "running call"))
		if !all {
			running = running[:min(len(running), mostRunning)]
		}
		app.CallTable(a, r, running, "CALL WHEN TOOL CHAIN DECISION DIRECTORY").Print(a.Stdout)
	}
	a.Stdout.Notice("", "last decisions")
	app.CallTable(a, r, o.last,
		"CALL WHEN TOOL CHAIN DECISION OUTCOME DIRECTORY").Print(a.Stdout)
}

// headlines returns the saving, and the cost of the calls if it is known.
func (o statusReport) headlines() []string {
	lines := []string{o.span + ": " + o.Recent.Saved.Headline}
	if o.Recent.Saved.LeftOutBytes == 0 && o.Recent.Long > 0 {
		lines = append(lines, view.Count(o.Recent.Long, "prompt")+
			" of 2 KB or more went whole: shimctl why CALL says why")
	}
	b := &o.bill
	if !b.Total.Known {
		return lines
	}
	words := view.Count(b.Calls, "call") + " cost " + b.Total.Human()
	if b.NotKnown > 0 {
		words = fmt.Sprintf("%s of %s (the others' cost is not known)",
			view.Thousands(b.HasPrice()), words)
	}
	if cached := view.CacheRate(b.Sums); cached.Known() {
		words += fmt.Sprintf(", %.1f %% of the input came from the cache", 100*cached)
	}
	return append(lines, words)
}
