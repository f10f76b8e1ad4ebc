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
	}
	printStatus(a, r, o, all || !a.Stdout.Terminal)
	if len(o.decisions) == 0 {
		a.Stderr.Notice(noCallMade(f))
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
	if f, err = a.Summed(l, f); err != nil {
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
	o.warnings = slices.Concat(versions,
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

// Bounds of the lists that status shows without --all.
const (
	mostWarnings = 3
	mostRunning  = 4
)

// warningTexts returns the warnings, each with a command; the reasons why no call is managed come
// first. Unless all, the first of each kind stands for the others, and calls that miss nothing by
// being passed through are left out.
func (o overview) warningTexts(a *app.App, all bool) (texts []string) {
	list := slices.Clone(o.broken)
	for _, p := range o.passed {
		if all || !p.Reason.MissesNothing() {
			list = append(list, warning{Says: a.TildeIn(p.Words(a.WhenWords(p.Last)))})
		}
	}
	list = append(list, o.warnings...)
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

func printStatus(a *app.App, r view.Reporter, o overview, all bool) {
	if len(o.decisions) == 0 {
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
	app.CallTable(a, r, o.decisions,
		"CALL WHEN TOOL CHAIN DECISION OUTCOME DIRECTORY").Print(a.Stdout)
}

// headlines returns the saving, and the cost of the calls if it is known.
func (o overview) headlines() []string {
	lines := []string{o.span + ": " + o.saved.Headline()}
	if o.saved.LeftOutBytes == 0 && o.whole.Long > 0 {
		lines = append(lines, view.Count(o.whole.Long, "prompt")+
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
	Fresh int64      `json:"fresh" doc:"fresh calls"`
	history.Sums
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
		Recent: recentReport{app.RecentDays, beginning(o.since), b.Fresh(), b.Sums,
			b.Calls - b.Metered, b.NotKnown,
			view.MoneyJSON(b.Total), o.whole.Short, o.whole.Long, o.saved.Summary()},
		Decisions: view.Mapped(o.decisions, r.Call),
		Passed:    append([]why.PassthroughReport{}, o.passed...),
		Warnings:  append(append([]warning{}, o.broken...), o.warnings...)}
}
