// Package models knows models by their names. The shim links it, so it does no work before it is
// asked, and it never reads a file. Invariant: nothing is said of a name that it does not know.
package models

import (
	"slices"
	"strings"
)

// longContext is claude's mark of a model that is used with a long context window.
const longContext = "[1m]"

// Name returns a model's name without the additions of providers and tools: the provider, the date
// of the snapshot, claude's mark of a long context.
func Name(model string) string {
	name := strings.TrimSuffix(strings.ToLower(model), longContext)
	if provider, rest, ok := strings.Cut(name, "/"); ok && provider != "" &&
		strings.Trim(provider, "abcdefghijklmnopqrstuvwxyz") == "" {
		name = rest
	}
	for _, date := range []string{"-00000000", "@00000000", "-0000-00-00"} {
		if at := len(name) - len(date); at >= 0 && looksLike(name[at:], date) {
			return name[:at]
		}
	}
	return name
}

// looksLike reports whether text equals pattern, where 0 is any digit.
func looksLike(text, pattern string) bool {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, text) == pattern
}

// Window returns a model's context window in tokens, 0 if it is not known.
func Window(model string) int64 {
	if strings.HasSuffix(strings.ToLower(model), longContext) {
		return 1_000_000
	}
	name := Name(model)
	for _, w := range windows {
		if slices.Contains(w.models, name) {
			return w.tokens
		}
	}
	return 0
}

// restated lists models for which claude changes the last message of a session of one request when
// it resumes: from a list of one text to a string. A strict cache then matches only system prompt
// and tools (anthropics/claude-code#93490). Measured with claude 2.1.329 and 2.1.330;
// claude-sonnet-4-6 and claude-opus-4-6 are not among them.
var restated = []string{
	"claude-fable-5", "claude-fable-5-1", "claude-haiku-5-5", "claude-opus-4-8", "claude-opus-5",
	"claude-opus-5-5", "claude-sonnet-5", "claude-sonnet-5-5",
}

// Restated reports whether claude resumes a session of one request with this model in another form
// than it was sent.
func Restated(model string) bool { return slices.Contains(restated, Name(model)) }
