package history

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// homes is an environment in which each tool has its home in root.
func homes(root string) func(string) string {
	return func(name string) string {
		switch name {
		case "CLAUDE_CONFIG_DIR":
			return root + "/claude"
		case "CODEX_HOME":
			return root + "/codex"
		case "COPILOT_HOME":
			return root + "/copilot"
		case "QWEN_HOME":
			return root + "/qwen"
		case "VIBE_HOME":
			return root + "/vibe"
		case "GEMINI_CLI_HOME":
			return root + "/gemini-home"
		}
		return ""
	}
}

// copied returns a directory with a copy of the sessions in testdata.
func copied(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("../../testdata/sessions")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(root+"/gemini-home", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(root+"/gemini", root+"/gemini-home/.gemini"); err != nil {
		t.Fatal(err)
	}
	return root
}

func read(t testing.TB, root string, c *Cache) []Session {
	t.Helper()
	found, err := Read(homes(root), "", c)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(found, func(a, b Session) int { return strings.Compare(a.Tool, b.Tool) })
	return found
}

func at(text string) time.Time {
	when, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return when
}

// What the tools' own files hold of two turns each, the second of which resumed the first.
var want = []Session{
	{"claude", "d628eb00-24df-4672-a63d-75e4330c8e6c", "/home/me/claude/proj", "claude-opus-5-5", "2.1.329",
		at("2026-11-21T07:56:11.091Z"), at("2026-11-21T07:56:11.764Z"), 2, true, 2, 12260, 12291, 2},
	{"codex", "01a1fd1b-12a2-7ce1-8596-135eb3cb32be", "/home/me/codex/proj", "gpt-5.5", "0.169.0",
		at("2026-11-21T07:56:12.353Z"), at("2026-11-21T07:56:12.802Z"), 2, true, 9317, 9246, 0, 2},
	{"copilot", "734dbf63-405f-485a-9a5e-3f779cf7d1e4", "/home/me/copilot/proj", "gpt-4.1", "1.0.102",
		at("2026-11-22T16:07:43.679Z"), at("2026-11-22T16:07:49.137Z"), 2, true, 12048 + 12086, 0, 0, 4},
	{"gemini", "96cfd3f7-06f8-4e8e-aa17-1848984a1c12", "/home/me/gemini/proj", "gemini-2.5-pro", "",
		at("2026-11-21T07:56:17.122Z"), at("2026-11-21T07:56:20.365Z"), 2, true, 7850 + 22, 7849, 0, 2},
	{"qwen", "230b20e8-782d-4758-81ad-42eab92d6361", "/home/me/qwen/proj", "stand-in", "0.24.4",
		at("2026-11-22T16:20:01.4Z"), at("2026-11-22T16:25:49.267Z"), 2, true, 13811 + 14, 13824, 0, 5},
	{"vibe", "18c112d9-e7f2-cff4-51b6-775137207552", "/home/me/vibe/proj", "stand-in", "",
		at("2026-11-21T07:56:23.771Z"), at("2026-11-21T07:56:29.607Z"), -1, false, 0, 0, 0, 0},
}

func TestRead(t *testing.T) {
	root := copied(t)
	var c Cache
	if got := read(t, root, &c); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "hello") {
		t.Error("the cache holds a prompt")
	}
	var again Cache
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("%v: %+v", err, again)
	}
	only, err := Read(homes(root), "codex", &again)
	if err != nil || len(only) != 1 || len(again.Files) != len(c.Files) {
		t.Errorf("of one tool: %v, %v; %d files are known", only, err, len(again.Files))
	}
}

// A file that grows is read to the same end as one that is there at once, wherever a
// write ends.
func TestReadAsItGrows(t *testing.T) {
	whole, growing := copied(t), copied(t)
	var files []string
	for _, pattern := range []string{"claude/projects/*/*", "codex/sessions/*/*/*/*", "copilot/session-state/*/*", "gemini-home/.gemini/tmp/*/chats/*", "qwen/projects/*/chats/*"} {
		found, err := filepath.Glob(filepath.Join(growing, pattern))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		files = append(files, found[0])
	}
	texts := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = text
		if err := os.Truncate(file, 0); err != nil {
			t.Fatal(err)
		}
	}
	var c Cache
	for step := 1; step <= 40; step++ {
		for _, file := range files {
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			text := texts[file]
			if _, err := f.Write(text[len(text)*(step-1)/40 : len(text)*step/40]); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		read(t, growing, &c)
	}
	var fresh Cache
	if got, want := read(t, growing, &c), read(t, whole, &fresh); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nnot\n%+v", got, want)
	}
	for _, file := range files { // only what was new has been read
		if c.Files[file].Offset != int64(len(texts[file])) {
			t.Errorf("%s: read to %d of %d", file, c.Files[file].Offset, len(texts[file]))
		}
	}
}

// A file that was written anew, in its place or under its name, is read from the start.
func TestReadAnew(t *testing.T) {
	root := copied(t)
	var c Cache
	read(t, root, &c)
	path := filepath.Join(root, "claude/projects/-home-me-claude-proj/d628eb00-24df-4672-a63d-75e4330c8e6c.jsonl")
	line := `{"type":"user","timestamp":"2026-11-22T00:00:00Z","cwd":"/other","message":{"content":"` + strings.Repeat("x", 9000) + `"}}` + "\n"
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	got := read(t, root, &c)[0]
	if got.Cwd != "/other" || got.Turns != 1 || got.Counted || got.Input != 0 {
		t.Errorf("in its place: %+v", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := read(t, root, &c); len(got) != len(want)-1 || len(c.Files) != len(want)-1 {
		t.Errorf("removed: %+v, %d files are known", got, len(c.Files))
	}
}

// Files that are no sessions, and broken ones, are passed over.
func TestReadOthers(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "claude/projects/[x]*")
	if err := os.MkdirAll(filepath.Join(dir, "0d628eb0-24df-4672-a63d-75e4330c8e6c.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"agent-1.jsonl": "{}\n", "e628eb00-24df-4672-a63d-75e4330c8e6c.jsonl": "no \"type\":\"user\" JSON\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var c Cache
	got := read(t, root, &c)
	if len(got) != 1 || got[0].ID != "e628eb00-24df-4672-a63d-75e4330c8e6c" || got[0].Turns != 0 {
		t.Errorf("%+v", got)
	}
}

// BenchmarkRead looks at 5000 sessions: for the first time, and again.
func BenchmarkRead(b *testing.B) {
	root := b.TempDir()
	text, err := os.ReadFile("../../testdata/sessions/claude/projects/-home-me-claude-proj/d628eb00-24df-4672-a63d-75e4330c8e6c.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	for n := range 5000 {
		path := fmt.Sprintf("%s/claude/projects/p%d/%08x-24df-4672-a63d-75e4330c8e6c.jsonl", root, n%50, n)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	var c Cache
	for name, cache := range map[string]func() *Cache{"First": func() *Cache { return &Cache{} }, "Again": func() *Cache { return &c }} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if got, err := Read(homes(root), "", cache()); err != nil || len(got) != 5000 {
					b.Fatal(len(got), err)
				}
			}
		})
	}
}
