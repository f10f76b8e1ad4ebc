package jsonline

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
)

// A member is one of a JSON object, as written in the text from at to end.
type member struct {
	name, value string
	at, end     int
}

// members returns the members of an object, as far as it is well formed. It skips the values
// unparsed, since a tool's state file can be large.
func members(text string) iter.Seq[member] {
	return func(yield func(member) bool) {
		rest, open := strings.CutPrefix(strings.TrimLeft(text, space), "{")
		for open {
			rest = strings.TrimLeft(rest, space+",")
			m := member{at: len(text) - len(rest)}
			if !strings.HasPrefix(rest, `"`) {
				return
			}
			n := valueEnd(rest)
			m.name = String(rest[:n])
			if rest, open = strings.CutPrefix(strings.TrimLeft(rest[n:], space), ":"); !open {
				return
			}
			rest = strings.TrimLeft(rest, space)
			n = valueEnd(rest)
			m.value, rest = rest[:n], rest[n:]
			m.end = len(text) - len(rest)
			if n == 0 || !yield(m) {
				return
			}
		}
	}
}

// Member returns the value of a key of a JSON object as written in the text, "" if there is none.
func Member(text, key string) (value string) {
	for m := range members(text) {
		if m.name == key {
			value = m.value // of a duplicate key the last counts
		}
	}
	return value
}

// Members returns the values of an object as written in the text. ok is false for anything else,
// and for an object with a duplicate name.
func Members(text string) (values map[string]string, ok bool) {
	values = map[string]string{}
	for m := range members(text) {
		if _, twice := values[m.name]; twice {
			return nil, false
		}
		values[m.name] = m.value
	}
	return values, strings.HasPrefix(strings.TrimLeft(text, space), "{") &&
		json.Valid([]byte(text))
}

// RemoveKey removes a key with its value from an object and keeps every other byte.
func RemoveKey(text, key string) string {
	before := 0 // the end of the member before
	for m := range members(text) {
		switch {
		case m.name != key:
			before = m.end
		case before > 0:
			return text[:before] + text[m.end:]
		default: // the comma follows it
			rest := strings.TrimLeft(text[m.end:], space)
			return text[:m.at] + strings.TrimLeft(strings.TrimPrefix(rest, ","), space)
		}
	}
	return text
}

const space = " \t\r\n"

func valueEnd(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i+1)
			if depth == 0 {
				return min(i+1, len(text))
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
			if depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// stringEnd returns the index of the closing quote of the string that starts at from.
func stringEnd(text string, from int) int {
	for at := from; ; at++ {
		n := strings.IndexByte(text[at:], '"')
		if n < 0 {
			return len(text)
		}
		at += n
		escapes := len(text[from:at]) - len(strings.TrimRight(text[from:at], `\`))
		if escapes%2 == 0 {
			return at
		}
	}
}

// String decodes a JSON string; it returns "" for anything else.
func String(text string) string {
	if len(text) >= 2 && text[0] == '"' && !strings.Contains(text, `\`) {
		return text[1 : len(text)-1]
	}
	var s string
	if json.Unmarshal([]byte(text), &s) != nil {
		return ""
	}
	return s
}

// Compact returns a JSON value without whitespace, "" for an empty one: a tool that rewrites the
// file can change the layout and add empty parts.
func Compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	switch s := b.String(); s {
	case "{}", "[]", "null", `""`, "false":
		return ""
	default:
		return s
	}
}
