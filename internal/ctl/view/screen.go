// Package view prints the output of shimctl's commands.
//
// Every command follows the same rules. On a terminal, tables are aligned and cut to the
// width, and times are relative. Elsewhere a table is TSV with a header line, times are
// RFC 3339, numbers are plain, and nothing is cut.
//
// An unknown figure is printed as n/a, never as 0.
package view

import (
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

// A Screen is where people or programs read a command's output.
type Screen struct {
	io.Writer
	Terminal bool
	Width    int // in columns, 0 for no limit
}

// NewScreen returns a screen that writes to f.
func NewScreen(f *os.File) Screen {
	s := Screen{Writer: &checkedWriter{to: f}, Terminal: isatty.IsTerminal(f.Fd())}
	if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil {
		s.Width = int(size.Col)
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

// Notice prints each sentence folded to the width of a terminal, elsewhere on one line.
func (s Screen) Notice(sentences ...string) {
	for _, sentence := range sentences {
		fmt.Fprintln(s, s.Indented(Printable(sentence), 0))
	}
}

// Changed prints lines of a file behind a sign, such as + for new lines. The part that the screen
// has no room for is below the line, indented.
func (s Screen) Changed(sign string, lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(s, s.Indented(sign+Printable(line), 4))
	}
}

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

// Printable escapes the characters that move a terminal's cursor, and keeps a text on its line:
// names of tasks and directories can hold anything.
func Printable(text string) string {
	return escaped(strings.NewReplacer("\t", `\t`, "\n", `\n`).Replace(text), "")
}

// A JSONWriter escapes the characters in JSON that encoding/json leaves as they are, so that a
// terminal can show it. Each Write is whole characters.
type JSONWriter struct{ io.Writer }

// Write implements io.Writer.
func (w JSONWriter) Write(encoded []byte) (int, error) {
	_, err := io.WriteString(w.Writer, escaped(string(encoded), "\n"))
	return len(encoded), err
}

// escaped writes as \u0000 the characters that a terminal can take for a command, or after which
// it shows others in another order, but for the kept ones.
func escaped(text, kept string) string {
	var b strings.Builder
	for i, r := range text {
		control := r < ' ' || r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r)
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"): // no UTF-8
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case control && !strings.ContainsRune(kept, r):
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

// fold breaks a sentence at spaces, so that no line is wider than width unless a word is. A
// width of 0 is no limit.
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
