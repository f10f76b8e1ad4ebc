package rewrite

import (
	"slices"
	"strings"
	"testing"
)

// A run that says something before it uses a tool has two texts; the last is the
// answer.
func TestTextsOfARunWithATool(t *testing.T) {
	_, vibe := vibeShow(vibeCall("-p x --output streaming"), Plan{}, vibeRecording(t, "toolask-streaming", "stdout"))
	_, claude := claudeRun(StreamJSON, Plan{}, string(recording(t, "tool-stream")))
	codexStream := (codex{}).Stream(parseCodex("exec --json x"), Plan{}, "")
	codexRun(codexStream, codexRecording(t, "tool-json", "stdout"), nil)
	geminiStream := (gemini{}).Stream(parseGemini("-p x -o stream-json"), Plan{}, "")
	for line := range strings.Lines(geminiRecording(t, "tool-stream", "stdout")) {
		geminiStream.Line([]byte(line))
	}
	if seen, want := geminiStream.Seen(), []string{"Let me run it.", "ok"}; !slices.Equal(seen.Texts, want) || seen.Answer != "Let me run it.ok" {
		t.Errorf("gemini: %q, answer %q", seen.Texts, seen.Answer)
	}
	for tool, seen := range map[string]*StreamState{"vibe": vibe, "claude": claude, "codex": codexStream.Seen()} {
		if want := []string{"Let me run it.", "ok"}; !slices.Equal(seen.Texts, want) || seen.Answer != "ok" {
			t.Errorf("%s: %q, answer %q", tool, seen.Texts, seen.Answer)
		}
	}
}

func TestTextsAreBounded(t *testing.T) {
	line := []byte(`{"type":"item.completed","item":{"type":"agent_message","text":"` + strings.Repeat("x", maxTexts/4) + `"}}` + "\n")
	seen := (codex{}).Stream(parseCodex("exec --json x"), Plan{}, "")
	for range 6 {
		seen.Line(line)
	}
	if texts := seen.Seen().Texts; len(texts) > 0 {
		t.Errorf("%d texts are kept", len(texts))
	}
}
