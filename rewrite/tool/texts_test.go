package tool

import (
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/test/tooltest"
)

// A run that says something before it uses a tool has two texts; the last is the
// answer.
func TestTextsOfARunWithATool(t *testing.T) {
	for _, tt := range []struct{ tool, recording, line, texts, answer string }{
		{"vibe", "toolask-streaming", "-p x --output streaming", "Let me run it.|ok", "ok"},
		{"claude", "tool-stream", "-p --output-format stream-json x", "Let me run it.|ok", "ok"},
		{"codex", "tool-json", "exec --json x", "Let me run it.|ok", "ok"},
		{"gemini", "tool-stream", "-p x -o stream-json", "Let me run it.|ok", "Let me run it.ok"},
	} {
		stream := the(tt.tool).Stream(the(tt.tool).Parse(tooltest.Invocation(tt.line)),
			rewrite.Plan{}, "")
		tooltest.Feed(stream, recorded(t, tt.tool, tt.recording), nil)
		if seen := stream.Seen(); strings.Join(seen.Texts, "|") != tt.texts ||
			seen.Answer != tt.answer {
			t.Errorf("%s: %q, answer %q", tt.tool, seen.Texts, seen.Answer)
		}
	}
}
