package models

import "slices"

// restated lists models for which claude changes the last message of a session of one request when
// it resumes: from a list of one text to a string. A strict cache then matches only system prompt
// and tools (anthropics/claude-code#93490). Measured with claude 2.1.329 and 2.1.330;
// claude-sonnet-4-6 and claude-opus-4-6 are not among them.
var restated = []string{
	"claude-fable-5", "claude-fable-5-1", "claude-haiku-5-5", "claude-opus-4-8", "claude-opus-5",
	"claude-opus-5-5", "claude-sonnet-5",
	"claude-sonnet-5-5",
}

// Restated reports whether claude resumes a session of one request with this model in another form
// than it was sent.
func Restated(model string) bool { return slices.Contains(restated, Name(model)) }
