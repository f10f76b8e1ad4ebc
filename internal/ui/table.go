package ui

import (
	"bufio"
	"cmp"
	"fmt"
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
	folds  bool // the last column holds sentences: a narrow terminal folds them instead of cutting them
}

// NewTable returns an empty table.
func NewTable(header ...string) *Table { return &Table{Header: header} }

// NewFoldedTable returns an empty table whose last column holds sentences, which are never cut.
func NewFoldedTable(header ...string) *Table { return &Table{Header: header, folds: true} }

// Add appends a row.
func (t *Table) Add(row ...Cell) { t.rows = append(t.rows, row) }

// Print writes the table in the form that suits the screen.
func (t *Table) Print(s Screen) {
	w := bufio.NewWriterSize(s.Writer, 1<<16)
	defer w.Flush()
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

// A column is one that is shown, and its width.
type column struct{ index, width int }

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
	text := runewidth.Truncate(Printable(c.Human), width, "…")
	fill := strings.Repeat(" ", width-runewidth.StringWidth(text))
	if c.Right {
		return fill + s.Paint(c.Meaning, text)
	}
	return s.Paint(c.Meaning, text) + fill
}

// folded returns the cell's text on as many lines as it needs. All but the first are indented.
func (s Screen) folded(c Cell, width, indent int) string {
	lines := fold(Printable(c.Human), width)
	for i := range lines {
		lines[i] = s.Paint(c.Meaning, lines[i])
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", indent))
}

// fit returns the columns that are shown. If they need more than limit together, the widest
// ones become narrower, then the last ones are left out.
func (t *Table) fit(limit int) []*column {
	columns := t.filled()
	for limit > 0 && totalWidth(columns) > limit {
		widest := slices.MaxFunc(columns, func(a, b *column) int { return cmp.Compare(a.width, b.width) })
		switch {
		case widest.width > narrowest:
			widest.width--
		case len(columns) == 1 || t.folds:
			return columns
		default:
			columns = columns[:len(columns)-1]
		}
	}
	return columns
}

// filled returns the columns that hold anything, each with the width that it needs. A table
// without rows has all its columns.
func (t *Table) filled() (columns []*column) {
	for i, title := range t.Header {
		filled := len(t.rows) == 0
		width := runewidth.StringWidth(title)
		for _, row := range t.rows {
			filled = filled || row[i].Raw != ""
			width = max(width, runewidth.StringWidth(Printable(row[i].Human)))
		}
		if filled {
			columns = append(columns, &column{i, width})
		}
	}
	return columns
}

func totalWidth(columns []*column) int {
	total := -gap
	for _, c := range columns {
		total += gap + c.width
	}
	return total
}
