package models

import "slices"

// restated are the models for which claude sends the end of a session of one request in another form when it resumes it: as a
// string what was a list of one text, so that a strict cache has only the system prompt and the tools of it
// (anthropics/claude-code#93490). Measured with claude 2.1.329 and 2.1.330; claude-sonnet-4-6 and claude-opus-4-6 are not among them.
var restated = []string{
	"claude-fable-5", "claude-fable-5-1", "claude-haiku-5-5", "claude-opus-4-8", "claude-opus-5", "claude-opus-5-5", "claude-sonnet-5",
	"claude-sonnet-5-5",
}

// Restated reports whether claude resumes a session of one request with this model in another form than it was sent.
func Restated(model string) bool { return slices.Contains(restated, Name(model)) }
