package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/rewrite"
)

const (
	orphan  = "session-2026-11-21T04-28-7f0cfa0b.jsonl"
	session = "session-2026-11-21T04-27-7f0cfa0b.jsonl"
	other   = "session-2026-11-21T04-28-00000000.jsonl"
)

// chats fills a directory with copies of a recorded session and of the file that its resume left,
// under the given names. It returns the tool and the files' pattern.
func chats(t *testing.T, files map[string]string) (rewrite.Tool, string) {
	t.Helper()
	dir := t.TempDir()
	for name, from := range files {
		data, err := os.ReadFile(filepath.Join("../../testdata/recordings/gemini/retention", from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tool, _ := rewrite.Lookup("gemini")
	return tool, filepath.Join(dir, "session-*-7f0cfa0b.jsonl")
}

func TestSweepDeletesLeftoversAlone(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		left  string
	}{
		{"a session and its leftover", map[string]string{session: "session.jsonl",
			orphan: "orphan.jsonl", other: "orphan.jsonl"},
			session + " " + other},
		{"nothing but a leftover", map[string]string{orphan: "orphan.jsonl"}, orphan},
		{"two leftovers", map[string]string{session: "orphan.jsonl", orphan: "orphan.jsonl"},
			session + " " + orphan},
		{"two files with a history",
			map[string]string{session: "session.jsonl", orphan: "session.jsonl"}, session + " " +
				orphan},
		{"none", nil, ""},
	}
	for _, tt := range tests {
		tool, pattern := chats(t, tt.files)
		sweep(tool, pattern)
		entries, err := os.ReadDir(filepath.Dir(pattern))
		if err != nil {
			t.Fatal(err)
		}
		left := map[string]bool{}
		for _, e := range entries {
			left[e.Name()] = true
		}
		for _, want := range strings.Fields(tt.left) {
			if !left[want] {
				t.Errorf("%s: %s is gone", tt.name, want)
			}
			delete(left, want)
		}
		if len(left) > 0 {
			t.Errorf("%s: %v is still there", tt.name, left)
		}
	}
}

// A link to a leftover in another directory is not the tool's: somebody has made it.
func TestSweepLeavesLinks(t *testing.T) {
	tool, pattern := chats(t, map[string]string{session: "session.jsonl", other: "orphan.jsonl"})
	link := filepath.Join(filepath.Dir(pattern), orphan)
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	sweep(tool, pattern)
	if _, err := os.Lstat(link); err != nil {
		t.Errorf("the link: %v", err)
	}
}
