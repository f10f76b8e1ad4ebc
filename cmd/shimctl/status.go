package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"reprise/internal/saving"
	"reprise/internal/ui"
	"reprise/ledger"
)

func statusCommand(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "status", Short: "show on one screen what the shims did, and warnings",
		Long: `Shows on one screen: a configuration that keeps reprise off; headless calls that were passed through, and what to
do about that; how many of the last days' calls were resumed, their tokens and cost, and what resuming saved; chains
with a live session; the last decisions and their reasons; warnings about what failed or will keep calls fresh.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			return a.withLedger(func(l *ledger.Ledger, r reporter) error { return a.status(l, r, asJSON) })
		},
	}
	jsonFlag(c, &asJSON, "shimctl.status/1")
	return c
}

// Limits of the lists on the screen and in JSON.
const (
	statusDays      = 30
	statusChains    = 8
	statusDecisions = 8
	maxChains       = 50
)

// An overview holds what status shows.
type overview struct {
	totals    ledger.Totals // of all calls; only in JSON
	bill      bill          // of the last days
	saved     saving.Saving // of the last days
	chains    []ledger.ChainRow
	live      []ledger.ChainRow // young enough, and their session alive
	decisions []ledger.InvocationRow
	passed    []passedReport // in the last days
	broken    []warning      // why no call is managed
	warnings  []warning      // all others
}

func (a *app) status(l *ledger.Ledger, r reporter, asJSON bool) error {
	var o overview
	err := a.stderr.WithProgress("adding the calls up", func() (err error) {
		if o, err = a.overview(l, r); err == nil && asJSON {
			o.totals, err = l.Totals()
		}
		return err
	})
	if err != nil {
		return err
	}
	if asJSON {
		return a.stdout.PrintJSON(statusJSON(r, o))
	}
	a.printBroken(o)
	a.printPassed(o.passed)
	if len(o.decisions) == 0 {
		a.stderr.Notice("no managed call has been made yet")
		return nil
	}
	a.printStatus(o)
	return nil
}

func (a *app) overview(l *ledger.Ledger, r reporter) (o overview, err error) {
	cfg, wrong := a.configuration()
	meters, err := l.Meters()
	if err != nil {
		return o, err
	}
	since := ledger.Millis(a.now.AddDate(0, 0, -statusDays).UnixMilli())
	if err = a.sums(l, r, since, &o); err != nil {
		return o, err
	}
	if o.chains, err = l.Chains(ledger.Wanted{Limit: maxChains}); err != nil {
		return o, err
	}
	if o.live, err = l.Chains(ledger.Wanted{Live: true, Limit: statusChains}); err != nil {
		return o, err
	}
	o.live = slices.DeleteFunc(o.live, func(c ledger.ChainRow) bool {
		return a.now.Sub(c.Updated.Time()) > cfg.MaxAge
	})
	if o.decisions, err = l.InvocationRows(ledger.Wanted{Limit: statusDecisions}); err != nil {
		return o, err
	}
	rows, err := l.PassedRows(since)
	if err != nil {
		return o, err
	}
	cached, err := l.CacheRows(since)
	if err != nil {
		return o, err
	}
	o.passed = passedReports(rows)
	o.broken = wrong
	jobs, err := l.JobSpendings(ledger.Millis(a.now.UnixMilli()))
	if err != nil {
		return o, err
	}
	o.warnings = slices.Concat(a.budgetWarnings(cfg, r, jobs), contextWarnings(cfg, o.live), a.dearerWarnings(cfg, meters), cacheWarnings(cached), decisionWarnings(o.decisions), a.priceWarnings(o.bill))
	return o, nil
}

// sums adds up the last days' calls. The arms are read from all of them once more; on a
// connection of its own that runs in parallel.
func (a *app) sums(l *ledger.Ledger, r reporter, since ledger.Millis, o *overview) error {
	forArms, err := a.openOrEmpty()
	if err != nil {
		return err
	}
	defer forArms.Close()
	var reading sync.WaitGroup
	var slices []ledger.Slice
	var arms []ledger.ChainSums
	var slicesErr, armsErr error
	reading.Go(func() {
		slices, slicesErr = l.Slices(ledger.Period{Since: since, Until: ledger.Always.Until}, r.prices.LongPrompt())
	})
	reading.Go(func() { arms, armsErr = forArms.Arms(since) })
	reading.Wait()
	for _, s := range slices {
		o.bill.add(r.prices, s)
	}
	o.saved = saving.New(slices, arms, r.listPrice)
	return cmp.Or(slicesErr, armsErr)
}

// printBroken says before anything else that no call is managed.
func (a *app) printBroken(o overview) {
	if len(o.broken) > 0 {
		a.stdout.Sentences("WARNING", ui.Warn, mapped(o.broken, warning.words)...)
		fmt.Fprintln(a.stdout)
	}
}

// printPassed says first what was missed.
func (a *app) printPassed(passed []passedReport) {
	words := func(p passedReport) string {
		if a.stdout.Terminal {
			return p.words(ago(a.now, ledger.Millis(p.Last.UnixMilli())))
		}
		return p.words(p.Last.Format(time.RFC3339))
	}
	if len(passed) > 0 {
		a.stdout.Sentences("PASSED THROUGH", ui.Warn, mapped(passed, words)...)
		fmt.Fprintln(a.stdout)
	}
}

func (a *app) printStatus(o overview) {
	a.stdout.Heading(fmt.Sprintf("last %d days", statusDays))
	a.stdout.Sentences("HEADLINE", ui.Strong, o.saved.Headline())
	fmt.Fprintln(a.stdout)
	a.figures(o).Print(a.stdout)
	if len(o.live) > 0 {
		fmt.Fprintln(a.stdout)
		a.stdout.Heading("live chains")
		t := ui.NewTable("CHAIN", "TOOL", "TASK", "ROLE", "CALLS", "CONTEXT", "LAST", "WHEN", "DIRECTORY")
		for _, c := range o.live {
			t.Add(ui.IDCell(c.ID), ui.TextCell(c.Tool), ui.TextCell(c.Task), ui.TextCell(c.Role), ui.NumberCell(int64(c.Calls)),
				contextCell(newest(c).Context), decisionCell(c.Last), a.whenCell(c.Last.Started), a.pathCell(c.Cwd))
		}
		t.Print(a.stdout)
	}
	fmt.Fprintln(a.stdout)
	a.stdout.Heading("last decisions")
	t := ui.NewFoldedTable("CALL", "WHEN", "TOOL", "CHAIN", "DECISION", "MEANING")
	for _, i := range o.decisions {
		reason := i.Reason
		if i.FellBack != "" {
			reason = i.FellBack
		}
		t.Add(ui.IDCell(i.ID), a.whenCell(i.Started), ui.TextCell(i.Tool), ui.IDCell(i.Chain), decisionCell(i),
			ui.TextCell(meaning(reason)).As(ui.Dim))
	}
	t.Print(a.stdout)
	if len(o.warnings) > 0 {
		fmt.Fprintln(a.stdout)
		a.stdout.Heading("warnings")
		a.stdout.Sentences("WARNING", ui.Warn, mapped(o.warnings, warning.words)...)
	}
}

func (w warning) words() string { return w.Says }

// figures returns the lines on the last days' calls.
func (a *app) figures(o overview) *ui.Table {
	t := ui.NewFoldedTable("FIGURE", "VALUE", "ABOUT")
	managed := o.bill.resumed + o.bill.fresh
	add := func(name string, c ui.Cell, about ...string) {
		t.Add(ui.TextCell(name), c, ui.Cell{Human: strings.Join(about, ", "), Raw: strings.Join(about, ", ")}.As(ui.Dim))
	}
	calls := []string{ui.Thousands(o.bill.resumed) + " resumed"}
	if o.bill.forked > 0 {
		calls = append(calls, ui.Thousands(o.bill.forked)+" of them forked")
	}
	calls = append(calls, ui.Thousands(o.bill.fresh)+" fresh")
	if o.bill.never > 0 {
		calls = append(calls, fmt.Sprintf("%d of them never to be resumed", o.bill.never))
	}
	if observed := o.bill.calls - managed; observed > 0 {
		calls = append(calls, fmt.Sprintf("%d observed", observed))
	}
	if o.bill.stopped > 0 {
		calls = append(calls, fmt.Sprintf("%d stopped", o.bill.stopped))
	}
	add("managed calls", ui.NumberCell(managed), calls...)
	add("reused", ui.ShareCell(o.bill.resumed, managed), "of the managed calls")
	add("prompts", ui.SizeCell(o.bill.asked), fmt.Sprintf("of which %s were sent", ui.Size(o.bill.sent)))
	prompt, output := ui.UnknownCell(), ui.UnknownCell()
	if o.bill.uncounted < o.bill.calls {
		prompt = ui.Cell{Human: ui.ShortNumber(o.bill.prompt()), Raw: strconv.FormatInt(o.bill.prompt(), 10), Right: true}
		output = ui.Cell{Human: ui.ShortNumber(o.bill.output), Raw: strconv.FormatInt(o.bill.output, 10), Right: true}
	}
	add("prompt tokens", prompt, o.bill.uncountedWords()...)
	add("from the cache", ui.ShareCell(o.bill.cached, o.bill.prompt()), "of the prompt tokens")
	add("output tokens", output, o.bill.uncountedWords()...)
	add("cost", priceCell(o.bill.total), o.bill.sources()...)
	saved := o.saved.Summary()
	add("saved cost", savedCell("nano_usd", saved.CostNanoUSD), saved.Words())
	add("saved tokens", savedCell("tokens", saved.Tokens), "weighted by what they cost", "shimctl stats says more")
	return t
}

func (b *bill) uncountedWords() (words []string) {
	if b.uncounted > 0 && b.uncounted < b.calls {
		words = append(words, "without "+ui.Count(b.uncounted, "call")+" that did not tell")
	}
	return words
}

// sources says where the amount comes from.
func (b *bill) sources() (words []string) {
	for _, part := range []struct {
		calls int64
		what  string
	}{{b.byTool, "as the tool says"}, {b.byList, "at list price"}, {b.notKnown, "not known"}} {
		if part.calls > 0 {
			words = append(words, ui.Count(part.calls, "call")+" "+part.what)
		}
	}
	return words
}

func (b *bill) source() string {
	switch {
	case b.byTool > 0 && b.byList > 0:
		return "mixed"
	case b.byList > 0:
		return "list"
	}
	return "tool"
}

// decision returns a call's mode and reason, as in "resume: extends".
func decision(i ledger.InvocationRow) string {
	words := fmt.Sprintf("%s: %s", i.Mode, i.Reason)
	if i.Detail != "" {
		words += fmt.Sprintf(" (%s)", i.Detail)
	}
	if i.FellBack != "" {
		words = fmt.Sprintf("%s: %s (meant to resume: %s)", i.Mode, i.FellBack, i.Reason)
	}
	return words
}

func ago(now time.Time, then ledger.Millis) string {
	d := now.Sub(then.Time())
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}

type statusReport struct {
	Schema    string             `json:"schema" doc:"name of this schema"`
	Totals    totalsReport       `json:"totals" doc:"all calls in the ledger"`
	Recent    recentReport       `json:"recent" doc:"the calls of the last days"`
	Chains    []chainReport      `json:"chains" doc:"the 50 chains used last, the last first"`
	Decisions []invocationReport `json:"decisions" doc:"the last calls, the latest first"`
	Passed    []passedReport     `json:"passed_through" doc:"recent headless calls that were passed through, by reason, the latest first"`
	Warnings  []warning          `json:"warnings" doc:"warnings"`
}

type totalsReport struct {
	Chains      int64 `json:"chains" doc:"chains"`
	Calls       int64 `json:"calls" doc:"calls"`
	Resumed     int64 `json:"resumed" doc:"resumed calls"`
	Forked      int64 `json:"forked" doc:"of the resumed calls, those in a copy because another process had used the session"`
	Fresh       int64 `json:"fresh" doc:"fresh calls"`
	Observed    int64 `json:"observed" doc:"calls whose session the caller managed"`
	Never       int64 `json:"never" doc:"of the fresh calls, those that a rule keeps fresh"`
	PromptBytes int64 `json:"prompt_bytes" doc:"length of the callers' prompts"`
	SentBytes   int64 `json:"sent_bytes" doc:"length of what the models were sent"`
}

type recentReport struct {
	Days       int   `json:"days" doc:"number of days"`
	Resumed    int64 `json:"resumed" doc:"resumed calls"`
	Forked     int64 `json:"forked" doc:"of the resumed calls, those in a copy because another process had used the session"`
	Fresh      int64 `json:"fresh" doc:"fresh calls"`
	Input      int64 `json:"input_tokens" doc:"tokens neither read from nor written to a cache"`
	CacheRead  int64 `json:"cache_read_tokens" doc:"tokens read from the cache"`
	CacheWrite int64 `json:"cache_write_tokens" doc:"tokens written to the cache"`
	Output     int64 `json:"output_tokens" doc:"tokens that the model wrote"`
	Uncounted  int64 `json:"uncounted_calls" doc:"calls of unknown tokens, not in these sums"`
	Unpriced   int64 `json:"unpriced_calls" doc:"calls of unknown cost, not in the sum"`
	moneyReport
	Saved saving.Summary `json:"saved" doc:"what resuming saved, in short"`
}

func statusJSON(r reporter, o overview) statusReport {
	return statusReport{Schema: "shimctl.status/1", Totals: totalsReport(o.totals), Chains: mapped(o.chains, r.chain),
		Recent: recentReport{Days: statusDays, Resumed: o.bill.resumed, Forked: o.bill.forked, Fresh: o.bill.fresh, Input: o.bill.input,
			CacheRead: o.bill.cached, CacheWrite: o.bill.write, Output: o.bill.output, Uncounted: o.bill.uncounted,
			Unpriced: o.bill.notKnown, moneyReport: moneyJSON(o.bill.total, o.bill.source()), Saved: o.saved.Summary()},
		Decisions: mapped(o.decisions, r.invocation), Passed: append([]passedReport{}, o.passed...), Warnings: append(append([]warning{}, o.broken...), o.warnings...)}
}
