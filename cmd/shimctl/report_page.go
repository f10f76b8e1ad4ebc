package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"reprise/internal/report"
	"reprise/internal/saving"
	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
)

// Limits of a chart's columns and of the length of a name.
const (
	mostSpans = 60
	mostName  = 100
)

const minuteFormat = "2006-01-02 15:04"

// page returns the report on what was read. With a linker it leads to other pages.
func (a *app) page(s ledger.Snapshot, period ledger.Period, r reporter, link linker) report.Page {
	p := report.Page{
		Title:    "What the shims did",
		Subtitle: subtitle(period, s.Slices),
		Footer:   a.footer(),
	}
	managed := managedOnly(s.Slices)
	if len(managed) == 0 {
		p.Empty = "No managed call has been made in this time."
		return p
	}
	var st stats
	var all bill
	for _, slice := range managed {
		st.Total.Add(slice.Sums)
		all.add(r.prices, slice)
	}
	st.Saving = saving.New(s.Slices, s.Arms, r.listPrice)
	spans := newSpans(managed, st, r)
	p.Headline = sentence(st.Headline())
	p.Facts = facts(st, all, s.Slices)
	p.Charts = charts(spans)
	linkDays(p.Charts, spans, link)
	p.Tables = a.tables(managed, st.Share(), r, link)
	p.Saved = savedTable(st)
	p.Reasons = decisions(managed, st.Total.Calls)
	p.Of = "The chains with the most calls of those that were used last."
	for _, c := range s.Chains {
		p.Chains = append(p.Chains, a.drawnChain(c, r, link))
	}
	return p
}

// sentence writes words with a capital and a full stop.
func sentence(words string) string { return strings.ToUpper(words[:1]) + words[1:] + "." }

func (a *app) footer() string {
	return fmt.Sprintf("Made by %s at %s. Days and times are in UTC.", version(), a.now.UTC().Format(minuteFormat))
}

func subtitle(p ledger.Period, slices []ledger.Slice) string {
	if len(slices) == 0 {
		return strings.TrimSpace(periodWords(p))
	}
	first, end := slices[0].Day, slices[len(slices)-1].Day
	words := day(first)
	if end > first {
		words += " to " + day(end)
	}
	if more := periodWords(p); more != "" {
		words += " (calls" + more + ")"
	}
	return words
}

// periodWords says where the period begins and ends, as in " since 2026-01-31 00:00".
func periodWords(p ledger.Period) (words string) {
	if p.Since != ledger.Always.Since {
		words += " since " + p.Since.Time().Format(minuteFormat)
	}
	if p.Until != ledger.Always.Until {
		words += " before " + p.Until.Time().Format(minuteFormat)
	}
	return words
}

func day(m decide.Millis) string { return m.Time().Format(time.DateOnly) }

func managedOnly(all []ledger.Slice) (managed []ledger.Slice) {
	for _, s := range all {
		if s.Mode == rewrite.Fresh || s.Mode.Continues() {
			managed = append(managed, s)
		}
	}
	return managed
}

// A spanOfDays is the time that one column of a chart covers.
type spanOfDays struct {
	first, last decide.Millis
	sums        ledger.Sums
	bill        bill
	saved       []float64 // by figure, NaN where that is not known
}

const dayLength = 24 * 60 * 60 * 1000

// newSpans divides the time into days, or into weeks or more if there are too many days.
func newSpans(managed []ledger.Slice, st stats, r reporter) []spanOfDays {
	first, end := managed[0].Day, managed[len(managed)-1].Day
	days := int64(end-first)/dayLength + 1
	width := int64(1)
	if days > mostSpans {
		width = (days + 7*mostSpans - 1) / (7 * mostSpans) * 7
	}
	spans := make([]spanOfDays, (days+width-1)/width)
	for i := range spans {
		from := first + decide.Millis(int64(i)*width*dayLength)
		spans[i] = spanOfDays{first: from, last: min(end, from+decide.Millis((width-1)*dayLength)), saved: make([]float64, len(saving.Figures))}
	}
	share := st.Share()
	for _, s := range managed {
		span := &spans[int64(s.Day-first)/dayLength/width]
		span.sums.Add(s.Sums)
		span.bill.add(r.prices, s)
		for i, n := range share(s) {
			span.saved[i] += n
		}
	}
	return spans
}

// drawn returns the span without its amounts.
func (s spanOfDays) drawn() report.Span {
	return report.Span{Label: s.label(), Short: s.first.Time().Format("2 Jan")}
}

func (s spanOfDays) label() string {
	if s.first == s.last {
		return day(s.first)
	}
	return day(s.first) + " to " + day(s.last)
}

// savingUnit returns the length of the spans. The last one may be shorter.
func savingUnit(spans []spanOfDays) string {
	if len(spans) == 1 {
		return "day"
	}
	switch weeks := int64(spans[1].first-spans[0].first) / dayLength / 7; weeks {
	case 0:
		return "day"
	case 1:
		return "week"
	default:
		return fmt.Sprintf("span of %d weeks", weeks)
	}
}

func facts(st stats, all bill, slices []ledger.Slice) []report.Fact {
	t := st.Total
	var observed int64
	for _, s := range slices {
		if s.Mode == rewrite.Observe {
			observed += s.Calls
		}
	}
	calls := ui.Thousands(t.Resumed) + " resumed"
	if t.Forked > 0 {
		calls += fmt.Sprintf(" (%s of them forked)", ui.Thousands(t.Forked))
	}
	calls += fmt.Sprintf(", %s fresh", ui.Thousands(t.Calls-t.Resumed))
	if observed > 0 {
		calls += fmt.Sprintf("; %s observed", ui.Thousands(observed))
	}
	tokens, about := ui.NotKnown, "no tool reported them"
	if t.Metered > 0 {
		tokens = ui.ShortNumber(t.Input + t.CacheRead + t.CacheWrite + t.Output)
		kinds := []string{ui.ShortNumber(t.Input) + " input", ui.ShortNumber(t.CacheRead) + " cache read",
			ui.ShortNumber(t.CacheWrite) + " cache write", ui.ShortNumber(t.Output) + " output"}
		about = strings.Join(append(kinds, all.uncountedWords()...), ", ")
	}
	saved := st.Summary()
	return []report.Fact{
		{Name: "saved cost", Value: savedCell("nano_usd", saved.CostNanoUSD).Human, About: saved.Words()},
		{Name: "saved tokens", Value: savedCell("tokens", saved.Tokens).Human, About: "weighted by what they cost; " + saved.Words()},
		{Name: "cost", Value: all.total.human(), About: strings.Join(all.sources(), ", ")},
		{Name: "tokens", Value: tokens, About: about},
		{Name: "from the cache", Value: ui.Amount("share", cacheRate(t)), About: "of what the models read"},
		{Name: "managed calls", Value: ui.Thousands(t.Calls), About: calls},
		{Name: "reused", Value: ui.Amount("share", reuseRate(t)), About: "ran in a session of an earlier call"},
		{Name: "ended well", Value: ui.Amount("share", rate(t.OK, t.Ended)), About: "of the calls that ended"},
	}
}

func briefly(n float64) string {
	if math.IsNaN(n) {
		return ui.NotKnown
	}
	return ui.ShortNumber(int64(n))
}

// tokenKinds are the parts of a column of tokens, from the bottom. The largest is first. Each
// has the name of its figure.
var tokenKinds = []report.Kind{
	{Name: "cache read", Class: "cache-read"},
	{Name: "cache write", Class: "cache-write"},
	{Name: "input", Class: "input"},
	{Name: "output", Class: "output"},
}

func charts(spans []spanOfDays) []report.Chart {
	unit := savingUnit(spans)
	tokens := tokenChart("Tokens by "+unit, tokenKinds, spans)
	others := tokenChart(fmt.Sprintf("Tokens by %s but for cache reads", unit), tokenKinds[1:], spans)
	others.About = "Cache reads are most of the tokens, and the cheapest: here are the others."
	money := moneyChart("Money by "+unit, spans)
	if slices.ContainsFunc(spans, spanOfDays.hasSavings) {
		for _, c := range []*report.Chart{&tokens, &others, &money} {
			c.With, c.Without = "as it was", "without resuming"
		}
		money.About = "Without resuming, a day would have taken what it took and what resuming saved."
		tokens.About = money.About
	}
	return []report.Chart{money, tokens, others, cacheChart("From the cache by "+unit, spans)}
}

// linkDays lets each column that is one day with calls lead to that day.
func linkDays(charts []report.Chart, spans []spanOfDays, link linker) {
	for _, c := range charts {
		for i, s := range spans {
			if s.first == s.last && s.sums.Calls > 0 {
				c.Spans[i].URL = link.to("", "day", day(s.first)).URL
			}
		}
	}
}

func tokenChart(title string, kinds []report.Kind, spans []spanOfDays) report.Chart {
	chart := report.Chart{Title: title, Kinds: kinds, Tick: func(n float64) string { return strings.Replace(briefly(n), ".0 ", " ", 1) }}
	for _, s := range spans {
		var with, without []report.Amount
		for _, kind := range kinds {
			used, saved := s.tokens(figureIndex(kind.Name))
			with = append(with, newAmount(used, briefly))
			without = append(without, newAmount(max(0, used+saved), briefly))
		}
		chart.Spans = append(chart.Spans, s.column(with, without, briefly))
	}
	return chart
}

func moneyChart(title string, spans []spanOfDays) report.Chart {
	chart := report.Chart{Title: title, Kinds: []report.Kind{{Name: "cost", Class: "output"}},
		Tick: moneyTick}
	for _, s := range spans {
		cost := s.bill.total
		cost.known = cost.known || s.sums.Calls == 0
		with, without := moneyAmount(cost, 0), moneyAmount(cost, s.saved[figureIndex("cost")])
		span := s.drawn()
		span.With, span.Without, span.Sum, span.Instead = []report.Amount{with}, []report.Amount{without}, with, without
		chart.Spans = append(chart.Spans, span)
	}
	return chart
}

// moneyTick writes an amount of a scale without needless zeros.
func moneyTick(nano float64) string {
	text := ui.Amount("nano_usd", nano)
	if dollars, cents, ok := strings.Cut(text, "."); ok {
		if cents = strings.TrimSuffix(cents, "00"); cents == "" {
			return dollars
		}
		return dollars + "." + cents
	}
	return text
}

func cacheChart(title string, spans []spanOfDays) report.Chart {
	percent := func(share float64) string { return ui.Amount("share", share) }
	chart := report.Chart{Title: title, About: "Of the tokens that models read, the share that came from the provider's cache.",
		Kinds: []report.Kind{{Name: "from the cache", Class: "cache-read"}}, Full: 1, Tick: percent}
	for _, s := range spans {
		share := cacheRate(ledger.Group{Sums: s.sums})
		chart.Spans = append(chart.Spans, s.column([]report.Amount{newAmount(share, percent)}, nil, percent))
	}
	return chart
}

func (s spanOfDays) hasSavings() bool {
	return slices.ContainsFunc(s.saved, func(n float64) bool { return n != 0 })
}

// tokens returns the tokens of a figure that were used, and those that resuming saved. What
// was used is NaN if no call reported it.
func (s spanOfDays) tokens(figure int) (used, saved float64) {
	r := saving.Figures[figure].Of(s.sums)
	if r.N == 0 && s.sums.Calls > 0 {
		return math.NaN(), s.saved[figure]
	}
	return r.Sum, s.saved[figure]
}

// column returns the span as a column of a chart, whose sums are written like its parts.
func (s spanOfDays) column(with, without []report.Amount, text func(float64) string) report.Span {
	sum := func(amounts []report.Amount) report.Amount {
		total := 0.0
		for _, a := range amounts {
			total += a.N
		}
		return newAmount(total, text)
	}
	span := s.drawn()
	span.With, span.Without, span.Sum, span.Instead = with, without, sum(with), sum(without)
	return span
}

// moneyAmount returns a cost that is higher by more nano-dollars.
func moneyAmount(cost sum, more float64) report.Amount {
	if !cost.known || math.IsNaN(more) {
		return report.Amount{N: math.NaN(), Text: ui.NotKnown}
	}
	cost.nano, cost.most = max(0, cost.nano+int64(more)), max(0, cost.most+int64(more))
	return report.Amount{N: float64(cost.nano), Text: cost.human()}
}

func figureIndex(name string) int {
	return slices.IndexFunc(saving.Figures, func(f saving.Figure) bool { return f.Name == name })
}

func newAmount(n float64, text func(float64) string) report.Amount {
	return report.Amount{N: n, Text: text(n)}
}

// savedTable returns the table of what resuming saved, which stats prints too.
func savedTable(st stats) report.Saved {
	if c := st.Comparison; c != nil {
		saved := report.Saved{Drawn: true,
			Words: append(comparisonWords(c), "The changes are drawn from -100 % on the left to +100 % on the right."),
			Head:  []string{"mean per call", "change", "control", "treated", "difference"}}
		for _, f := range c.Figures {
			whole := f.Control.Mean
			row := report.Row{Name: f.Title(), Change: ui.Amount("share", f.Difference.Mean/whole),
				Cells: []report.Cell{newCell(f.Unit, f.Control), newCell(f.Unit, f.Treated), newCell(f.Unit, f.Difference)}}
			if !math.IsNaN(f.Difference.Mean) && whole > 0 {
				row.Interval = &report.Interval{Low: f.Difference.Low / whole, Mean: f.Difference.Mean / whole, High: f.Difference.High / whole}
			}
			saved.Rows = append(saved.Rows, row)
		}
		return saved
	}
	saved := report.Saved{Words: st.estimateWords()}
	if st.Estimate.Resumed > 0 {
		saved.Head = []string{"mean per call", "resumed", "fresh", "saved in all"}
		for _, f := range st.Estimate.Figures {
			saved.Rows = append(saved.Rows, report.Row{Name: f.Title(),
				Cells: []report.Cell{{Text: ui.Amount(f.Unit, f.Resumed)}, {Text: ui.Amount(f.Unit, f.Fresh)}, {Text: ui.Amount(f.Unit, f.Saved)}}})
		}
	}
	return saved
}

func newCell(unit string, e saving.Mean) report.Cell {
	if math.IsNaN(e.Mean) {
		return report.Cell{Text: ui.Amount(unit, e.Mean)}
	}
	return report.Cell{Text: ui.Amount(unit, e.Mean), Range: ui.Amount(unit, e.Low) + " to " + ui.Amount(unit, e.High)}
}

// decisions counts the calls by decision and reason.
func decisions(managed []ledger.Slice, all int64) (list []report.Bar) {
	at := map[string]int{}
	for _, s := range managed {
		reason, class := s.Reason, "fresh"
		switch {
		case s.FellBack != "":
			reason, class = s.FellBack, "fell"
		case s.Mode.Continues():
			class = "resume"
		}
		name := fmt.Sprintf("%s: %s", s.Mode, reason)
		i, ok := at[name]
		if !ok {
			i = len(list)
			at[name] = i
			list = append(list, report.Bar{Name: name, About: meaning(reason), Class: class})
		}
		list[i].Count += s.Calls
	}
	slices.SortFunc(list, func(a, b report.Bar) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
	})
	for i := range list {
		list[i].Text = fmt.Sprintf("%s, %s", ui.Thousands(list[i].Count), ui.Amount("share", rate(list[i].Count, all)))
	}
	return list
}
