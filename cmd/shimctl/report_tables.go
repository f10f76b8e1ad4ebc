package main

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strings"

	"reprise/internal/report"
	"reprise/internal/ui"
	"reprise/ledger"
)

// mostRows limits a table of the report. The last row sums up the others.
const mostRows = 16

// A linker returns the address of the page on one thing of a kind: day, chain or call. It is nil in a
// file, which has no other pages.
type linker func(kind, name string) string

// to returns a text that leads to a page, if there are other pages.
func (l linker) to(text, kind, name string) report.Link {
	if l == nil {
		return report.Link{Text: text}
	}
	return report.Link{Text: text, URL: l(kind, name)}
}

// pathTo returns a linker to the pages below a path, which ends in a slash.
func pathTo(base string) linker {
	return func(kind, name string) string { return base + kind + "/" + url.PathEscape(name) }
}

// A grouping is a table of the report: slices by one of their properties.
type grouping struct {
	title, column, none string
	key                 func(ledger.Slice) string
}

// tables returns a table for each property that distinguishes the calls.
func (a *app) tables(managed []ledger.Slice, share func(ledger.Slice) []float64, r reporter) (list []report.Table) {
	for _, g := range []grouping{
		{"By project", "directory", "", func(s ledger.Slice) string { return a.tilde(keyName(s.Cwd)) }},
		{"By tool", "tool", "", func(s ledger.Slice) string { return s.Tool }},
		{"By model", "model", "not known", func(s ledger.Slice) string { return s.Model }},
		{"By task", "task", "without a task", func(s ledger.Slice) string { return keyName(s.Task) }},
	} {
		if table := g.table(managed, share, r); len(table.Rows) > 0 {
			list = append(list, table)
		}
	}
	return list
}

// otherNames is the name of the last row of a table.
const otherNames = "all others"

// keyName returns the name of a directory or a task of a slice.
func keyName(key string) string {
	if key == ledger.OtherKeys {
		return otherNames
	}
	return key
}

// A groupSum is a row of such a table.
type groupSum struct {
	name    string
	calls   ledger.Group
	bill    bill
	saved   float64 // nano-dollars
	compare bool    // whether saved is known
}

func (g grouping) table(managed []ledger.Slice, share func(ledger.Slice) []float64, r reporter) report.Table {
	t := report.Table{Title: g.title, Head: []string{g.column, "saved", "cost", "calls", "resumed", "tokens"}}
	rows := g.sums(managed, share, r)
	if len(rows) == 1 && rows[0].name == g.none {
		return t // no call has the property
	}
	for n, row := range rows {
		if n == mostRows-1 && len(rows) > mostRows {
			rest := groupSum{name: otherNames}
			for _, more := range rows[n:] {
				rest.add(more)
			}
			row = rest
		}
		if n < mostRows {
			t.Rows = append(t.Rows, row.drawn())
		}
	}
	return t
}

// sums adds up the managed calls by key, those that saved most first.
func (g grouping) sums(managed []ledger.Slice, share func(ledger.Slice) []float64, r reporter) (rows []groupSum) {
	cost := figureIndex("cost")
	at := map[string]int{}
	for _, s := range managed {
		name := cmp.Or(g.key(s), g.none)
		i, ok := at[name]
		if !ok {
			i = len(rows)
			at[name] = i
			rows = append(rows, groupSum{name: name})
		}
		rows[i].calls.Add(s.Sums)
		rows[i].bill.add(r.prices, s)
		if saved := share(s)[cost]; saved != 0 && !math.IsNaN(saved) {
			rows[i].saved += saved
			rows[i].compare = true
		}
	}
	others := func(g groupSum) int {
		if g.name == otherNames {
			return 1
		}
		return 0
	}
	slices.SortFunc(rows, func(a, b groupSum) int {
		return cmp.Or(cmp.Compare(others(a), others(b)), cmp.Compare(b.saved, a.saved), cmp.Compare(b.calls.Calls, a.calls.Calls), strings.Compare(a.name, b.name))
	})
	return rows
}

func (g *groupSum) add(more groupSum) {
	g.calls.Add(more.calls.Sums)
	g.bill.total = g.bill.total.plus(more.bill.total)
	g.saved += more.saved
	g.compare = g.compare || more.compare
}

func (g groupSum) drawn() report.TableRow {
	tokens, saved := ui.NotKnown, ui.NotKnown
	if t := g.calls; t.Metered > 0 {
		tokens = ui.ShortNumber(t.Input + t.CacheRead + t.CacheWrite + t.Output)
	}
	if g.compare {
		saved = ui.Amount("nano_usd", g.saved)
	}
	row := report.TableRow{Name: report.Link{Text: cut(g.name)}}
	for _, text := range []string{saved, g.bill.total.human(), ui.Thousands(g.calls.Calls), ui.Amount("share", reuseRate(g.calls)), tokens} {
		row.Cells = append(row.Cells, report.Link{Text: text})
	}
	return row
}
