// Package view prints the output of shimctl's commands.
//
// Every command follows the same rules. On a terminal, tables are aligned and cut to the
// width, times are relative, and colors carry a meaning. Elsewhere a table is TSV with a
// header line, times are RFC 3339, numbers are plain, and nothing is cut.
//
// An unknown figure is printed as n/a, never as 0.
package view

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
)

// A Meaning is the meaning of a color. The value is the color's SGR code.
type Meaning string

// The meanings.
const (
	Plain  Meaning = ""
	Good   Meaning = "32" // resumed, in order
	Warn   Meaning = "33" // worth a look
	Bad    Meaning = "31" // failed
	Dim    Meaning = "2"  // minor
	Strong Meaning = "1"  // a heading
)

// A Screen is where people or programs read a command's output.
type Screen struct {
	io.Writer
	Terminal bool
	Width    int // in columns, 0 for no limit
	Height   int // in lines, 0 for no limit
	Colors   bool
	ASCII    bool // a terminal that shows nothing else
}

// NewScreen returns a screen that writes to f, in an environment. It has no colors until
// SetColors.
func NewScreen(f *os.File, env func(string) string) Screen {
	locale := strings.ToLower(cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG")))
	utf8 := strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
	s := Screen{Writer: &checkedWriter{to: f}, Terminal: isatty.IsTerminal(f.Fd()), ASCII: !utf8}
	s.Measure()
	return s
}

// Measure asks the terminal for the size, which changes with its window.
func (s *Screen) Measure() {
	w, ok := s.Writer.(*checkedWriter)
	if !ok || !s.Terminal {
		return
	}
	if size, err := unix.IoctlGetWinsize(int(w.to.Fd()), unix.TIOCGWINSZ); err == nil {
		s.Width, s.Height = int(size.Col), int(size.Row)
	}
}

// A checkedWriter keeps the first error. What prints line by line looks at none.
type checkedWriter struct {
	to  *os.File
	err error
}

func (w *checkedWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.err = cmp.Or(w.err, err)
	return n, err
}

// Err returns the first error of writing to the screen.
func (s Screen) Err() error {
	if w, ok := s.Writer.(*checkedWriter); ok {
		return w.err
	}
	return nil
}

// inASCII has for each character that we draw one of the same width.
var inASCII = strings.NewReplacer("├─", "|-", "└─", "`-", "│", "|", "…", "~", "\ufffd", "?")

// Write draws without the characters that the terminal lacks. A line comes in one piece.
func (s Screen) Write(p []byte) (int, error) {
	if !s.Terminal || !s.ASCII {
		return s.Writer.Write(p)
	}
	if _, err := s.Writer.Write([]byte(inASCII.Replace(string(p)))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Drawn returns the lines that print prints on such a screen.
func (s Screen) Drawn(print func(Screen)) []string {
	var b bytes.Buffer
	s.Writer = &b
	print(s)
	if b.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// A ColorChoice is the value of --color.
type ColorChoice string

func (c *ColorChoice) String() string { return string(*c) }

// Type returns the word that help shows for the value.
func (c *ColorChoice) Type() string { return "WHEN" }

// Set reads the value from the command line.
func (c *ColorChoice) Set(text string) error {
	switch text {
	case "auto", "always", "never":
		*c = ColorChoice(text)
		return nil
	}
	return fmt.Errorf("it is auto, always or never")
}

// SetColors turns colors on or off: by --color, else by NO_COLOR, else by whether the
// screen is a terminal that has colors.
func (s *Screen) SetColors(choice ColorChoice, env func(string) string) {
	s.Colors = choice == "always" || choice == "auto" && s.Terminal && env("NO_COLOR") == "" &&
		env("TERM") != "dumb"
}

// Paint returns the text in the color of the meaning.
func (s Screen) Paint(m Meaning, text string) string {
	if !s.Colors || m == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(m) + "m" + text + "\x1b[0m"
}

// Heading names a table for people. A program identifies it by the header line.
func (s Screen) Heading(title string) {
	if s.Terminal {
		fmt.Fprintln(s, s.Paint(Strong, title))
	}
}

// Sentences prints text that is no table: folded to the width of a terminal, elsewhere one
// sentence a line below a header.
func (s Screen) Sentences(header string, m Meaning, sentences ...string) {
	if !s.Terminal {
		fmt.Fprintln(s, header)
	}
	for _, sentence := range sentences {
		lines := []string{escapeTSV(sentence)}
		if s.Terminal {
			lines = fold(Printable(sentence), s.Width)
		}
		for _, line := range lines { // a pager ends a color with the line
			fmt.Fprintln(s, s.Paint(m, line))
		}
	}
}

// Changed prints lines of a file that come or go, behind a sign. The part that the screen has no
// room for is below the line, indented.
func (s Screen) Changed(sign string, m Meaning, lines ...string) {
	const indent = 4
	for _, line := range lines {
		for part := range strings.SplitSeq(s.Indented(sign+Printable(line), indent), "\n") {
			fmt.Fprintln(s, s.Paint(m, part))
		}
	}
}

// Notice prints a sentence without a header: folded to the width of a terminal, elsewhere on one
// line.
func (s Screen) Notice(sentence string) { fmt.Fprintln(s, s.Indented(Printable(sentence), 0)) }

// PrintJSON prints a value as indented JSON.
func (s Screen) PrintJSON(v any) error {
	e := json.NewEncoder(JSONWriter{s})
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// WithProgress is Screen.WithProgress for work that returns a result.
func WithProgress[T any](s Screen, what string, work func() (T, error)) (result T, err error) {
	err = s.WithProgress(what, func() error {
		result, err = work()
		return err
	})
	return result, err
}

// WithProgress runs work. If that takes long and the screen is a terminal, it shows for how
// long work has been running.
func (s Screen) WithProgress(what string, work func() error) error {
	if !s.Terminal {
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
				fmt.Fprint(s, "\r\x1b[K")
			}
			return err
		case <-timer.C:
			fmt.Fprintf(s, "\r%s: %.1f s", what, waited.Seconds())
			timer.Reset(pace)
		}
	}
}
