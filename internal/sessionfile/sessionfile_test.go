package sessionfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/internal/prune"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/test/toolbox"
)

const (
	id    = "0ab1c2d3-0000-4000-8000-000000000001"
	other = "0ab1c2d3-0000-4000-8000-000000000002"
)

// used is when our last run ended; files of put are older.
var used = time.Now().Add(-time.Hour)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, used.Add(-time.Second), used.Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
}

// A scene is a tool's home with one session of ours in it.
type scene struct {
	t    *testing.T
	home string
	s    ledger.SessionFile
}

// paths are where each tool keeps the session, and its other files.
var paths = map[string][]string{
	"claude": {"projects/-p/" + id + ".jsonl", "projects/-p/" + id + "/subagents/agent-1.jsonl",
		"tasks/" + id + "/1.json"},
	"codex": {"sessions/2026/11/21/rollout-2026-11-21T07-19-29-" + id + ".jsonl"},
	"copilot": {"session-state/" + id + "/events.jsonl", "session-state/" + id + "/workspace.yaml",
		"session-state/" + id + "/checkpoints/index.md"},
	"gemini": {"tmp/app/chats/session-2026-11-21T07-19-0ab1c2d3.jsonl",
		"tmp/app/tool-outputs/session-" + id + "/a.txt", "tmp/app/" + id + "/b"},
	"vibe": {"unified/" + id + "/journal/0002.jsonl", "unified/" + id + "/meta.json",
		"unified/" + id + "/chunks/a.json"},
}

func newScene(t *testing.T, tool string) *scene {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text := `{"sessionId":"` + id + `"}` + "\nmore\n"
	for _, p := range paths[tool] {
		put(t, filepath.Join(home, p), text)
	}
	return &scene{t, home, ledger.SessionFile{Tool: tool, Home: home,
		SessionRecord: decide.SessionRecord{
			NativeID: id, File: filepath.Join(home, paths[tool][0]),
			Stamp:    decide.Stamp(fmt.Sprint(len(text))),
			LastUsed: decide.MillisOf(used),
		}}}
}

// size returns the size that the session's file had after our last run.
func (s *scene) size() int64 {
	size, err := s.s.Stamp.FileSize()
	if err != nil {
		s.t.Fatal(err)
	}
	return size
}

func (s *scene) path(p string) string { return filepath.Join(s.home, p) }

// left lists the files of the home.
func (s *scene) left() (files []string) {
	s.t.Helper()
	err := filepath.WalkDir(s.home, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, strings.TrimPrefix(p, s.home+"/"))
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}

func TestRemove(t *testing.T) {
	neighbours := map[string]string{
		"claude":  "projects/-p/" + other + ".jsonl",
		"codex":   "sessions/2026/11/21/rollout-2026-11-21T07-19-30-" + other + ".jsonl",
		"copilot": "session-state/" + other + "/events.jsonl",
		"gemini":  "tmp/app/chats/session-2026-11-21T07-20-1ab1c2d3.jsonl",
		"vibe":    "unified/" + other + "/meta.json",
	}
	for tool, neighbour := range neighbours {
		t.Run(tool, func(t *testing.T) {
			s := newScene(t, tool)
			put(t, s.path(neighbour), `{"id":"`+other+`"}`)
			files, why := new(Finder).Find(s.s)
			if why != "" {
				t.Fatal(why)
			}
			if files.Bytes() < s.size()*int64(len(paths[tool])) {
				t.Errorf("%d bytes", files.Bytes())
			}
			if err := files.Remove(); err != nil {
				t.Fatal(err)
			}
			if left := s.left(); len(left) != 1 || left[0] != neighbour {
				t.Errorf("left: %v", left)
			}
			if _, why := new(Finder).Find(s.s); why != prune.Gone {
				t.Errorf("then %q", why)
			}
		})
	}
}

func TestNamed(t *testing.T) {
	for tool, want := range map[string]bool{"claude": true, "gemini": true, "codex": false,
		"copilot": false, "vibe": false} {
		s := newScene(t, tool)
		if files, why := new(Finder).Find(s.s); why != "" || files.Named() != want {
			t.Errorf("%s: %v, %q", tool, !want, why)
		}
	}
	s := newScene(t, "claude")
	if err := os.RemoveAll(s.path("projects/-p/" + id)); err != nil {
		t.Fatal(err)
	}
	if files, why := new(Finder).Find(s.s); why != "" || files.Named() {
		t.Errorf("without such files: %q", why)
	}
}

// A rowTool keeps its sessions as rows of a database.
type rowTool struct{ rewrite.Tool }

func (rowTool) Descriptor() *rewrite.Descriptor {
	return &rewrite.Descriptor{Name: "rows", SessionQuery: "SELECT 1"}
}

// A file that must stay stays, for each reason.
func TestKeeps(t *testing.T) {
	outside := t.TempDir()
	// moves p away and puts a link to it in its place
	link := func(t *testing.T, s *scene, p string) {
		t.Helper()
		away := filepath.Join(outside, filepath.Base(t.Name()))
		if err := os.Rename(s.path(p), away); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(away, s.path(p)); err != nil {
			t.Fatal(err)
		}
	}
	appendTo := func(t *testing.T, path string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString("more\n"); err != nil {
			t.Fatal(err)
		}
	}
	flock := func(t *testing.T, path string) {
		t.Helper()
		put(t, path, "")
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			t.Fatal(err)
		}
	}
	cases := []struct {
		name, tool string
		change     func(*testing.T, *scene)
		want       prune.Reason
	}{
		{"nothing", "claude", func(*testing.T, *scene) {}, ""},
		{"unknown tool", "claude", func(_ *testing.T, s *scene) {
			s.s.Tool = "other"
		}, prune.Foreign},
		{"a row", "claude", func(_ *testing.T, s *scene) {
			claude, _ := rewrite.Lookup("claude")
			rewrite.Register(rowTool{claude})
			s.s.Tool = "rows"
		}, prune.InDatabase},
		{"no id", "claude", func(_ *testing.T, s *scene) { s.s.NativeID = "" }, prune.Foreign},
		{"an id that is a pattern", "claude", func(_ *testing.T, s *scene) {
			s.s.NativeID = "*"
		}, prune.Foreign},
		{"outside", "claude", func(t *testing.T, s *scene) {
			s.s.File = filepath.Join(outside, "projects", "-p", id+".jsonl")
			put(t, s.s.File, "x")
		}, prune.Foreign},
		{"above", "claude", func(_ *testing.T, s *scene) {
			s.s.File = s.home + "/projects/../" + id + ".jsonl"
		}, prune.Foreign},
		{"file is a link", "claude", func(t *testing.T, s *scene) {
			link(t, s, paths["claude"][0])
		}, prune.Foreign},
		{"directory is a link", "claude", func(t *testing.T, s *scene) {
			link(t, s, "projects/-p")
		}, prune.Foreign},
		{"directory is a link within", "codex", func(t *testing.T, s *scene) {
			if err := os.Rename(s.path("sessions/2026"), s.path("sessions/there")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("there", s.path("sessions/2026")); err != nil {
				t.Fatal(err)
			}
		}, prune.Foreign},
		{"companion is a link", "claude", func(t *testing.T, s *scene) {
			link(t, s, "projects/-p/"+id)
		}, prune.Foreign},
		{"a link in the companion", "claude", func(t *testing.T, s *scene) {
			if err := os.Symlink(outside, s.path("projects/-p/"+id+"/out")); err != nil {
				t.Fatal(err)
			}
		}, prune.Foreign},
		{"home is a link", "claude", func(t *testing.T, s *scene) {
			other := filepath.Join(outside, "home")
			if err := os.Symlink(s.home, other); err != nil {
				t.Fatal(err)
			}
			s.s.Home, s.s.File = other, filepath.Join(other, paths["claude"][0])
		}, prune.Foreign},
		{"file is a directory", "claude", func(t *testing.T, s *scene) {
			if err := os.Remove(s.s.File); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(s.s.File, 0o700); err != nil {
				t.Fatal(err)
			}
		}, prune.Changed},
		{"a pipe in the companion", "claude", func(t *testing.T, s *scene) {
			if err := syscall.Mkfifo(s.path("projects/-p/"+id+"/pipe"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, prune.Foreign},
		{"somebody has written", "claude", func(t *testing.T, s *scene) {
			appendTo(t, s.s.File)
		}, prune.Changed},
		{"somebody has written as much", "claude", func(t *testing.T, s *scene) {
			text := strings.Repeat("x", int(s.size()))
			if err := os.WriteFile(s.s.File, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}, prune.Changed},
		{"somebody has written beside it", "claude", func(t *testing.T, s *scene) {
			appendTo(t, s.path(paths["claude"][1]))
		}, prune.Changed},
		{"somebody has gone on", "vibe", func(t *testing.T, s *scene) {
			if err := os.WriteFile(s.path("unified/"+id+"/journal/0003.jsonl"), nil,
				0o600); err != nil {
				t.Fatal(err)
			}
		}, prune.Changed},
		{"gone", "claude", func(t *testing.T, s *scene) {
			if err := os.Remove(s.s.File); err != nil {
				t.Fatal(err)
			}
		}, prune.Gone},
		{"home gone", "claude", func(_ *testing.T, s *scene) {
			s.s.Home += "/none"
			s.s.File = filepath.Join(s.s.Home, paths["claude"][0])
		}, prune.Gone},
		{"another session of that short name", "gemini", func(t *testing.T, s *scene) {
			text := strings.ReplaceAll(`{"sessionId":"`+id+`"}`+"\nmore\n", id, other)
			put(t, s.s.File, text)
		}, prune.Foreign},
		{"codex has it open", "codex", func(t *testing.T, s *scene) {
			flock(t, s.path("thread-writer-locks/"+id+".lock"))
		}, prune.Open},
		{"codex had it open", "codex", func(t *testing.T, s *scene) {
			put(t, s.path("thread-writer-locks/"+id+".lock"), "")
		}, ""},
		{"a pipe for a lock", "codex", func(t *testing.T, s *scene) {
			put(t, s.path("thread-writer-locks/x"), "")
			if err := syscall.Mkfifo(s.path("thread-writer-locks/"+id+".lock"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, ""},
		{"copilot has it open", "copilot", func(t *testing.T, s *scene) {
			put(t, s.path("session-state/"+id+"/inuse.1.hold"), "")
			flock(t, s.path("session-state/"+id+"/inuse.22.hold"))
		}, prune.Open},
		{"copilot had it open", "copilot", func(t *testing.T, s *scene) {
			put(t, s.path("session-state/"+id+"/inuse.1.hold"), "")
		}, ""},
		{"vibe has it open", "vibe", func(t *testing.T, s *scene) {
			flock(t, s.path("active/"+id+".lock"))
		}, prune.Open},
		{"claude has it open", "claude", func(t *testing.T, s *scene) {
			put(t, s.path("sessions/12.json"), `{"pid":12,"sessionId":"`+id+`"}`)
		}, prune.Open},
		{"claude has another open", "claude", func(t *testing.T, s *scene) {
			put(t, s.path("sessions/12.json"), `{"pid":12,"sessionId":"`+other+`"}`)
		}, ""},
		{"parent of a fork", "codex", func(t *testing.T, s *scene) {
			put(t, s.path("sessions/2026/12/01/rollout-2026-12-01T00-00-00-"+other+".jsonl"),
				`{"type":"session_meta","payload":{"id":"`+other+`","forked_from_id":"`+id+`"}}`+"\n")
		}, prune.Forked},
		{"parent of an archived fork", "codex", func(t *testing.T, s *scene) {
			put(t, s.path("archived_sessions/rollout-2026-12-01T00-00-00-"+other+".jsonl"),
				`{"type":"session_meta","payload":{"id":"`+other+`","forked_from_id":"`+id+`"}}`+"\n")
		}, prune.Forked},
		{"somebody speaks of it", "codex", func(t *testing.T, s *scene) {
			put(t, s.path("sessions/2026/12/01/rollout-2026-12-01T00-00-00-"+other+".jsonl"),
				`{"type":"session_meta","payload":{"id":"`+other+`"}}`+"\nresume "+id+"\n")
		}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, c.tool)
			c.change(t, s)
			if _, why := new(Finder).Find(s.s); why != c.want {
				t.Errorf("%q, want %q", why, c.want)
			}
		})
	}
}

// Between the look and the removal anything can happen.
func TestRemoveLooksAgain(t *testing.T) {
	elsewhere := t.TempDir()
	put(t, filepath.Join(elsewhere, id+".jsonl"), "mine\n")
	changes := map[string]func(*scene) error{
		"written to": func(s *scene) error { return os.WriteFile(s.s.File, []byte("new"), 0o600) },
		"same size": func(s *scene) error {
			return os.WriteFile(s.s.File, []byte(strings.Repeat("x", int(s.size()))), 0o600)
		},
		"put in its place": func(s *scene) error {
			text, err := os.ReadFile(s.s.File)
			if err != nil {
				return err
			}
			next := s.s.File + ".new"
			if err := os.WriteFile(next, text, 0o600); err != nil {
				return err
			}
			if err := os.Chtimes(next, used.Add(-time.Second), used.Add(-time.Second)); err != nil {
				return err
			}
			return os.Rename(next, s.s.File)
		},
		"a new companion": func(s *scene) error {
			return os.WriteFile(s.path("projects/-p/"+id+"/new"), nil, 0o600)
		},
		"its directory is a link": func(s *scene) error {
			if err := os.Rename(s.path("projects/-p"), s.path("projects/-q")); err != nil {
				return err
			}
			return os.Symlink(elsewhere, s.path("projects/-p"))
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, "claude")
			files, why := new(Finder).Find(s.s)
			if why != "" {
				t.Fatal(why)
			}
			if err := change(s); err != nil {
				t.Fatal(err)
			}
			before := len(s.left())
			if err := files.Remove(); err == nil {
				t.Error("removed")
			}
			if after := len(s.left()); after != before {
				t.Errorf("%d files, then %d", before, after)
			}
			if _, err := os.Stat(filepath.Join(elsewhere, id+".jsonl")); err != nil {
				t.Error(err)
			}
		})
	}
}

// A rollout that cannot be read might need any other.
func TestUnreadableForkKeeps(t *testing.T) {
	if !toolbox.Unprivileged(t) {
		return
	}
	s := newScene(t, "codex")
	p := s.path("sessions/2026/12/01/rollout-2026-12-01T00-00-00-" + other + ".jsonl")
	put(t, p, "x")
	if err := os.Chmod(p, 0); err != nil {
		t.Fatal(err)
	}
	if _, why := new(Finder).Find(s.s); why != prune.Unknown {
		t.Errorf("%q", why)
	}
}

// A tool names files in a session's directory as a user or a model does, also in no UTF-8.
func TestRemovesAnyNames(t *testing.T) {
	s := newScene(t, "copilot")
	put(t, s.path("session-state/"+id+"/files/caf\xe9/a\xff.txt"), "x")
	files, why := new(Finder).Find(s.s)
	if why != "" {
		t.Fatal(why)
	}
	if err := files.Remove(); err != nil {
		t.Fatal(err)
	}
	if left := s.left(); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}
