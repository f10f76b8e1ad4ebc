package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

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
}

func newTable(header ...string) *table { return &table{header: header} }

func (t *table) add(row ...cell) { t.rows = append(t.rows, row) }

// print writes the table as the screen wants it.
func (t *table) print(s screen) {
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
			fmt.Fprint(s, s.paint(c.meaning, tsv.Replace(c.raw)))
		}
		fmt.Fprintln(s)
	}
}

// tsv keeps a value on its line and in its column.
var tsv = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

const gap = 2

func (t *table) align(s screen) {
	widths := t.widths(s.width)
	line := func(column func(i int) (text string, m meaning, right bool)) {
		var b strings.Builder
		for i, width := range widths {
			text, m, right := column(i)
			text = runewidth.Truncate(printable(text), width, "…")
			fill := strings.Repeat(" ", width-runewidth.StringWidth(text))
			if right {
				b.WriteString(fill)
			}
			b.WriteString(s.paint(m, text))
			if i < len(widths)-1 {
				if !right {
					b.WriteString(fill)
				}
				b.WriteString(strings.Repeat(" ", gap))
			}
		}
		fmt.Fprintln(s, strings.TrimRight(b.String(), " "))
	}
	line(func(i int) (string, meaning, bool) { return t.header[i], dim, len(t.rows) > 0 && t.rows[0][i].right })
	for _, row := range t.rows {
		line(func(i int) (string, meaning, bool) { return row[i].human, row[i].meaning, row[i].right })
	}
}

// widths gives each column what it needs; where that is too much for the screen, the
// widest columns give way.
func (t *table) widths(limit int) []int {
	widths := make([]int, len(t.header))
	total := gap * (len(widths) - 1)
	for i, title := range t.header {
		widths[i] = runewidth.StringWidth(title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], runewidth.StringWidth(printable(row[i].human)))
		}
		total += widths[i]
	}
	const narrowest = 8
	for ; limit > 0 && total > limit; total-- {
		widest := 0
		for i := range widths {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= narrowest {
			break
		}
		widths[widest]--
	}
	return widths
}

// printable takes out what would move a terminal's cursor: names of tasks and folders
// come from anywhere.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '�'
		}
		return r
	}, text)
}

// nothing says on stderr that there is nothing to show; that is no error.
func (a *app) nothing(sentence string) { fmt.Fprintln(a.stderr, sentence) }

func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
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
