package rewrite

import (
	"slices"
	"strings"
	"testing"
)

func TestSessionFiles(t *testing.T) {
	const id = "0ab1c2d3-0000-4000-8000-000000000001"
	cases := []struct {
		tool, home, path string
		own              []string // nil where the path is refused
	}{
		{"claude", "/h/.claude", "/h/.claude/projects/-p/" + id + ".jsonl", []string{"projects/-p/" + id + ".jsonl", "projects/-p/" + id}},
		{"claude", "/h/.claude", "/h/.claude/projects/" + id + ".jsonl", nil},
		{"claude", "/h/.claude", "/h/.claude/projects/../" + id + ".jsonl", nil},
		{"claude", "/h/.claude", "/h/.claude/projects/./" + id + ".jsonl", nil},
		{"claude", "/h/.claude", "/h/.claude/projects//" + id + ".jsonl", nil},
		{"claude", "/h/.claude", "/h/.claude/projects/a/b/" + id + ".jsonl", nil},
		{"claude", "/h/.claude", "/h/.claude/projects/-p/1ab1c2d3-0000-4000-8000-000000000001.jsonl", nil},
		{"claude", "/h/.claude", "/h/.claude2/projects/-p/" + id + ".jsonl", nil},
		{"claude", "/h/.claude", "projects/-p/" + id + ".jsonl", nil},
		{"claude", "/h/.claude", "", nil},
		{"codex", "/h/.codex", "/h/.codex/sessions/2026/11/21/rollout-2026-11-21T07-19-29-" + id + ".jsonl",
			[]string{"sessions/2026/11/21/rollout-2026-11-21T07-19-29-" + id + ".jsonl"}},
		{"codex", "/h/.codex", "/h/.codex/archived_sessions/rollout-2026-11-21T07-19-29-" + id + ".jsonl", nil},
		{"codex", "/h/.codex", "/h/.codex/sessions/2026/11/21/" + id + ".jsonl", nil},
		{"gemini", "/h/.gemini", "/h/.gemini/tmp/app/chats/session-2026-11-21T07-19-0ab1c2d3.jsonl",
			[]string{"tmp/app/chats/session-2026-11-21T07-19-0ab1c2d3.jsonl", "tmp/app/chats/" + id,
				"tmp/app/logs/session-" + id + ".jsonl", "tmp/app/tool-outputs/session-" + id, "tmp/app/" + id}},
		{"gemini", "/h/.gemini", "/h/.gemini/tmp/app/chats/session-2026-11-21T07-19-1ab1c2d3.jsonl", nil},
		{"vibe", "/h/s", "/h/s/unified/" + id + "/journal/0001.jsonl", []string{"unified/" + id}},
		{"vibe", "/h/s", "/h/s/unified/" + id + "/meta.json", nil},
		{"vibe", "/h/s", "/h/s/unified/other/journal/0001.jsonl", nil},
	}
	for _, c := range cases {
		tool, _ := Lookup(c.tool)
		files, ok := tool.SessionFiles(c.home, id, c.path)
		if ok != (c.own != nil) || !slices.Equal(files.Paths, c.own) {
			t.Errorf("%s %s: %v, %v", c.tool, c.path, files.Paths, ok)
		}
		for _, p := range append(files.Paths, files.Lock) {
			if strings.HasPrefix(p, "/") || strings.Contains(p, "..") {
				t.Errorf("%s %s: %q may lead elsewhere", c.tool, c.path, p)
			}
		}
	}
}
