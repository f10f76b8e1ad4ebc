package jsonline

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Member returns the value of a key of a JSON object as written in the text, "" if there is none.
// It skips everything else unparsed, since a tool's state file can be large.
func Member(text, key string) string {
	rest := strings.TrimLeft(text, space)
	if !strings.HasPrefix(rest, "{") {
		return ""
	}
	value := ""
	for rest = rest[1:]; ; {
		rest = strings.TrimLeft(rest, space+",")
		if !strings.HasPrefix(rest, `"`) {
			return value
		}
		n := valueEnd(rest)
		name := rest[:n]
		rest = strings.TrimLeft(rest[n:], space)
		if !strings.HasPrefix(rest, ":") {
			return value
		}
		rest = strings.TrimLeft(rest[1:], space)
		if n = valueEnd(rest); n == 0 {
			return value
		}
		if String(name) == key {
			value = rest[:n] // of a duplicate key the last counts
		}
		rest = rest[n:]
	}
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
