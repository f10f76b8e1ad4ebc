package why

import (
	"reprise/ledger"
	"reprise/rewrite/models"
)

// RestatedWords says what to expect of resumes of sessions that made one request.
func RestatedWords(model string) string {
	return "with " + model + " claude resumes a session of one request in another form than it was sent (anthropics/claude-code#93490), so the " +
		"provider's cache has only the system prompt and tools of it; runs that use tools, and models up to claude-opus-4-6 and claude-sonnet-4-6, find theirs"
}

// Restates reports whether a resume of the call's session is expected to miss the cache for its form.
func Restates(i ledger.Invocation) bool {
	return i.Tool == "claude" && i.OneRequest && models.Restated(i.Model)
}
