package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"reprise/config"
	"reprise/fleet"
	"reprise/internal/saving"
	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/ledger/decide"

	"github.com/spf13/cobra"
)

func statsCommand(a *app) *cobra.Command {
	var asJSON, summary bool
	var from statsSource
	var columns *columnsFlag
	c := &cobra.Command{
		Use: "stats", Short: "sum up what calls used, and what resuming saved",
		Long: `Sums up the managed calls: sessions created and reused, tokens, cost, duration. If rollout keeps a share of the
chains fresh as a control group, it compares the two groups and prints intervals; otherwise it prints an
estimate and how it was made. It also shows whether resumed chains took more calls or failed more often.
docs/explanation/measuring.md explains each figure.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.stats(from, columns, asJSON, summary) },
	}
	storeFlag(c, &from.store)
	c.Flags().BoolVar(&summary, "summary", false, "print a sentence and a table in Markdown, for a CI job's page")
	c.Flags().StringVar(&from.by, "by", string(ledger.ByTool), "one row for each `KEY`: "+byWords)
	from.flags = a.filterFlag(c)
	bys := slices.Concat(ledger.Bys, ledger.SharedBys)
	columns = addColumns(c, mapped(bys, byHeader), statsColumns)
	jsonFlag(c, &asJSON, "shimctl.stats/1")
	completeFlag(c, "by", mapped(bys, func(by ledger.By) string { return string(by) }))
	return paged(c)
}

// byWords are the keys for people.
var byWords = func() string {
	names := mapped(ledger.Bys, func(by ledger.By) string { return string(by) })
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}()

// A statsSource says which calls are summed up, and how.
type statsSource struct {
	store bool
	by    string
	flags *filterFlags
}

func (a *app) stats(from statsSource, columns *columnsFlag, asJSON, summary bool) error {
	by := ledger.By(from.by)
	switch {
	case asJSON && summary:
		return usageError{"--summary is no JSON", "--json has the same figures under saved and machines"}
	case slices.Contains(ledger.Bys, by), from.store && slices.Contains(ledger.SharedBys, by):
	case slices.Contains(ledger.SharedBys, by):
		return usageError{fmt.Sprintf("calls of one machine cannot be grouped by %q", by), "--store takes those of all machines"}
	default:
		return usageError{fmt.Sprintf("calls cannot be grouped by %q", by), "by " + byWords}
	}
	s, err := a.readStats(from)
	if err != nil {
		return err
	}
	switch {
	case asJSON:
		return a.stdout.PrintJSON(statsJSON(s))
	case summary:
		a.printSummary(s)
	default:
		a.printStats(s, columns)
	}
	return nil
}

// A stats is what the command shows.
type stats struct {
	By      ledger.By
	Filter  ledger.Filter
	Groups  []ledger.Group
	Total   ledger.Group
	Cached  []ledger.CacheRow
	Hour    []ledger.HourRow
	Quality saving.Quality
	Now     decide.Millis
	Fleet   *fleetReport // nil of one machine
	saving.Saving
}

// readStats reads the calls; a missing ledger counts as empty.
func (a *app) readStats(from statsSource) (stats, error) {
	s := stats{By: ledger.By(from.by), Now: decide.Millis(a.now.UnixMilli())}
	table, err := a.loadPrices()
	if err != nil {
		return s, err
	}
	if from.store {
		err := s.readShared(a, from.flags, reporter{table})
		return s, err
	}
	path, err := config.LedgerFile(a.own)
	if err != nil {
		return s, err
	}
	forGroups, err := ledger.OpenExisting(path)
	if errors.Is(err, fs.ErrNotExist) {
		s.Filter, err = a.filter(nil, from.flags)
		return s, err
	}
	if err != nil {
		return s, err
	}
	defer forGroups.Close()
	if s.Filter, err = a.filter(forGroups, from.flags); err != nil {
		return s, err
	}
	forSaving, err := ledger.OpenExisting(path)
	if err != nil {
		return s, err
	}
	defer forSaving.Close()
	err = a.stderr.WithProgress("adding the calls up", func() error { return s.sum(forGroups, forSaving, reporter{table}) })
	return s, err
}

// readShared reads the calls of all machines from the store.
func (s *stats) readShared(a *app, flags *filterFlags, r reporter) error {
	l, err := a.callsOf(true, flags)()
	if err != nil {
		return err
	}
	defer l.Close()
	if s.Filter, err = a.filter(l, flags); err != nil {
		return err
	}
	sums, err := fleet.SumIn(l, s.Filter)
	if err != nil {
		return err
	}
	s.Fleet = (*fleetReport)(&sums)
	return s.sum(l, l, r)
}

// sum sums the calls up. Each ledger reads all calls: with a connection of its own they run in parallel.
func (s *stats) sum(forGroups, forSaving *ledger.Ledger, r reporter) error {
	var reading sync.WaitGroup
	var groupsErr, savingErr error
	reading.Go(func() {
		if s.Groups, groupsErr = forGroups.Groups(s.By, s.Filter); groupsErr == nil {
			s.Cached, groupsErr = forGroups.CacheRows(s.Filter)
		}
		if groupsErr == nil {
			s.Hour, groupsErr = forGroups.HourRows(ledger.Wanted{Filter: s.Filter})
		}
		if groupsErr == nil {
			var courses []ledger.Course
			courses, groupsErr = forGroups.Courses(s.Filter, s.Now)
			s.Quality = saving.NewQuality(courses)
		}
	})
	reading.Go(func() { s.Saving, savingErr = readSaving(forSaving, s.Filter, r) })
	reading.Wait()
	for _, g := range s.Groups {
		s.Total.Add(g.Sums)
		s.Total.Reused += g.Reused
		s.Total.Created += g.Created
	}
	return cmp.Or(groupsErr, savingErr)
}

// readSaving computes the saving of the selected calls.
func readSaving(l *ledger.Ledger, f ledger.Filter, r reporter) (saving.Saving, error) {
	arms, err := l.Arms(f)
	if err != nil {
		return saving.Saving{}, err
	}
	slices, err := l.Slices(f, r.prices.LongPrompt())
	return saving.New(slices, arms, r.listPrice), err
}

// statsColumns are those after the key.
var statsColumns = []string{"CALLS", "RESUMED", "REUSE", "SESSIONS", "REUSED", "OK", "CACHE", "TOKENS/SESSION", "COST", "PRICED", "DURATION"}

func byHeader(by ledger.By) string { return strings.ToUpper(string(by)) }

func (a *app) printStats(s stats, columns *columnsFlag) {
	if s.Total.Calls == 0 {
		fmt.Fprintln(a.stderr, "no managed call has been made"+filterWords(s.Filter))
		return
	}
	t := ui.NewTable(append([]string{byHeader(s.By)}, statsColumns...)...).Choose(columns.names).
		Spare("PRICED", "REUSED", "SESSIONS", "DURATION", "TOKENS/SESSION", "REUSE", "OK")
	for _, g := range s.Groups {
		key := ui.TextCell(g.Key)
		if s.By == ledger.ByCwd {
			key = a.pathCell(g.Key)
		}
		t.Add(groupRow(key, g)...)
	}
	if len(s.Groups) > 1 && a.stdout.Terminal {
		t.Add(groupRow(ui.TextCell("all").As(ui.Strong), s.Total)...)
	}
	t.Print(a.stdout)
	fmt.Fprintln(a.stdout)
	if s.Fleet != nil {
		a.stdout.Sentences("MACHINES", ui.Plain, s.Fleet.lines("all")...)
		fmt.Fprintln(a.stdout)
	}
	if s.Comparison != nil {
		a.printComparison(s.Comparison)
	} else {
		a.printSaving(s)
	}
	a.printQuality(s.Quality)
	a.printCache(s.Cached)
	a.printHour(s.Hour)
}

func filterWords(f ledger.Filter) string {
	words := " yet"
	if p := f.Period; p != (ledger.Period{}) {
		words = ""
		if p.Since != ledger.Always.Since {
			words = " since " + p.Since.Time().Format(time.RFC3339)
		}
		if p.Until != ledger.Always.Until {
			words += " before " + p.Until.Time().Format(time.RFC3339)
		}
	}
	if f.Period = (ledger.Period{}); f != (ledger.Filter{}) {
		words += " that the flags select"
	}
	return words
}

func groupRow(key ui.Cell, g ledger.Group) []ui.Cell {
	return []ui.Cell{key, ui.NumberCell(g.Calls), ui.NumberCell(g.Resumed), ui.AmountCell("share", reuseRate(g)),
		ui.NumberCell(g.Created), ui.NumberCell(g.Reused),
		ui.AmountCell("share", rate(g.OK, g.Ended)), ui.AmountCell("share", cacheRate(g)), ui.AmountCell("tokens", tokensPerSession(g)),
		priceCell(sum{known: g.Priced > 0, nano: g.Cost, most: g.Cost}), ui.NumberCell(g.Priced), ui.AmountCell("ms", rate(g.Duration, g.Timed))}
}

func reuseRate(g ledger.Group) float64 { return rate(g.Resumed, g.Calls) }

// cacheRate is the share of what the models read that came from the cache.
func cacheRate(g ledger.Group) float64 { return rate(g.CacheRead, g.Input+g.CacheRead+g.CacheWrite) }

// tokensPerSession counts every token, read or written, whatever it costs.
func tokensPerSession(g ledger.Group) float64 {
	if g.Metered == 0 {
		return math.NaN()
	}
	return rate(g.Input+g.CacheRead+g.CacheWrite+g.Output, g.Created)
}

// rate returns part / whole, NaN if whole is 0.
func rate(part, whole int64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return float64(part) / float64(whole)
}

func (a *app) printComparison(c *saving.Comparison) {
	a.stdout.Sentences("NOTE", ui.Plain, comparisonWords(c)...)
	fmt.Fprintln(a.stdout)
	t := ui.NewTable("FIGURE", "CONTROL", "TREATED", "DIFFERENCE", "INTERVAL", "INTERVAL-CONTROL", "INTERVAL-TREATED")
	for _, f := range c.Figures {
		t.Add(ui.TextCell(f.Title()),
			ui.AmountCell(f.Unit, f.Control.Mean), ui.AmountCell(f.Unit, f.Treated.Mean), ui.AmountCell(f.Unit, f.Difference.Mean),
			intervalCell(f.Unit, f.Difference), intervalCell(f.Unit, f.Control), intervalCell(f.Unit, f.Treated))
	}
	t.Print(a.stdout)
}

// comparisonWords say how the arms were compared.
func comparisonWords(c *saving.Comparison) []string {
	return []string{
		fmt.Sprintf("control group: %s in %s held out, %s in %s treated%s. Means over calls, with intervals that hold 95 times in 100.",
			ui.Count(c.Control.Calls, "call"), ui.Count(c.Control.Chains, "chain"),
			ui.Count(c.Treated.Calls, "call"), ui.Count(c.Treated.Chains, "chain"), changed(c.Changed)),
		"The first call of a chain is the same in both arms, and counted in both: the difference is that of whole jobs.",
	}
}

func changed(chains int64) string {
	if chains == 0 {
		return ""
	}
	return fmt.Sprintf(", %s left out that changed sides with rollout", ui.Count(chains, "chain"))
}

func intervalCell(unit string, e saving.Mean) ui.Cell {
	if math.IsNaN(e.Mean) {
		return ui.UnknownCell()
	}
	return ui.Cell{Human: ui.Amount(unit, e.Low) + " to " + ui.Amount(unit, e.High),
		Raw: ui.PlainAmount(unit, e.Low) + " to " + ui.PlainAmount(unit, e.High), Right: true}
}

// estimateWords say how the estimate was made, or why there is none.
func (s stats) estimateWords() (words []string) {
	e := s.Estimate
	if s.Arms.Control.Chains+s.Arms.Treated.Chains > 0 {
		words = append(words, fmt.Sprintf("The control group is too small to compare with: %s held out, %s treated.",
			ui.Count(s.Arms.Control.Chains, "chain"), ui.Count(s.Arms.Treated.Chains, "chain")))
	} else {
		words = append(words, "No chain was held out as a control group (rollout), so what resuming saved can only be estimated.")
	}
	if e.Resumed == 0 {
		return append(words, "There is no estimate: no resumed call has a fresh one of its tool, rule and model to be set against.")
	}
	kind := "Estimate"
	if e.Rough {
		kind = fmt.Sprintf("Rough estimate, since there are fewer than %d fresh calls", saving.MinFresh)
	}
	words = append(words, fmt.Sprintf("%s: %s that ended well set against the mean of %s of the same tool, rule and model that ended well.",
		kind, ui.Count(e.Resumed, "resumed call"), ui.Count(e.Fresh, "fresh call")))
	if e.ByFirst > 0 {
		words = append(words, fmt.Sprintf("For %d of them only first calls of jobs were there (%d), which as a rule cost more than later ones.", e.ByFirst, e.FirstCalls))
	}
	if e.Unlike > 0 {
		words = append(words, fmt.Sprintf("%s had too few fresh ones of their like, and count as no saving.", ui.Count(e.Unlike, "more resumed call")))
	}
	return words
}

func (a *app) printSaving(s stats) {
	e := s.Estimate
	a.stdout.Sentences("NOTE", ui.Plain, s.estimateWords()...)
	if e.Resumed == 0 {
		return
	}
	fmt.Fprintln(a.stdout)
	t := ui.NewTable("FIGURE", "RESUMED", "FRESH", "SAVED")
	for _, f := range e.Figures {
		t.Add(ui.TextCell(f.Title()), ui.AmountCell(f.Unit, f.Resumed), ui.AmountCell(f.Unit, f.Fresh), ui.AmountCell(f.Unit, f.Saved))
	}
	t.Print(a.stdout)
}
