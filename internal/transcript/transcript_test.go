package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFirstPrompt(t *testing.T) {
	for tool, want := range map[string]string{
		"claude": "hello there", "codex": "hello there", "copilot": "hello remember number 77",
		"gemini": "hello there", "qwen": "remember number 456",
	} {
		var file string
		err := filepath.WalkDir("../../testdata/sessions/"+tool,
			func(path string, _ os.DirEntry, err error) error {
				if strings.HasSuffix(path, ".jsonl") {
					file = path
				}
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := FirstPrompt(tool, file); got != want || err != nil {
			t.Errorf("%s: %q, want %q, %v", tool, got, want, err)
		}
	}
}

func TestFirstPromptPassesOver(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file.jsonl")
	for _, tt := range []struct{ tool, lines, want string }{
		{"claude", `{"type":"user","isMeta":true,"message":{"content":"meta"}}`, ""},
		{"claude", `{"type":"user","isSidechain":true,"message":{"content":"of a subagent"}}`, ""},
		{"claude", `{"type":"user","message":{"content":[{"type":"tool_result"}]}}`, ""},
		{"claude",
			`{"type":"user","message":{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}}`, "one\n\ntwo"},
		{"claude", `{"type":"user","message":{}}`, ""},
		{"claude", "broken\n" + `{"type":"user","message":{"content":"whole"}}`, "whole"},
		{"claude", strings.Repeat("x", maxPromptLine+1) + "\n" +
			`{"type":"user","message":{"content":"behind"}}`, ""},
		{"codex",
			`{"payload":{"item":{"type":"AgentMessage","content":[{"type":"Text","text":"UserMessage"}]}}}`, ""},
		{"copilot",
			`{"type":"user.message","data":{"content":"of a subagent","parentToolCallId":"1"}}`,
			""},
		{"droid",
			`{"type":"message","id":"context-1","message":{"role":"user","content":[{"type":"text","text":"context"}]}}` + "\n" +
				`{"type":"message","id":"2","message":{"role":"user","content":[{"type":"text","text":"mine"}]}}`, "mine"},
		{"gemini", `{"type":"user","id":1,"message":"of another type","content":[{"text":"mine"}]}`,
			"mine"},
		{"qwen", `{"type":"user","provenance":"system","message":{"parts":[{"text":"theirs"}]}}`,
			""},
		{"vibe", `{"type":"user","message":{"content":"not read"}}`, ""},
	} {
		if err := os.WriteFile(file, []byte(tt.lines), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := FirstPrompt(tt.tool, file); got != tt.want || err != nil {
			t.Errorf("%s: %q, want %q, %v", tt.tool, got, tt.want, err)
		}
	}
	if got, err := FirstPrompt("claude", ""); got != "" || err != nil {
		t.Errorf("of no file: %q, %v", got, err)
	}
	if _, err := FirstPrompt("claude", file+".gone"); !os.IsNotExist(err) {
		t.Errorf("of a file that is gone: %v", err)
	}
	if got, err := FirstPrompt("claude", t.TempDir()); got != "" || err != nil {
		t.Errorf("of a directory: %q, %v", got, err)
	}
}
