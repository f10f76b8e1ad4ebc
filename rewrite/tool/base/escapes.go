package base

import (
	"regexp"
	"strings"
	"sync"
)

// escape matches the escape sequences that color a transcript.
var escape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;]*m") })

// StripEscapes removes what colors a text.
func StripEscapes(text string) string {
	if !strings.Contains(text, "\x1b") {
		return text
	}
	return escape().ReplaceAllString(text, "")
}
