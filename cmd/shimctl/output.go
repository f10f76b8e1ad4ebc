package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
	"github.com/mattn/go-runewidth"
	"golang.org/x/sys/unix"
)

// What every command prints goes by the same rules. On a terminal: tables are aligned and
// cut to its width, times are relative, colours say what a value means. Elsewhere: a table
// is TSV with a header line, times are RFC 3339, numbers are plain, nothing is cut.

// A meaning is what a colour stands for.
type meaning string

// The meanings, as the colours (SGR) that stand for them.
const (
	plain  meaning = ""
	good   meaning = "32" // resumed, in order
	warn   meaning = "33" // worth a look
	bad    meaning = "31" // failed
	dim    meaning = "2"  // beside the point
	strong meaning = "1"  // a heading
)

// A screen is where people or programs read what a command prints.
type screen struct {
	io.Writer
	terminal bool
	width    int // in columns, 0 for no limit
	colours  bool
}

func newScreen(f *os.File) screen {
	s := screen{Writer: f, terminal: isatty.IsTerminal(f.Fd())}
	if s.terminal {
		if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil {
			s.width = int(size.Col)
		}
	}
	return s
}

// A colourChoice is the value of --color.
type colourChoice string

func (c *colourChoice) String() string { return string(*c) }
func (c *colourChoice) Type() string   { return "WHEN" }
func (c *colourChoice) Set(text string) error {
	switch text {
	case "auto", "always", "never":
		*c = colourChoice(text)
		return nil
	}
	return fmt.Errorf("it is auto, always or never")
}

// setColours settles whether there are colours: --color, then NO_COLOR, then whether
// stdout is a terminal that has some.
func (a *app) setColours(choice colourChoice) {
	switch choice {
	case "always":
		a.stdout.colours = true
	case "never":
		a.stdout.colours = false
	default:
		a.stdout.colours = a.stdout.terminal && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
	}
}

func (s screen) paint(m meaning, text string) string {
	if !s.colours || m == plain || text == "" {
		return text
	}
	return "\x1b[" + string(m) + "m" + text + "\x1b[0m"
}

// A cell is one value of a table.
type cell struct {
	human string // as a terminal shows it
	raw   string // as a program reads it
	meaning
	right bool // numbers are flush right
}

// A table is rows under a header.
type table struct {
	header []string
	rows   [][]cell
	folds  bool // the last column holds sentences: a narrow terminal has them folded, not cut
}

func newTable(header ...string) *table { return &table{header: header} }

func newFoldedTable(header ...string) *table { return &table{header: header, folds: true} }

func (t *table) add(row ...cell) { t.rows = append(t.rows, row) }

// print writes the table as the screen wants it.
func (t *table) print(s screen) {
	w := bufio.NewWriterSize(s.Writer, 1<<16)
	defer w.Flush()
	s.Writer = w
	if s.terminal {
		t.align(s)
		return
	}
	if t.header != nil {
		fmt.Fprintln(s, strings.Join(t.header, "\t"))
	}
	for _, row := range t.rows {
		for i, c := range row {
			if i > 0 {
				fmt.Fprint(s, "\t")
			}
			fmt.Fprint(s, s.paint(c.meaning, tsv(c.raw)))
		}
		fmt.Fprintln(s)
	}
}

// tsv keeps a value on its line and in its column, and what would move a terminal's cursor from one that shows the
// table later.
func tsv(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case moves(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

const (
	gap       = 2  // between columns
	narrowest = 16 // what a column is cut to at most
)

func (t *table) align(s screen) {
	columns, widths := t.fit(s.width)
	line := func(column func(i int) cell) {
		var b strings.Builder
		indent := 0
		for n, i := range columns {
			c, last := column(i), n == len(columns)-1
			if last && t.folds {
				for n, part := range fold(printable(c.human), widths[i]) {
					if n > 0 {
						b.WriteString("\n" + strings.Repeat(" ", indent))
					}
					b.WriteString(s.paint(c.meaning, part))
				}
				break
			}
			shown := runewidth.Truncate(printable(c.human), widths[i], "…")
			fill := strings.Repeat(" ", widths[i]-runewidth.StringWidth(shown))
			if c.right {
				b.WriteString(fill)
			}
			b.WriteString(s.paint(c.meaning, shown))
			if !last {
				if !c.right {
					b.WriteString(fill)
				}
				b.WriteString(strings.Repeat(" ", gap))
				indent += widths[i] + gap
			}
		}
		fmt.Fprintln(s, strings.TrimRight(b.String(), " "))
	}
	line(func(i int) cell {
		return cell{human: t.header[i], meaning: dim, right: len(t.rows) > 0 && t.rows[0][i].right}
	})
	for _, row := range t.rows {
		line(func(i int) cell { return row[i] })
	}
}

// fold breaks a sentence at spaces, into lines that are no wider than width if no word is;
// there is no limit where that is 0.
func fold(text string, width int) (lines []string) {
	words := strings.Split(text, " ")
	line := words[0]
	for _, word := range words[1:] {
		if width > 0 && runewidth.StringWidth(line)+1+runewidth.StringWidth(word) > width {
			lines = append(lines, line)
			line = word
		} else {
			line += " " + word
		}
	}
	return append(lines, line)
}

// fit gives the columns that are shown and the width of each: what it needs; where all
// together need more than the screen has, the widest give way, then the last are left out.
// A column that holds nothing is not shown.
func (t *table) fit(limit int) (columns, widths []int) {
	widths = make([]int, len(t.header))
	total := -gap
	for i, title := range t.header {
		empty := len(t.rows) > 0
		widths[i] = runewidth.StringWidth(title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], runewidth.StringWidth(printable(row[i].human)))
			empty = empty && row[i].raw == ""
		}
		if !empty {
			columns = append(columns, i)
			total += gap + widths[i]
		}
	}
	for limit > 0 && total > limit {
		widest := columns[0]
		for _, i := range columns {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		if widths[widest] > narrowest {
			widths[widest]--
			total--
			continue
		}
		if len(columns) == 1 || t.folds {
			break
		}
		last := columns[len(columns)-1]
		columns = columns[:len(columns)-1]
		total -= gap + widths[last]
	}
	return columns, widths
}

// printable takes out what would move a terminal's cursor: names of tasks and folders
// come from anywhere.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if moves(r) {
			return '�'
		}
		return r
	}, text)
}

// moves reports whether a terminal may take a character for a command.
func moves(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }

// printableLines is printable for a text of several lines.
func printableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = printable(line)
	}
	return strings.Join(lines, "\n")
}

// sentences prints what is no table: on a terminal folded to its width, elsewhere each on a
// line, under a header like a table's.
func (a *app) sentences(header string, m meaning, list ...string) {
	t := newTable(header)
	for _, s := range list {
		if a.stdout.terminal {
			fmt.Fprintln(a.stdout, a.stdout.paint(m, strings.Join(fold(printable(s), a.stdout.width), "\n")))
		}
		t.add(textCell(s).as(m))
	}
	if !a.stdout.terminal {
		t.print(a.stdout)
	}
}

// nothing says on stderr that there is nothing to show; that is no error.
func (a *app) nothing(sentence string) { fmt.Fprintln(a.stderr, printable(sentence)) }

func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// slowResult is slowly for work that has a result.
func slowResult[T any](a *app, what string, work func() (T, error)) (result T, err error) {
	err = a.slowly(what, func() error {
		result, err = work()
		return err
	})
	return result, err
}

// slowly runs work and shows on stderr, if that is a terminal, that it takes its time.
func (a *app) slowly(what string, work func() error) error {
	if !a.stderr.terminal {
		return work()
	}
	done := make(chan error)
	go func() { done <- work() }()
	const patience, pace = time.Second, 200 * time.Millisecond
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for waited := patience; ; waited += pace {
		select {
		case err := <-done:
			if waited > patience {
				fmt.Fprint(a.stderr, "\r\x1b[K")
			}
			return err
		case <-timer.C:
			fmt.Fprintf(a.stderr, "\r%s … %.1f s", what, waited.Seconds())
			timer.Reset(pace)
		}
	}
}
