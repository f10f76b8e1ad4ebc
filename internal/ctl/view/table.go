package view

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// A Cell is one value of a table.
type Cell struct {
	Human string // as a terminal shows it
	Raw   string // as a program reads it
	Meaning
	Right bool // aligned right, as numbers are
	Path  bool // cut at the front, and before others: the end tells it from other paths
}

// As returns the cell with a meaning.
func (c Cell) As(m Meaning) Cell {
	c.Meaning = m
	return c
}

// A Table is rows under a header.
type Table struct {
	Header []string
	rows   [][]Cell
	// the columns that a narrow terminal leaves out first, the least important first
	spare []string
	whole string // the column that is cut only to half of the terminal
	// the last column holds sentences: a narrow terminal folds them instead of cutting them
	folds bool
}

// NewTable returns an empty table.
func NewTable(header ...string) *Table { return &Table{Header: header} }

// NewFoldedTable returns an empty table with sentences in the last column, which are never cut.
func NewFoldedTable(header ...string) *Table { return &Table{Header: header, folds: true} }

// Spare names the columns that a narrow terminal leaves out, the least important first. After them,
// and without it, the last columns go first.
func (t *Table) Spare(names ...string) *Table {
	t.spare = names
	return t
}

// Whole names the column that is not cut as long as it fits half of the terminal.
func (t *Table) Whole(name string) *Table {
	t.whole = name
	return t
}

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// First returns a table with the first rows.
func (t *Table) First(rows int) *Table {
	first := *t
	first.rows = t.rows[:rows]
	return &first
}

// Add appends a row.
func (t *Table) Add(row ...Cell) { t.rows = append(t.rows, row) }

// Print writes the table in the form that suits the screen.
func (t *Table) Print(s Screen) {
	w := bufio.NewWriterSize(s.Writer, 1<<16)
	defer func() { _ = w.Flush() }() // the screen keeps the first error
	s.Writer = w
	if s.Terminal {
		t.printAligned(s)
		return
	}
	if t.Header != nil {
		fmt.Fprintln(s, strings.Join(t.Header, "\t"))
	}
	for _, row := range t.rows {
		for i, c := range row {
			if i > 0 {
				fmt.Fprint(s, "\t")
			}
			fmt.Fprint(s, s.Paint(c.Meaning, escapeTSV(c.Raw)))
		}
		fmt.Fprintln(s)
	}
}

const (
	gap       = 2  // between columns
	narrowest = 16 // no column is cut to less
)

// A column of the table, the width, and whether it holds paths.
type column struct {
	index, width int
	least        int // it is not cut to less
	path, whole  bool
}

func (t *Table) printAligned(s Screen) {
	columns := t.fit(s.Width)
	header := make([]Cell, len(t.Header))
	for i, title := range t.Header {
		header[i] = Cell{Human: title, Meaning: Dim, Right: len(t.rows) > 0 && t.rows[0][i].Right}
	}
	t.printLine(s, columns, header)
	for _, row := range t.rows {
		t.printLine(s, columns, row)
	}
	t.printHidden(s, columns)
}

func (t *Table) printHidden(s Screen, shown []*column) {
	var hidden []string
	for _, c := range t.filled() {
		if !slices.ContainsFunc(shown, func(other *column) bool { return other.index == c.index }) {
			hidden = append(hidden, t.Header[c.index])
		}
	}
	if len(hidden) == 0 {
		return
	}
	s.Sentences("", Dim, "no room for "+strings.Join(hidden,
		", ")+": a wider terminal or a pipe shows them")
}

func (t *Table) printLine(s Screen, columns []*column, row []Cell) {
	var line strings.Builder
	indent := 0
	for n, c := range columns {
		if n > 0 {
			line.WriteString(strings.Repeat(" ", gap))
		}
		if t.folds && n == len(columns)-1 {
			line.WriteString(s.folded(row[c.index], c.width, indent))
		} else {
			line.WriteString(s.padded(row[c.index], c.width))
		}
		indent += c.width + gap
	}
	fmt.Fprintln(s, strings.TrimRight(line.String(), " "))
}

// padded returns the cell's text with exactly the given width.
func (s Screen) padded(c Cell, width int) string {
	text := Printable(c.Human)
	if over := runewidth.StringWidth(text) - width; c.Path && over > 0 {
		text = runewidth.TruncateLeft(text, over+1, "…")
	}
	text = runewidth.Truncate(text, width, "…")
	fill := strings.Repeat(" ", width-runewidth.StringWidth(text))
	if c.Right {
		return fill + s.Paint(c.Meaning, text)
	}
	return s.Paint(c.Meaning, text) + fill
}

// folded returns the cell's text on as many lines as it needs. All but the first are indented.
func (s Screen) folded(c Cell, width, indent int) string {
	lines := Mapped(fold(Printable(c.Human), width), func(line string) string {
		return s.Paint(c.Meaning, line)
	})
	return strings.Join(lines, "\n"+strings.Repeat(" ", indent))
}

// yields returns how soon a column becomes narrower, compared with others, 0 for never.
func (c *column) yields() int {
	switch {
	case c.width <= c.least:
		return 0
	case c.path:
		return math.MaxInt
	case c.whole:
		return 1
	}
	return c.width
}

// fit returns the columns that are shown. If they need more than limit together even where each is
// as narrow as it can be, the least important ones are left out; then the widest become narrower.
func (t *Table) fit(limit int) []*column {
	columns := t.filled()
	for _, c := range columns {
		c.least = narrowest
		if t.Header[c.index] == t.whole {
			c.least, c.whole = max(narrowest, limit/2), true
		}
	}
	for limit > 0 && len(columns) > 1 && !t.folds && widthOf(columns, true) > limit {
		columns = t.withoutLeast(columns)
	}
	for limit > 0 && widthOf(columns, false) > limit {
		widest := slices.MaxFunc(columns, func(a, b *column) int {
			return cmp.Compare(a.yields(), b.yields())
		})
		if widest.yields() == 0 {
			return columns
		}
		widest.width--
	}
	return columns
}

// filled returns the columns that hold anything, each with the width that it needs. A table
// without rows has all the columns.
func (t *Table) filled() (columns []*column) {
	for i, title := range t.Header {
		filled := len(t.rows) == 0
		width := runewidth.StringWidth(title)
		for _, row := range t.rows {
			filled = filled || row[i].Raw != ""
			width = max(width, runewidth.StringWidth(Printable(row[i].Human)))
		}
		if filled {
			columns = append(columns, &column{index: i, width: width,
				path: len(t.rows) > 0 && t.rows[0][i].Path})
		}
	}
	return columns
}

func (t *Table) withoutLeast(columns []*column) []*column {
	for _, name := range t.spare {
		if at := slices.IndexFunc(columns, func(c *column) bool {
			return t.Header[c.index] == name
		}); at >= 0 {
			return slices.Delete(columns, at, at+1)
		}
	}
	return columns[:len(columns)-1]
}

// widthOf returns how wide the columns are, with cut where each is as narrow as it can be.
func widthOf(columns []*column, cut bool) int {
	total := -gap
	for _, c := range columns {
		width := c.width
		if cut {
			width = min(width, c.least)
		}
		total += gap + width
	}
	return total
}
