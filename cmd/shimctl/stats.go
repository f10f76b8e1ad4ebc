package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"reprise/config"
	"reprise/ledger"
)

func statsCommand(a *app) *cobra.Command {
	var asJSON bool
	var by, since string
	c := &cobra.Command{
		Use: "stats", Short: "sum up what calls took, and what resuming saved",
		Long: `Sums up the managed calls: sessions made and reused, tokens, cost, duration. Where a share of the
chains is held out as a control group (rollout), compares the two with intervals; where none is,
gives an estimate and says how it was made. docs/measuring.md explains each figure.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.stats(by, since, asJSON) },
	}
	c.Flags().StringVar(&by, "by", string(ledger.ByTool), "one row for each `KEY`: tool, rule, model, cwd or day")
	c.Flags().StringVar(&since, "since", "", "only calls since `WHEN`: 12h or 7d ago, or a date as 2026-01-31, in UTC")
	jsonFlag(c, &asJSON, "shimctl.stats/1")
	return c
}

func (a *app) stats(by, since string, asJSON bool) error {
	if !slices.Contains(ledger.Bys, ledger.By(by)) {
		return usageError{fmt.Sprintf("calls can not be grouped by %q", by), "by tool, rule, model, cwd or day"}
	}
	from, err := a.sinceTime(since)
	if err != nil {
		return err
	}
	s, err := a.readStats(ledger.By(by), from)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(statsJSON(s))
	}
	a.printStats(s)
	return nil
}

// sinceTime reads how long ago, or since which day; "" is the beginning.
func (a *app) sinceTime(text string) (time.Time, error) {
	if text == "" {
		return time.UnixMilli(0), nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return a.now.AddDate(0, 0, -int(n)), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return a.now.Add(-d), nil
	}
	return time.Time{}, usageError{fmt.Sprintf("%q is no time", text), "12h, 7d, or a date as 2026-01-31"}
}

// stats is what is shown. Without a control group Comparison is nil, and Saving
// takes its place.
type stats struct {
	By         ledger.By
	Since      time.Time
	Groups     []ledger.Group
	Total      ledger.Group
	Arms       comparison
	Comparison *comparison
	Saving     *saving
}

// readStats reads the ledger; one that does not exist yet is an empty one.
func (a *app) readStats(by ledger.By, since time.Time) (stats, error) {
	s := stats{By: by, Since: since}
	path, err := config.LedgerFile(a.getenv)
	if err != nil {
		return s, err
	}
	forGroups, err := ledger.OpenExisting(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	defer forGroups.Close()
	forSaving, err := ledger.OpenExisting(path)
	if err != nil {
		return s, err
	}
	defer forSaving.Close()

	// Each goes through all calls; on a connection of its own they do so side by side.
	from := ledger.Millis(since.UnixMilli())
	var reading sync.WaitGroup
	var groupsErr, savingErr error
	reading.Go(func() { s.Groups, groupsErr = forGroups.Groups(by, from) })
	reading.Go(func() { savingErr = s.readSaving(forSaving, from) })
	reading.Wait()
	for _, g := range s.Groups {
		s.Total.Add(g.Sums)
		s.Total.Reused += g.Reused
	}
	return s, cmp.Or(groupsErr, savingErr)
}

// readSaving compares the arms, or where that can not be done, makes an estimate.
func (s *stats) readSaving(l *ledger.Ledger, since ledger.Millis) error {
	chains, err := l.Arms(since)
	if err != nil || s.compare(chains) {
		return err
	}
	sides, err := l.Sides(since)
	if err == nil {
		s.estimate(sides)
	}
	return err
}

func (s *stats) compare(chains []ledger.ChainSums) (ok bool) {
	if s.Arms, ok = compare(chains); ok {
		s.Comparison = &s.Arms
	}
	return ok
}

func (s *stats) estimate(sides []ledger.SideSums) {
	estimated := estimateSaving(sides)
	s.Saving = &estimated
}

func (a *app) printStats(s stats) {
	if s.Total.Calls == 0 {
		fmt.Fprintln(a.stderr, "no managed call has been made"+sinceWords(s.Since))
		return
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\tCALLS\tRESUMED\tREUSE\tSESSIONS\tREUSED\tOK\tCACHE\tTOKENS/SESSION\tCOST\tDURATION\n", strings.ToUpper(string(s.By)))
	for _, g := range s.Groups {
		key := orDash(g.Key)
		if s.By == ledger.ByCwd {
			key = a.tilde(key)
		}
		printGroup(w, key, g)
	}
	if len(s.Groups) > 1 {
		printGroup(w, "all", s.Total)
	}
	w.Flush()
	fmt.Fprintln(a.stdout)
	if s.Comparison != nil {
		a.printComparison(s.Comparison)
		return
	}
	a.printSaving(s)
}

func sinceWords(since time.Time) string {
	if since.UnixMilli() == 0 {
		return " yet"
	}
	return " since " + since.UTC().Format(time.RFC3339)
}

func printGroup(w *tabwriter.Writer, key string, g ledger.Group) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\n", key, g.Calls, g.Resumed, amount("share", reuseRate(g)), created(g), g.Reused,
		amount("share", rate(g.OK, g.Ended)), amount("share", cacheRate(g)), amount("tokens", tokensPerSession(g)), cost(g), amount("ms", rate(g.Duration, g.Timed)))
}

// created is how many sessions were made: each fresh run makes one, and each fork.
func created(g ledger.Group) int64 { return g.Calls - g.Resumed + g.Forked }

func reuseRate(g ledger.Group) float64 { return rate(g.Resumed, g.Calls) }

// cacheRate is the share of what the models read that came from the cache.
func cacheRate(g ledger.Group) float64 { return rate(g.CacheRead, g.Input+g.CacheRead+g.CacheWrite) }

// tokensPerSession counts every token, read or written, whatever it costs.
func tokensPerSession(g ledger.Group) float64 {
	if g.Metered == 0 {
		return math.NaN()
	}
	return rate(g.Input+g.CacheRead+g.CacheWrite+g.Output, created(g))
}

func cost(g ledger.Group) string {
	switch g.Priced {
	case 0:
		return "n/a"
	case g.Calls:
		return amount("nano_usd", float64(g.Cost))
	}
	return fmt.Sprintf("%s (%d calls)", amount("nano_usd", float64(g.Cost)), g.Priced)
}

// rate is NaN where there is nothing to divide by.
func rate(part, whole int64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return float64(part) / float64(whole)
}

// amount shows a number in its unit; one that is not known is n/a, never 0.
func amount(unit string, n float64) string {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return "n/a"
	}
	text := inUnit(unit, n)
	if strings.Trim(text, "-0. %$s") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

func inUnit(unit string, n float64) string {
	switch {
	case unit == "share":
		return fmt.Sprintf("%.0f %%", 100*n)
	case unit == "nano_usd" && math.Abs(n) < 1e9:
		return fmt.Sprintf("%.4f $", n/1e9)
	case unit == "nano_usd":
		return fmt.Sprintf("%.2f $", n/1e9)
	case unit == "ms":
		return fmt.Sprintf("%.1f s", n/1000)
	}
	return fmt.Sprintf("%.0f", n)
}

func (a *app) printComparison(c *comparison) {
	fmt.Fprint(a.stdout, strings.Join(c.words(), "\n"), "\n\n")
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tCONTROL\t\tTREATED\t\tDIFFERENCE\t")
	for _, f := range c.Figures {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", title(f.figure), withInterval(f.unit, f.Control), withInterval(f.unit, f.Treated), withInterval(f.unit, f.Difference))
	}
	w.Flush()
}

// words say how the arms were compared.
func (c *comparison) words() []string {
	return []string{
		fmt.Sprintf("control group: %s in %s held out, %s in %s treated%s. Means over calls, with intervals that hold 95 times in 100.",
			count(c.Control.Calls, "call"), count(c.Control.Chains, "chain"), count(c.Treated.Calls, "call"), count(c.Treated.Chains, "chain"), changed(c.Changed)),
		"The first call of a chain is the same in both arms, and counted in both: the difference is that of whole jobs.",
	}
}

func changed(chains int64) string {
	if chains == 0 {
		return ""
	}
	return fmt.Sprintf(", %s left out that changed sides with rollout", count(chains, "chain"))
}

func title(f figure) string {
	if f.unit == "tokens" {
		return f.name + " tokens"
	}
	return f.name
}

func withInterval(unit string, e estimate) string {
	if math.IsNaN(e.Mean) {
		return "n/a\t"
	}
	return fmt.Sprintf("%s\t%s to %s", amount(unit, e.Mean), amount(unit, e.Low), amount(unit, e.High))
}

// estimateWords say how the estimate was made, or why there is none.
func (s stats) estimateWords() (words []string) {
	e := s.Saving
	if s.Arms.Control.Chains+s.Arms.Treated.Chains > 0 {
		words = append(words, fmt.Sprintf("The control group is too small to compare with: %s held out, %s treated.",
			count(s.Arms.Control.Chains, "chain"), count(s.Arms.Treated.Chains, "chain")))
	} else {
		words = append(words, "No chain was held out as a control group (rollout), so what resuming saved can only be estimated.")
	}
	if e.Resumed == 0 {
		return append(words, fmt.Sprintf("There is no estimate: no resumed call has %d fresh calls of its tool, rule and model to be set against.", minFresh))
	}
	words = append(words, fmt.Sprintf("Estimate: %s that ended well set against the mean of %s of the same tool, rule and model that ended well.",
		count(e.Resumed, "resumed call"), count(e.Fresh, "fresh call")))
	if e.ByFirst > 0 {
		words = append(words, fmt.Sprintf("For %d of them only first calls of jobs were there (%d), which as a rule cost more than later ones.", e.ByFirst, e.FirstCalls))
	}
	if e.Unlike > 0 {
		words = append(words, fmt.Sprintf("%s had too few fresh ones of their like, and count as no saving.", count(e.Unlike, "more resumed call")))
	}
	return words
}

func (a *app) printSaving(s stats) {
	e := s.Saving
	fmt.Fprintln(a.stdout, strings.Join(s.estimateWords(), "\n"))
	if e.Resumed == 0 {
		return
	}
	fmt.Fprintln(a.stdout)
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tRESUMED\tFRESH\tSAVED IN ALL")
	for _, f := range e.Figures {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", title(f.figure), amount(f.unit, f.Resumed), amount(f.unit, f.Fresh), amount(f.unit, f.Saved))
	}
	w.Flush()
}
