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
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
	"github.com/mattn/go-runewidth"
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

// NewScreen returns a screen that writes to f, in an environment. A terminal has colors unless
// NO_COLOR is set or TERM is dumb.
func NewScreen(f *os.File, env func(string) string) Screen {
	locale := strings.ToLower(cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG")))
	utf8 := strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
	s := Screen{Writer: &checkedWriter{to: f}, Terminal: isatty.IsTerminal(f.Fd()), ASCII: !utf8}
	if s.Terminal {
		s.Colors = env("NO_COLOR") == "" && env("TERM") != "dumb"
		if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil {
			s.Width, s.Height = int(size.Col), int(size.Row)
		}
	}
	return s
}

// A checkedWriter keeps the first error. Printing line by line looks at none.
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
var inASCII = strings.NewReplacer("…", "~", "\ufffd", "?")

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

// OrDash returns the text, or a dash if it is empty.
func OrDash(text string) string { return cmp.Or(text, "-") }

// ShellQuote writes an argument as a shell would read it.
func ShellQuote(arg string) string {
	if arg != "" &&
		strings.Trim(arg,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,@%+") == "" {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

// Printable replaces the characters that move a terminal's cursor: names of tasks and
// directories can hold anything.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return utf8.RuneError
		}
		return r
	}, text)
}

// isControl reports whether a terminal can take a character for a command, or shows the characters
// after it in another order.
func isControl(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r)
}

// A JSONWriter escapes the characters in JSON that encoding/json leaves as they are, so that a
// terminal can show it. Each Write is whole characters.
type JSONWriter struct{ io.Writer }

// Write implements io.Writer.
func (w JSONWriter) Write(encoded []byte) (int, error) {
	if bytes.IndexFunc(encoded, isRawControl) < 0 {
		return w.Writer.Write(encoded)
	}
	var b bytes.Buffer
	for _, r := range string(encoded) {
		if isRawControl(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	_, err := w.Writer.Write(b.Bytes())
	return len(encoded), err
}

func isRawControl(r rune) bool { return r != '\n' && isControl(r) }

var escapeBreaks = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// escapeTSV keeps a value on the line and in the column. It also escapes characters that move the
// cursor of a terminal that shows the table later.
func escapeTSV(text string) string {
	var b strings.Builder
	text = escapeBreaks.Replace(text)
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case isControl(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Paragraphs breaks text at spaces, so that the lines fit the screen. Lines that follow each other
// are one paragraph, unless they are indented.
func (s Screen) Paragraphs(text string) string {
	if s.Width == 0 {
		return text
	}
	paragraphs := strings.Split(lineBreak.ReplaceAllString(text, "$1 $2"), "\n")
	return strings.Join(Mapped(paragraphs, func(p string) string { return s.Indented(p, 0) }), "\n")
}

var lineBreak = regexp.MustCompile(`(\S)\n(\S)`)

// Indented breaks text at spaces, so that it fits the screen behind an indent, which all lines but
// the first get.
func (s Screen) Indented(text string, indent int) string {
	width := 0
	if s.Width > 0 {
		width = max(1, s.Width-indent)
	}
	return strings.Join(fold(text, width), "\n"+strings.Repeat(" ", indent))
}

// Quoted indents a text. Lines that the screen has no room for are broken.
func (s Screen) Quoted(text string) string {
	const indent = "    "
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		b.WriteString(indent + s.Indented(strings.ReplaceAll(line, "\t", indent), len(indent)) +
			"\n")
	}
	return b.String()
}

// unitSpace is the space between a number and its unit, where no line ends.
var unitSpace = regexp.MustCompile(`([0-9]) (%|[kMG]?B\b|[kMG]\b|ms\b|s\b)`)

// NoBreakSpace is a space that ends no line.
const NoBreakSpace = "\u00a0"

// fold breaks a sentence at spaces, so that no line is wider than width unless a word is. A
// width of 0 is no limit.
func fold(text string, width int) (lines []string) {
	words := strings.Split(unitSpace.ReplaceAllString(text, "$1"+NoBreakSpace+"$2"), " ")
	line := words[0]
	for _, word := range words[1:] {
		if width > 0 && runewidth.StringWidth(line)+1+runewidth.StringWidth(word) > width {
			lines = append(lines, line)
			line = word
		} else {
			line += " " + word
		}
	}
	return Mapped(append(lines, line), func(line string) string {
		return strings.ReplaceAll(line, NoBreakSpace, " ")
	})
}
