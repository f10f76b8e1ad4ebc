package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/report/draw"
	"reprise/internal/ctl/saving"
	"reprise/internal/ctl/view"
	"reprise/ledger/history"
	"reprise/rewrite"
)

// mostRows limits a table of the report. The last row sums up the others, if there are several. So many keys are told apart.
const mostRows = 16

// A linker makes links to the other pages of a server. The zero value is for a file, which has none.
type linker struct {
	base  string // path of all pages, with a slash at its end
	since string // since when the overview shows calls
}

// to returns a text that leads to the page on one thing of a kind: day, chain or call.
func (l linker) to(text, kind, name string) draw.Link {
	if l.base == "" {
		return draw.Link{Text: text}
	}
	return draw.Link{Text: text, URL: l.base + kind + "/" + url.PathEscape(name)}
}

// only returns a text that leads to an overview of the calls that a filter selects.
func (l linker) only(text, filter, value string) draw.Link {
	if l.base == "" || filter == "" || value == "" || value == history.OtherKeys {
		return draw.Link{Text: text}
	}
	return draw.Link{Text: text, URL: l.base + "?" + url.Values{"since": {l.since}, filter: {value}}.Encode()}
}

// A grouping is a table of the report: the calls by one of their properties.
type grouping struct {
	title, column string
	none          string // the name of the calls without the property
	filter        string // that selects by it, "" if there is none
	key           func(history.Slice) string
}

var groupings = []grouping{
	{"By project", "directory", "", "directory", func(s history.Slice) string { return s.Cwd }},
	{"By tool", "tool", "", "tool", func(s history.Slice) string { return s.Tool }},
	{"By model", "model", "not known", "", func(s history.Slice) string { return s.Model }},
	{"By task", "task", "without a task", "task", func(s history.Slice) string { return s.Task }},
}

// tables returns a table for each property that distinguishes the calls.
func tables(a *app.App, managed []history.Slice, share saving.Share, r view.Reporter, link linker) (list []draw.Table) {
	for _, g := range groupings {
		if table := g.table(g.sums(managed, share, r), a.Tilde, link); len(table.Rows) > 0 {
			list = append(list, table)
		}
	}
	return list
}

// A groupSum is a row of such a table.
type groupSum struct {
	key     string
	calls   history.Group
	bill    view.Bill
	saved   float64 // nano-dollars
	compare bool    // whether saved is known
}

// table draws the rows; path writes a directory for people.
func (g grouping) table(rows []groupSum, path func(string) string, link linker) draw.Table {
	t := draw.Table{Title: g.title, Head: []string{g.column, "cost", "saved", "calls", "resumed", "tokens"}}
	if len(rows) == 1 && rows[0].key == "" {
		return t // no call has the property
	}
	if len(rows) > mostRows {
		rest := groupSum{key: history.OtherKeys}
		for _, more := range rows[mostRows-1:] {
			rest.calls.Add(more.calls.Sums)
			rest.bill.Total = rest.bill.Total.Plus(more.bill.Total)
			rest.saved += more.saved
			rest.compare = rest.compare || more.compare
		}
		rows = append(rows[:mostRows-1], rest)
	}
	for _, row := range rows {
		name := cmp.Or(path(row.key), g.none)
		if row.key == history.OtherKeys {
			name = view.AllOthers
		}
		t.Rows = append(t.Rows, row.drawn(link.only(view.Cut(name), g.filter, row.key)))
	}
	return t
}

// sums adds up the managed calls by key, the dearest first.
func (g grouping) sums(managed []history.Slice, share saving.Share, r view.Reporter) []groupSum {
	cost := figureIndex(saving.Cost)
	sums := map[string]groupSum{}
	for _, s := range managed {
		row := sums[g.key(s)]
		row.key = g.key(s)
		row.calls.Add(s.Sums)
		row.bill.Add(r.Prices, s)
		if saved := share(s)[cost]; saved != 0 {
			row.saved += saved
			row.compare = true
		}
		sums[row.key] = row
	}
	others := func(g groupSum) int {
		if g.key == history.OtherKeys {
			return 1
		}
		return 0
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b groupSum) int {
		return cmp.Or(cmp.Compare(others(a), others(b)), cmp.Compare(b.bill.Total.Nano, a.bill.Total.Nano), cmp.Compare(b.calls.Calls, a.calls.Calls), strings.Compare(a.key, b.key))
	})
}

func (g groupSum) drawn(name draw.Link) draw.TableRow {
	tokens, saved := view.NotKnown, view.NotKnown
	if t := g.calls; t.Metered > 0 {
		tokens = view.ShortNumber(t.Input + t.CacheRead + t.CacheWrite + t.Output)
	}
	if g.compare {
		saved = view.Amount("nano_usd", view.Number(g.saved))
	}
	return draw.TableRow{Name: name,
		Cells: cells(g.bill.Total.Human(), saved, view.Thousands(g.calls.Calls), view.Amount("share", view.ReuseRate(g.calls)), tokens)}
}

// cells returns cells that lead nowhere.
func cells(list ...string) []draw.Link {
	return view.Mapped(list, func(text string) draw.Link { return draw.Link{Text: text} })
}

func drawnChain(a *app.App, c history.ChainCalls, r view.Reporter, link linker) draw.Chain {
	drawn := draw.Chain{Name: link.to(view.ChainName(c.Task, c.Role, c.Cwd, c.Created), "chain", fmt.Sprint(c.ID)),
		About: fmt.Sprintf("chain %d, %s in %s", c.ID, c.Tool, view.Cut(a.Tilde(c.Cwd)))}
	drawn.Summary = fmt.Sprintf("%s, %s resumed; last used %s",
		view.Count(int64(c.Calls), "call"), view.Thousands(int64(c.Resumed)), c.Updated.Time().Format(view.MinuteFormat))
	if n := len(c.Latest); n < c.Calls {
		drawn.Summary += fmt.Sprintf("; the latest %d are drawn", n)
	}
	for _, i := range c.Latest {
		call := draw.Call{Start: float64(i.Started), Duration: math.NaN(), Class: "other", Failed: i.Outcome != "ok" && i.Outcome != "",
			URL: link.to("", "call", fmt.Sprint(i.ID)).URL}
		words := []string{i.Started.Time().Format(time.DateTime) + " " + view.Decision(i), cmp.Or(i.Outcome, "running")}
		switch {
		case i.FellBack != "":
			call.Class = "fell"
		case i.Mode.Continues():
			call.Class = "resume"
		case i.Mode == rewrite.Fresh:
			call.Class = "fresh"
		}
		if i.Duration.Valid {
			call.Duration = float64(i.Duration.Int64)
		}
		words = append(words, view.DurationCell(i.Duration.NullInt64).Human, fmt.Sprintf("prompt %s, sent %s", view.Size(i.PromptBytes), view.Size(i.SentBytes)))
		words = append(words, view.CallCost(r.Prices, i).Human())
		call.Text = strings.Join(words, ", ")
		drawn.Calls = append(drawn.Calls, call)
	}
	return drawn
}
