// Package models knows models by their names. The shim links it, so it does no work before it is
// asked.
package models

import "strings"

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
	return window(Name(model))
}
