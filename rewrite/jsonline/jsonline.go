// Package jsonline reads and edits lines of JSON byte by byte: unchanged parts stay as they were
// written.
//
// It knows no event of any tool. Invariant: a line is never decoded and encoded again, so that
// order, numbers and spaces stay.
package jsonline

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// ReadEvent parses a JSON value into event. A field of an unexpected type is left out without
// affecting other fields, since tools change their events from version to version. ok reports
// whether the text is JSON, whole whether nothing was left out.
func ReadEvent(text []byte, event any) (ok, whole bool) {
	err := json.Unmarshal(text, event)
	var otherType *json.UnmarshalTypeError
	return err == nil || errors.As(err, &otherType), err == nil
}

// A LooseText is a text that can come as another type; it then holds that value's JSON.
type LooseText string

// UnmarshalJSON implements json.Unmarshaler.
func (t *LooseText) UnmarshalJSON(value []byte) error {
	var text string
	if json.Unmarshal(value, &text) != nil {
		text = string(value)
	}
	*t = LooseText(text)
	return nil
}

// A Numeral is a number in a line of JSON: the place and the keys above it, joined by tabs. Numbers
// inside arrays are ignored.
type Numeral struct {
	Path       string
	Start, End int
	Text       string
}

// deepest is how many objects a number can be within: each is searched again for those within it.
const deepest = 16

// Numbers returns the numbers of an object, in order.
func Numbers(line []byte) (found []Numeral) {
	var read func(object, path string, at, depth int)
	read = func(object, path string, at, depth int) {
		for m := range members(object) {
			start, first := at+m.end-len(m.value), m.value[0]
			switch {
			case first == '{' && depth < deepest:
				read(m.value, path+m.name+"\t", start, depth+1)
			case first == '-' || first >= '0' && first <= '9':
				found = append(found, Numeral{path + m.name, start, at + m.end, m.value})
			}
		}
	}
	read(string(line), "", 0, 1)
	return found
}

// Nano parses a decimal number as an integer of billionths.
func Nano(text string) (int64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(f) > 9e9 {
		return 0, strconv.ErrRange
	}
	return int64(math.Round(f * 1e9)), nil
}

// FormatNano writes billionths as a decimal number.
func FormatNano(n int64) string { return strconv.FormatFloat(float64(n)/1e9, 'f', -1, 64) }

// RawString encodes text the way gemini and vibe write JSON: only characters that must be escaped
// are escaped (recordings/gemini/multi-stream, recordings/vibe/multi-streaming).
func RawString(text string) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // every string can be encoded
	// Go escapes two separators more. An escaped backslash before such letters is none of these
	// escapes.
	raw := strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029")
	return []byte(raw.Replace(strings.TrimSuffix(b.String(), "\n")))
}

// Marks are words to search a line for, each between double quotes: a line of JSON without any of
// them need not be parsed. Each has the opening quote.
type Marks [][]byte

// NewMarks makes marks of words.
func NewMarks(words ...string) (marks Marks) {
	for _, word := range words {
		marks = append(marks, []byte(`"`+word+`"`))
	}
	return marks
}

// In reports whether a line has one of the words. It jumps from quote to quote: most of a long line
// consists of a few long strings.
func (m Marks) In(line []byte) bool {
	for i := bytes.IndexByte(line, '"'); i >= 0; i = bytes.IndexByte(line, '"') {
		rest := line[i:]
		for _, word := range m {
			if len(rest) >= len(word) && rest[1] == word[1] && bytes.HasPrefix(rest, word) {
				return true
			}
		}
		line = rest[1:]
	}
	return false
}
