package view

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
)

// A Cell is one value of a table.
type Cell struct {
	Human string // as a terminal shows it
	Raw   string // as a program reads it
	Right bool   // aligned right, as numbers are
}

// A Table is rows under a header.
type Table struct {
	header []string
	rows   [][]Cell
	// the last column holds sentences: a narrow terminal folds them instead of cutting them
	folds bool
}

// NewTable returns an empty table. A narrow terminal cuts the lines: the most important columns
// come first.
func NewTable(header ...string) *Table { return &Table{header: header} }

// NewFoldedTable returns an empty table with sentences in the last column, which are never cut.
func NewFoldedTable(header ...string) *Table { return &Table{header: header, folds: true} }

// Add appends a row.
func (t *Table) Add(row ...Cell) { t.rows = append(t.rows, row) }

// Print writes the table in the form that suits the screen.
func (t *Table) Print(s Screen) {
	w := bufio.NewWriterSize(s.Writer, 1<<16)
	defer func() { _ = w.Flush() }() // the screen keeps the first error
	if s.Terminal {
		for _, line := range t.aligned(s) {
			fmt.Fprintln(w, line)
		}
		return
	}
	fmt.Fprintln(w, strings.Join(t.header, "\t"))
	for _, row := range t.rows {
		fmt.Fprintln(w, strings.Join(Mapped(row, func(c Cell) string {
			return Printable(strings.ReplaceAll(c.Raw, `\`, `\\`))
		}), "\t"))
	}
}

const gap = "  " // between columns

// aligned returns the lines of the table, as wide as the screen at most.
func (t *Table) aligned(s Screen) (lines []string) {
	header := make([]Cell, len(t.header))
	for i, title := range t.header {
		header[i] = Cell{Human: title, Right: len(t.rows) > 0 && t.rows[0][i].Right}
	}
	widths := t.widths()
	total := 0
	for _, width := range widths {
		total += width + len(gap)
	}
	for i := range widths[:len(widths)-1] {
		if s.Width > 0 && total > s.Width { // a long name leaves room for the columns after it
			widths[i] = min(widths[i], s.Width/3+1)
		}
	}
	for _, row := range append([][]Cell{header}, t.rows...) {
		line := ""
		for i, c := range row {
			text := Printable(c.Human)
			cut := runewidth.Truncate(text, widths[i], ">")
			switch {
			case widths[i] == 0:
				continue
			case t.folds && i == len(row)-1:
				text = s.Indented(text, runewidth.StringWidth(line))
			case c.Right:
				text = runewidth.FillLeft(cut, widths[i])
			default:
				text = runewidth.FillRight(cut, widths[i])
			}
			line += text + gap
		}
		if line = strings.TrimRight(line, " "); s.Width > 0 && !t.folds {
			line = runewidth.Truncate(line, s.Width, ">")
		}
		lines = append(lines, line)
	}
	return lines
}

// widths returns the widths of the columns. A column without any value has none.
func (t *Table) widths() []int {
	widths := make([]int, len(t.header))
	for i, title := range t.header {
		filled := len(t.rows) == 0
		for _, row := range t.rows {
			filled = filled || OrDash(row[i].Human) != "-"
			widths[i] = max(widths[i], runewidth.StringWidth(Printable(row[i].Human)))
		}
		if widths[i] = max(widths[i], runewidth.StringWidth(title)); !filled {
			widths[i] = 0
		}
	}
	return widths
}
