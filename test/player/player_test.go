package player

import (
	"strings"
	"testing"

	"github.com/google/uuid"
)

// Requests of callers and the shim are understood in each tool's own words.
func TestCommandLines(t *testing.T) {
	for _, c := range []struct {
		tool, line string
		want       request
	}{
		{"claude", "-p|--output-format|json|--verbose|hi",
			request{format: "json-verbose", prompt: "hi"}},
		{"claude",
			"-p|--output-format=stream-json|--verbose|--resume|1|--fork-session|--resume-session-at|2|hi",
			request{format: "stream-json", prompt: "hi", resume: "1", fork: true, at: "2"}},
		{"codex", "exec|--json|hi", request{format: "stream-json", prompt: "hi", waits: true}},
		{"codex", "exec|resume|1|-", request{format: "text", resume: "1"}},
		{"copilot", "--silent|--output-format|text|-p|hi",
			request{format: "silent", prompt: "hi", deaf: true}},
		{"copilot", "--usage-output-file=u|--resume=1|--output-format|json|-p|hi",
			request{format: "stream-json", output: "u", resume: "1", prompt: "hi", deaf: true}},
		{"droid", "exec|--fork|1|--|--hi", request{format: "text", prompt: "--hi", resume: "1",
			fork: true, deaf: true}},
		{"gemini", "-o|json|-p|--resume=1", request{format: "json", resume: "1"}},
		{"opencode", "run|--print-logs=true|--session=1|--format|json|--|hi|there",
			request{format: "stream-json", prompt: "hi there", resume: "1", waits: true}},
		{"qwen", "--resume=1|--fork-session|-p|hi",
			request{format: "text", prompt: "hi", resume: "1", fork: true}},
		{"vibe", "--output|streaming|--output-dir|d|-p|hi",
			request{format: "stream-json", prompt: "hi", output: "d", deaf: true}},
	} {
		if got := dialects[c.tool].read(strings.Split(c.line, "|")); got != strip(c.want, got) {
			t.Errorf("%s %s: %+v", c.tool, c.line, got)
		}
	}
}

// strip ignores the variant, which is part of the format already.
func strip(want, got request) request {
	want.variant = got.variant
	return want
}

// Every tool shows the answer in each of its formats, and a run that stops in the middle shows a
// part of it.
func TestShows(t *testing.T) {
	for tool := range dialects {
		for _, format := range []string{"text", "json", "stream-json"} {
			run := Run{Session: uuid.NewString(), Args: []string{"x"}, Prompt: "ask"}
			whole := Show(tool, format, Script{Said: []string{"first", "the answer"}}, run, 1)
			if !strings.Contains(whole.Stdout, "the answer") ||
				strings.Contains(whole.Stdout+whole.Stderr, "{id}") {
				t.Errorf("%s, %s: %+v", tool, format, whole)
			}
			cut := Show(tool, format, Script{Said: []string{"first", "the answer"}, Ending: Middle},
				run, 1)
			if !strings.HasPrefix(whole.Stdout, cut.Stdout) ||
				len(cut.Stdout) >= len(whole.Stdout) ||
				!strings.Contains(cut.Stderr, "something broke") {
				t.Errorf("%s, %s, cut: %+v", tool, format, cut)
			}
		}
	}
}
