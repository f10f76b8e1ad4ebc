package view

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

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
	paragraphs := []string{""}
	for _, line := range strings.Split(text, "\n") {
		if last := &paragraphs[len(paragraphs)-1]; *last != "" && line != "" && line[0] != ' ' {
			*last += " " + line
		} else {
			paragraphs = append(paragraphs, line)
		}
	}
	return strings.Join(Mapped(paragraphs[1:], func(p string) string { return s.Indented(p, 0) }),
		"\n")
}

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

// Glue is a space that ends no line.
const Glue = "\u00a0"

// fold breaks a sentence at spaces, so that no line is wider than width unless a word is. A
// width of 0 is no limit.
func fold(text string, width int) (lines []string) {
	words := strings.Split(unitSpace.ReplaceAllString(text, "$1"+Glue+"$2"), " ")
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
		return strings.ReplaceAll(line, Glue, " ")
	})
}
