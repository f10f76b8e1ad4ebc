package main

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"reprise/internal/saving"
	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/ledger/decide"

	"github.com/spf13/cobra"
)

func statusCommand(a *app) *cobra.Command {
	var asJSON, watch bool
	var f *filterFlags
	var columns *columnsFlag
	c := &cobra.Command{
		Use: "status", Short: "show on one screen what the shims did, and warnings",
		Long: `Shows on one screen what resuming saved; a configuration that keeps reprise off, calls that were passed through,
and other warnings; the store that machines share; figures of the last days; chains with a live session; the last decisions. A terminal gets what
fits on its screen, and the commands that show the rest; a pipe or a file gets all. --watch keeps the screen up to
date, without the store, until you interrupt it.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if watch {
				return a.watch(c.Context(), f, columns.names)
			}
			return a.withLedger(func(l *ledger.Ledger, r reporter) error { return a.status(l, r, f, columns.names, asJSON) })
		},
	}
	jsonFlag(c, &asJSON, "shimctl.status/1")
	f = a.filterFlag(c)
	columns = addColumns(c, runningColumns, liveColumns, decisionColumns)
	c.Flags().BoolVarP(&watch, "watch", "w", false, "keep the screen up to date")
	c.MarkFlagsMutuallyExclusive("watch", "json")
	return paged(c, "watch")
}

// Limits of the lists on the screen and in JSON.
const (
	statusDays      = 30
	statusDecisions = 8
	maxChains       = 50
)

// An overview holds what status shows.
type overview struct {
	lists     ledger.Filter // of the lists, which are of any time if no period is given
	totals    ledger.Totals // of all calls; only in JSON
	bill      bill          // of the last days
	saved     saving.Saving // of the last days
	whole     ledger.WholePrompts
	span      string // the last days, or the period that was asked for
	chains    []ledger.ChainRow
	live      []ledger.ChainRow // young enough, and their session alive
	running   []ledger.Invocation
	decisions []ledger.Invocation
	passed    []passedReport // in the last days
	broken    []warning      // why no call is managed
	warnings  []warning      // all others
	store     *storeReport   // nil if none is configured
}

func (a *app) status(l *ledger.Ledger, r reporter, flags *filterFlags, columns []string, asJSON bool) error {
	f, err := a.filter(l, flags)
	if err != nil {
		return err
	}
	var o overview
	readStore := a.startStore(l)
	err = a.stderr.WithProgress("adding the calls up", func() (err error) {
		if o, err = a.overview(l, r, f); err == nil && asJSON {
			o.totals, err = l.Totals(f)
		}
		o.store = readStore()
		return err
	})
	if err != nil {
		return err
	}
	if asJSON {
		return a.stdout.PrintJSON(statusJSON(r, o))
	}
	if len(o.decisions) == 0 {
		a.printFirst(o)
		if lines := a.storeLines(o.store); lines != nil {
			a.stdout.Sentences("STORE", ui.Plain, lines...)
		}
		a.stderr.Notice(noCallMade(f))
		return nil
	}
	if a.stdout.Terminal {
		a.printScreen(o, columns)
	} else {
		a.printStatus(o, columns)
	}
	return nil
}

func noCallMade(f ledger.Filter) string { return "no managed call has been made" + filterWords(f) }

func (a *app) overview(l *ledger.Ledger, r reporter, f ledger.Filter) (o overview, err error) {
	o.lists, o.span = f, fmt.Sprintf("last %d days", statusDays)
	if words := periodWords(f.Times()); words != "" {
		o.span = strings.TrimSpace(words)
	}
	cfg, wrong := a.configuration()
	meters, err := l.Meters()
	if err != nil {
		return o, err
	}
	if f.Period == (ledger.Period{}) {
		f.Period = ledger.Since(decide.Millis(a.now.AddDate(0, 0, -statusDays).UnixMilli())).Period
	}
	if err = a.sums(l, r, f, &o); err != nil {
		return o, err
	}
	if o.chains, err = l.Chains(ledger.Wanted{Filter: o.lists, Limit: maxChains}); err != nil {
		return o, err
	}
	if o.live, err = l.Chains(ledger.Wanted{Filter: o.lists, Live: true, Limit: maxChains}); err != nil {
		return o, err
	}
	o.live = slices.DeleteFunc(o.live, func(c ledger.ChainRow) bool {
		return a.now.Sub(c.Updated.Time()) > cfg.MaxAge
	})
	if o.running, err = l.RunningInvocations(f, decide.Millis(a.now.UnixMilli())); err != nil {
		return o, err
	}
	if o.decisions, err = l.LatestInvocations(ledger.Wanted{Filter: o.lists, Limit: statusDecisions}); err != nil {
		return o, err
	}
	if o.whole, err = l.WholePrompts(f); err != nil {
		return o, err
	}
	rows, err := l.PassedRows(f)
	if err != nil {
		return o, err
	}
	cached, err := l.CacheRows(f)
	if err != nil {
		return o, err
	}
	hour, err := l.HourRows(ledger.Wanted{Filter: f})
	if err != nil {
		return o, err
	}
	lost, err := l.CacheLostRows(f)
	if err != nil {
		return o, err
	}
	o.passed = passedReports(rows)
	o.broken = wrong
	jobs, err := l.JobSpendings(decide.Millis(a.now.UnixMilli()))
	if err != nil {
		return o, err
	}
	repeats, err := a.repeatWarnings(l, cfg, f)
	if err != nil {
		return o, err
	}
	quality, err := a.qualityWarnings(l, f)
	if err != nil {
		return o, err
	}
	o.warnings = slices.Concat(quality, repeats, a.budgetWarnings(cfg, r, jobs), contextWarnings(cfg, o.live), a.dearerWarnings(cfg, meters), cacheLostWarnings(cfg, lost), cacheWarnings(cached, hour), decisionWarnings(o.decisions), a.priceWarnings(o.bill))
	return o, nil
}

// sums adds up the last days' calls. The arms are read from all of them once more; on a
// connection of its own that runs in parallel.
func (a *app) sums(l *ledger.Ledger, r reporter, f ledger.Filter, o *overview) error {
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
		slices, slicesErr = l.Slices(f, r.prices.LongPrompt())
	})
	reading.Go(func() { arms, armsErr = forArms.Arms(f) })
	reading.Wait()
	for _, s := range slices {
		o.bill.add(r.prices, s)
	}
	o.saved = saving.New(slices, arms, r.listPrice)
	return cmp.Or(slicesErr, armsErr)
}

// printFirst says before anything else that no call is managed, and what was missed.
func (a *app) printFirst(o overview) {
	if len(o.broken) > 0 {
		a.stdout.Sentences("WARNING", ui.Warn, mapped(o.broken, warning.words)...)
		fmt.Fprintln(a.stdout)
	}
	if len(o.passed) > 0 {
		a.stdout.Sentences("PASSED THROUGH", ui.Warn, mapped(o.passed, a.passedWords)...)
		fmt.Fprintln(a.stdout)
	}
}

func (a *app) passedWords(p passedReport) string {
	if a.stdout.Terminal {
		return p.words(ago(a.now, decide.Millis(p.Last.UnixMilli())))
	}
	return p.words(p.Last.Format(time.RFC3339))
}

// printStatus prints all of it.
func (a *app) printStatus(o overview, columns []string) {
	a.stdout.Sentences("HEADLINE", ui.Strong, append([]string{o.saved.Headline()}, o.whyWhole()...)...)
	fmt.Fprintln(a.stdout)
	a.printFirst(o)
	a.figures(o).Print(a.stdout)
	if lines := a.storeLines(o.store); lines != nil {
		fmt.Fprintln(a.stdout)
		a.stdout.Sentences("STORE", ui.Plain, lines...)
	}
	if len(o.running) > 0 {
		fmt.Fprintln(a.stdout)
		a.runningTable(o.running).Choose(columns).Print(a.stdout)
	}
	if len(o.live) > 0 {
		fmt.Fprintln(a.stdout)
		a.liveTable(o.live).Choose(columns).Print(a.stdout)
	}
	fmt.Fprintln(a.stdout)
	a.decisionTable(o.decisions).Choose(columns).Print(a.stdout)
	if len(o.warnings) > 0 {
		fmt.Fprintln(a.stdout)
		a.stdout.Sentences("WARNING", ui.Warn, mapped(o.warnings, warning.words)...)
	}
}

// whyWhole says why nothing was left out of the resumed calls' prompts, if nothing was.
func (o overview) whyWhole() []string {
	switch {
	case o.saved.AtLeast.LeftOutBytes > 0:
		return nil
	case o.whole.Short >= max(1, o.whole.Long):
		return []string{fmt.Sprintf("%s under 2 KB went whole: leaving a part out would save next to nothing", ui.Count(o.whole.Short, "prompt"))}
	case o.whole.Long > 0:
		return []string{fmt.Sprintf("%s of 2 KB or more went whole: shimctl explain --blocks -- CALL says why", ui.Count(o.whole.Long, "prompt"))}
	}
	return nil
}

var (
	runningColumns  = []string{"CALL", "FOR", "TOOL", "CHAIN", "DECISION", "DIRECTORY"}
	liveColumns     = []string{"CHAIN", "TOOL", "TASK", "ROLE", "CALLS", "CONTEXT", "LAST", "WHEN", "DIRECTORY", "NAME"}
	decisionColumns = []string{"CALL", "WHEN", "TOOL", "CHAIN", "DECISION", "MEANING"}
)

func (a *app) runningTable(calls []ledger.Invocation) *ui.Table {
	t := ui.NewTable(runningColumns...)
	for _, i := range calls {
		so := sql.NullInt64{Int64: max(0, a.now.Sub(i.Started.Time()).Milliseconds()), Valid: true}
		t.Add(ui.IDCell(i.ID), ui.DurationCell(so), ui.TextCell(i.Tool), ui.IDCell(i.Chain), decisionCell(i), a.pathCell(i.Cwd))
	}
	return t
}

func (a *app) liveTable(live []ledger.ChainRow) *ui.Table {
	t := ui.NewTable(liveColumns...)
	for _, c := range live {
		t.Add(ui.IDCell(c.ID), ui.TextCell(c.Tool), ui.TextCell(c.Task), ui.TextCell(c.Role), ui.NumberCell(int64(c.Calls)),
			contextCell(newest(c).Context), decisionCell(c.Last), a.whenCell(c.Last.Started), a.pathCell(c.Cwd), nameCell(c))
	}
	return t
}

func (a *app) decisionTable(decisions []ledger.Invocation) *ui.Table {
	t := ui.NewTable(decisionColumns...)
	for _, i := range decisions {
		reason := i.Reason
		if i.FellBack != "" {
			reason = i.FellBack
		}
		t.Add(ui.IDCell(i.ID), a.whenCell(i.Started), ui.TextCell(i.Tool), ui.IDCell(i.Chain), decisionCell(i),
			ui.TextCell(meaning(reason)).As(ui.Dim))
	}
	return t
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
func decision(i ledger.Invocation) string {
	words := fmt.Sprintf("%s: %s", i.Mode, i.Reason)
	if i.Detail != "" {
		words += fmt.Sprintf(" (%s)", i.Detail)
	}
	if i.FellBack != "" {
		words = fmt.Sprintf("%s: %s (meant to resume: %s)", i.Mode, i.FellBack, i.Reason)
	}
	return words
}

func ago(now time.Time, then decide.Millis) string {
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
	Schema    string         `json:"schema" doc:"name of this schema"`
	Totals    totalsReport   `json:"totals" doc:"all calls in the ledger"`
	Recent    recentReport   `json:"recent" doc:"the calls of the last days"`
	Chains    []chainReport  `json:"chains" doc:"the 50 chains used last, the last first"`
	Decisions []callReport   `json:"decisions" doc:"the last calls, the latest first"`
	Store     *storeReport   `json:"store,omitempty" doc:"the store that machines share, if one is configured"`
	Passed    []passedReport `json:"passed_through" doc:"recent headless calls that were passed through, by reason, the latest first"`
	Warnings  []warning      `json:"warnings" doc:"warnings"`
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
	WholeShort int64          `json:"short_prompts_sent_whole" doc:"resumed calls whose prompt is under 2 KB and was sent whole"`
	WholeLong  int64          `json:"long_prompts_sent_whole" doc:"resumed calls whose prompt is longer and was sent whole"`
	Saved      saving.Summary `json:"saved" doc:"what resuming saved, in short"`
}

func statusJSON(r reporter, o overview) statusReport {
	return statusReport{Schema: "shimctl.status/1", Totals: totalsReport(o.totals), Chains: mapped(o.chains, r.chain),
		Recent: recentReport{Days: statusDays, Resumed: o.bill.resumed, Forked: o.bill.forked, Fresh: o.bill.fresh, Input: o.bill.input,
			CacheRead: o.bill.cached, CacheWrite: o.bill.write, Output: o.bill.output, Uncounted: o.bill.uncounted,
			Unpriced: o.bill.notKnown, moneyReport: moneyJSON(o.bill.total, o.bill.source()), Saved: o.saved.Summary(), WholeShort: o.whole.Short, WholeLong: o.whole.Long},
		Decisions: mapped(o.decisions, r.call), Store: o.store, Passed: append([]passedReport{}, o.passed...), Warnings: append(append([]warning{}, o.broken...), o.warnings...)}
}
