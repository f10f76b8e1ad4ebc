package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/report/draw"
	"reprise/internal/ctl/saving"
	"reprise/internal/ctl/view"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite"
)

// mostSpans limits the columns of a chart.
const mostSpans = 60

// newPage returns the report on what was read. With a linker it leads to other pages.
func newPage(a *app.App, s history.Snapshot, period history.Period, r view.Reporter, link linker) draw.Page {
	p := draw.Page{
		Title:    "What the shims did",
		Subtitle: subtitle(period, s.Slices),
		Footer:   footer(a),
	}
	managed := managedOnly(s.Slices)
	if len(managed) == 0 {
		p.Empty = "No managed call has been made in this time."
		return p
	}
	var total history.Group
	var all view.Bill
	for _, slice := range managed {
		total.Add(slice.Sums)
		all.Add(r.Prices, slice)
	}
	saved := saving.New(s.Slices, s.Peers, s.Arms, r.ListPrice)
	spans, unit := newSpans(managed, saved, r)
	p.Headline = view.Sentence(saved.Headline())
	p.Facts = facts(total, saved.Summary(), all, s.Slices)
	p.Charts = charts(spans, unit)
	nameSpans(p.Charts, spans, link)
	p.Tables = tables(a, managed, saved.Share(), r, link)
	p.Saved = savedTable(saved)
	p.Reasons = decisions(managed, total.Calls)
	p.Of = "The chains with the most calls of those that were used last."
	p.Chains = view.Mapped(s.Chains, func(c history.ChainCalls) draw.Chain { return drawnChain(a, c, r, link) })
	return p
}

func footer(a *app.App) string {
	return fmt.Sprintf("Made by %s at %s. Days and times are in UTC.", app.Version(), a.Now.UTC().Format(view.MinuteFormat))
}

func subtitle(p history.Period, slices []history.Slice) string {
	if len(slices) == 0 {
		return strings.TrimSpace(app.PeriodWords(p))
	}
	first, end := slices[0].Day, slices[len(slices)-1].Day
	words := day(first)
	if end > first {
		words += " to " + day(end)
	}
	if more := app.PeriodWords(p); more != "" {
		words += " (calls" + more + ")"
	}
	return words
}

func day(m decide.Millis) string { return m.Time().Format(time.DateOnly) }

func managedOnly(all []history.Slice) []history.Slice {
	return slices.DeleteFunc(slices.Clone(all), func(s history.Slice) bool { return !s.Managed() })
}

// A spanOfDays is the time that one column of a chart covers.
type spanOfDays struct {
	first, last decide.Millis
	sums        history.Sums
	bill        view.Bill
	saved       []float64 // by figure
}

const dayLength = 24 * 60 * 60 * 1000

// newSpans divides the time into days, or into weeks or more if there are too many days. unit is a span's length; the last one may be
// shorter.
func newSpans(managed []history.Slice, saved saving.Saving, r view.Reporter) (spans []spanOfDays, unit string) {
	first, end := managed[0].Day, managed[len(managed)-1].Day
	days := int64(end-first)/dayLength + 1
	width, unit := int64(1), "day"
	if days > mostSpans {
		weeks := (days + 7*mostSpans - 1) / (7 * mostSpans)
		if width, unit = 7*weeks, "week"; weeks > 1 {
			unit = fmt.Sprintf("span of %d weeks", weeks)
		}
	}
	spans = make([]spanOfDays, (days+width-1)/width)
	for i := range spans {
		from := first + decide.Millis(int64(i)*width*dayLength)
		spans[i] = spanOfDays{first: from, last: min(end, from+decide.Millis((width-1)*dayLength)), saved: make([]float64, len(saving.Figures))}
	}
	share := saved.Share()
	for _, s := range managed {
		span := &spans[int64(s.Day-first)/dayLength/width]
		span.sums.Add(s.Sums)
		span.bill.Add(r.Prices, s)
		for i, n := range share(s) {
			span.saved[i] += n
		}
	}
	return spans, unit
}

func (s spanOfDays) label() string {
	if s.first == s.last {
		return day(s.first)
	}
	return day(s.first) + " to " + day(s.last)
}

func facts(t history.Group, saved saving.Summary, all view.Bill, slices []history.Slice) []draw.Fact {
	count := map[rewrite.Mode]int64{}
	for _, s := range slices {
		count[s.Mode] += s.Calls
	}
	calls := view.Thousands(t.Resumed) + " resumed"
	if t.Forked > 0 {
		calls += fmt.Sprintf(" (%s of them forked)", view.Thousands(t.Forked))
	}
	calls += fmt.Sprintf(", %s fresh", view.Thousands(t.Calls-t.Resumed))
	if n := count[rewrite.Observe]; n > 0 {
		calls += fmt.Sprintf("; %s observed", view.Thousands(n))
	}
	tokens, about := view.NotKnown, "no tool reported them"
	if t.Metered > 0 {
		tokens = view.ShortNumber(t.Input + t.CacheRead + t.CacheWrite + t.Output)
		kinds := []string{view.ShortNumber(t.Input) + " input", view.ShortNumber(t.CacheRead) + " cache read",
			view.ShortNumber(t.CacheWrite) + " cache write", view.ShortNumber(t.Output) + " output"}
		about = strings.Join(append(kinds, all.UncountedWords()...), ", ")
	}
	return []draw.Fact{
		{Name: "saved cost", Value: view.AmountCell("nano_usd", saved.CostNanoUSD).Human, About: saved.Words()},
		{Name: "saved tokens", Value: view.AmountCell("tokens", saved.Tokens).Human, About: "weighted by what they cost; " + saved.Words()},
		{Name: "cost", Value: all.Total.Human(), About: strings.Join(all.Sources(), ", ")},
		{Name: "tokens", Value: tokens, About: about},
		{Name: "from the cache", Value: view.Amount("share", view.CacheRate(t)), About: "of what the models read"},
		{Name: "managed calls", Value: view.Thousands(t.Calls), About: calls},
		{Name: "reused", Value: view.Amount("share", view.ReuseRate(t)), About: "ran in a session of an earlier call"},
		{Name: "ended well", Value: view.Amount("share", view.Rate(t.OK, t.Ended)), About: "of the calls that ended"},
	}
}

func briefly(n float64) string {
	if math.IsNaN(n) {
		return view.NotKnown
	}
	return view.ShortNumber(int64(n))
}

// tokenKinds are the parts of a column of tokens, from the bottom. The largest is first. Each
// has the name of its figure of tokens.
var tokenKinds = []draw.Kind{
	{Name: "cache read", Class: "cache-read"},
	{Name: "cache write", Class: "cache-write"},
	{Name: "input", Class: "input"},
	{Name: "output", Class: "output"},
}

func charts(spans []spanOfDays, unit string) []draw.Chart {
	tokens := tokenChart("Tokens by "+unit, tokenKinds, spans)
	others := tokenChart(fmt.Sprintf("Tokens by %s but for cache reads", unit), tokenKinds[1:], spans)
	others.About = "Cache reads are most of the tokens, and the cheapest: here are the others."
	money := moneyChart("Money by "+unit, spans)
	if slices.ContainsFunc(spans, spanOfDays.hasSavings) {
		for _, c := range []*draw.Chart{&tokens, &others, &money} {
			c.With, c.Without = "as it was", "without resuming"
		}
		money.About = "Without resuming, a day would have taken what it took and what resuming saved."
		tokens.About = money.About
	}
	return []draw.Chart{money, tokens, others, cacheChart("From the cache by "+unit, spans)}
}

// nameSpans names the columns, and lets each one that is one day with calls lead to that day.
func nameSpans(charts []draw.Chart, spans []spanOfDays, link linker) {
	for _, c := range charts {
		for i, s := range spans {
			c.Spans[i].Label, c.Spans[i].Short = s.label(), s.first.Time().Format("2 Jan")
			if s.first == s.last && s.sums.Calls > 0 {
				c.Spans[i].URL = link.to("", "day", day(s.first)).URL
			}
		}
	}
}

func tokenChart(title string, kinds []draw.Kind, spans []spanOfDays) draw.Chart {
	columns := view.Mapped(spans, func(s spanOfDays) draw.Span {
		var with, without []draw.Amount
		for _, kind := range kinds {
			figure := figureIndex(kind.Name + " tokens")
			used := saving.Figures[figure].Of(s.sums)
			if used.N == 0 && s.sums.Calls > 0 {
				used.Sum = math.NaN() // no call reported it
			}
			with = append(with, newAmount(used.Sum, briefly))
			without = append(without, newAmount(max(0, used.Sum+s.saved[figure]), briefly))
		}
		return draw.Span{With: with, Without: without, Sum: sumOf(with), Instead: sumOf(without)}
	})
	return draw.Chart{Title: title, Kinds: kinds, Spans: columns, Tick: func(n float64) string { return strings.Replace(briefly(n), ".0 ", " ", 1) }}
}

func moneyChart(title string, spans []spanOfDays) draw.Chart {
	columns := view.Mapped(spans, func(s spanOfDays) draw.Span {
		cost := s.bill.Total
		cost.Known = cost.Known || s.sums.Calls == 0
		with, without := moneyAmount(cost, 0), moneyAmount(cost, s.saved[figureIndex("cost")])
		return draw.Span{With: []draw.Amount{with}, Without: []draw.Amount{without}, Sum: with, Instead: without}
	})
	return draw.Chart{Title: title, Kinds: []draw.Kind{{Name: "cost", Class: "output"}}, Spans: columns, Tick: moneyTick}
}

// moneyTick writes an amount of a scale without needless zeros.
func moneyTick(nano float64) string {
	text := view.Amount("nano_usd", view.Number(nano))
	if dollars, cents, ok := strings.Cut(text, "."); ok {
		if cents = strings.TrimSuffix(cents, "00"); cents == "" {
			return dollars
		}
		return dollars + "." + cents
	}
	return text
}

func cacheChart(title string, spans []spanOfDays) draw.Chart {
	percent := func(share float64) string { return view.Amount("share", view.Number(share)) }
	columns := view.Mapped(spans, func(s spanOfDays) draw.Span {
		share := newAmount(float64(view.CacheRate(history.Group{Sums: s.sums})), percent)
		return draw.Span{With: []draw.Amount{share}, Sum: share}
	})
	return draw.Chart{Title: title, About: "Of the tokens that models read, the share that came from the provider's cache.",
		Kinds: []draw.Kind{{Name: "from the cache", Class: "cache-read"}}, Spans: columns, Full: 1, Tick: percent}
}

func (s spanOfDays) hasSavings() bool {
	return slices.ContainsFunc(s.saved, func(n float64) bool { return n != 0 })
}

// sumOf adds up the parts of a column of tokens.
func sumOf(amounts []draw.Amount) draw.Amount {
	total := 0.0
	for _, a := range amounts {
		total += a.N
	}
	return newAmount(total, briefly)
}

// moneyAmount returns a cost that is higher by more nano-dollars.
func moneyAmount(cost view.Sum, more float64) draw.Amount {
	if !cost.Known {
		return draw.Amount{N: math.NaN(), Text: view.NotKnown}
	}
	cost.Nano, cost.Most = max(0, cost.Nano+int64(more)), max(0, cost.Most+int64(more))
	return draw.Amount{N: float64(cost.Nano), Text: cost.Human()}
}

func figureIndex(title string) int {
	return slices.IndexFunc(saving.Figures, func(f saving.Figure) bool { return f.Title() == title })
}

func newAmount(n float64, text func(float64) string) draw.Amount {
	return draw.Amount{N: n, Text: text(n)}
}

// savedTable returns the table of what resuming saved, which stats prints too.
func savedTable(st saving.Saving) draw.Saved {
	if c := st.Comparison; c != nil {
		saved := draw.Saved{Drawn: true,
			Words: slices.Concat(c.Method(), []string{"The changes are drawn from -100 % on the left to +100 % on the right."}, st.Method()),
			Head:  []string{"mean per call", "change", "control", "treated", "difference"}}
		for _, f := range c.Figures {
			whole := f.Control.Mean
			row := draw.Row{Name: f.Title(), Change: view.Amount("share", f.Difference.Mean/whole),
				Cells: []draw.Cell{newCell(f.Unit, f.Control), newCell(f.Unit, f.Treated), newCell(f.Unit, f.Difference)}}
			if f.Difference.Mean.Known() && whole > 0 {
				row.Interval = &draw.Interval{Low: float64(f.Difference.Low / whole), Mean: float64(f.Difference.Mean / whole), High: float64(f.Difference.High / whole)}
			}
			saved.Rows = append(saved.Rows, row)
		}
		return saved
	}
	saved := draw.Saved{Words: st.Method()}
	if st.Estimate.Resumed > 0 {
		saved.Head = []string{"mean per call", "resumed", "fresh", "saved in all"}
		saved.Rows = view.Mapped(st.Estimate.Figures, func(f saving.SavedFigure) draw.Row {
			return draw.Row{Name: f.Title(),
				Cells: []draw.Cell{{Text: view.Amount(f.Unit, f.Resumed)}, {Text: view.Amount(f.Unit, f.Fresh)}, {Text: view.Amount(f.Unit, f.Saved)}}}
		})
	}
	return saved
}

func newCell(unit string, e saving.Mean) draw.Cell {
	if !e.Mean.Known() {
		return draw.Cell{Text: view.Amount(unit, e.Mean)}
	}
	return draw.Cell{Text: view.Amount(unit, e.Mean), Range: view.Amount(unit, e.Low) + " to " + view.Amount(unit, e.High)}
}

// decisions counts the calls by decision and reason.
func decisions(managed []history.Slice, all int64) (list []draw.Bar) {
	bars := map[string]draw.Bar{}
	for _, s := range managed {
		reason, class := s.Reason, "fresh"
		switch {
		case s.FellBack != "":
			reason, class = s.FellBack, "fell"
		case s.Mode.Continues():
			class = "resume"
		}
		name := fmt.Sprintf("%s: %s", s.Mode, reason)
		bar, ok := bars[name]
		if !ok {
			bar = draw.Bar{Name: name, About: view.MeaningOf(reason), Class: class}
		}
		bar.Count += s.Calls
		bars[name] = bar
	}
	list = slices.SortedFunc(maps.Values(bars), func(a, b draw.Bar) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
	})
	for i := range list {
		list[i].Text = fmt.Sprintf("%s, %s", view.Thousands(list[i].Count), view.Amount("share", view.Rate(list[i].Count, all)))
	}
	return list
}
