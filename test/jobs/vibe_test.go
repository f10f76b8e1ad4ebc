package jobs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"reprise/internal/standin"
	"reprise/test/harness"
)

// A vibeWorld is a world of vibe's.
type vibeWorld struct{ *world }

func newVibeWorld(t *testing.T, shim bool) *vibeWorld {
	t.Helper()
	w := &vibeWorld{newWorld(t, "vibe", shim)}
	t.Cleanup(w.leavesNothing)
	return w
}

// leavesNothing checks that the directories made for the runs are gone.
func (w *vibeWorld) leavesNothing() {
	for _, pattern := range []string{w.Root + "/*reprise*", w.Project + "/*reprise*"} {
		if left, err := filepath.Glob(pattern); err != nil || len(left) > 0 {
			w.t.Errorf("left behind: %v %v", left, err)
		}
	}
}

// store is the directory of sessions, and session the directory of the only one.
func (w *vibeWorld) store() string {
	return filepath.Join(w.Root, "home", ".vibe", "logs", "session")
}

func (w *vibeWorld) session() string {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.store(), "unified", "[0-9a-f]*-*"))
	if err != nil || len(found) != 1 {
		w.t.Fatalf("sessions: %v %v", found, err)
	}
	return found[0]
}

// looksLike compares the output that callers in two worlds have seen.
func (w *vibeWorld) looksLike(a result, other *vibeWorld, b result) {
	w.t.Helper()
	if a.Exit != b.Exit {
		w.t.Errorf("exit %d, with the shim %d", a.Exit, b.Exit)
	}
	same(w.t, "stdout", w.Mask(a.Stdout), other.Mask(b.Stdout))
	same(w.t, "stderr", w.Mask(a.Stderr), other.Mask(b.Stderr))
}

// vibeFormats are the output formats, and how a final answer is read from each.
var vibeFormats = map[string]reader{
	"text": func(_ *testing.T, out string) string { return strings.TrimSuffix(out, "\n") },
	"json": func(t *testing.T, out string) string {
		var entries []vibeEntry
		decode(t, out, &entries)
		return lastVibeAnswer(t, entries)
	},
	"streaming": func(t *testing.T, out string) string {
		var entries []vibeEntry
		for line := range strings.Lines(out) {
			var e vibeEntry
			decode(t, line, &e)
			entries = append(entries, e)
		}
		return lastVibeAnswer(t, entries)
	},
}

type vibeEntry struct {
	Role    string
	Content []struct{ Text string }
}

// lastVibeAnswer is the answer of a turn that has one question.
func lastVibeAnswer(t *testing.T, entries []vibeEntry) string {
	t.Helper()
	if len(entries) != 2 || entries[0].Role != "user" || entries[1].Role != "assistant" {
		t.Fatalf("a question and an answer are wanted: %+v", entries)
	}
	return entries[1].Content[0].Text
}

func TestVibeRemembersANumberOverFiveTurns(t *testing.T) {
	each(t, vibeFormats, func(t *testing.T, format string, answer reader) {
		w := newVibeWorld(t, true)
		if got := answer(t, w.call("-p", round(), "--output", format).Stdout); got !=
			"Got it: 4711." {
			t.Fatalf("first answer %q", got)
		}
		var notes []string
		for turn := 2; turn <= 5; turn++ {
			notes = append(notes, fmt.Sprintf("Round %d: what number was it?", turn))
			r := w.call("-p", round(notes...), "--output", format)
			if got := answer(t, r.Stdout); got != "4711" || r.Exit != 0 || r.Stderr != "" {
				t.Fatalf("turn %d: %q, exit %d, stderr %q", turn, got, r.Exit, r.Stderr)
			}
			w.sentOnlyNews(r, turn, notes)
		}
		w.statusSays(`"resume"`, `"extends"`, `"turns": 5`, `"calls": 5`)
	})
}

// A resumed call must show its caller the output of a call without the shim.
func TestVibeResumedCallLooksLikeADirectOne(t *testing.T) {
	type test struct {
		args  string
		does  string
		stdin bool
	}
	tests := map[string]test{
		"text, several lines": {"--output|text", "MULTI", false},
		"text, tool use":      {"--auto-approve", "RUNTOOL", false},
		"json, several lines": {"--output|json", "MULTI", false},
		"json, tool use":      {"--auto-approve|--output|json", "RUNTOOL", false},
		"json, stdin":         {"--output|json", "ECHO<<yes>>", true},
		"json, 500":           {"--output|json", "HTTP500", false},
		"json, max turns":     {"--output|json|--yolo|--max-turns|1", "RUNTOOL", false},
		"streaming, tool use": {"--auto-approve|--output|streaming", "RUNTOOL", false},
		"streaming, nothing":  {"--output|streaming", "EMPTY", false},
		"streaming, stdin":    {"--output|streaming", "ECHO<<yes>>", true},
	}
	each(t, tests, func(t *testing.T, name string, tt test) {
		direct, w := newVibeWorld(t, false), newVibeWorld(t, true)
		ask := func(prompt string) harness.Call {
			if tt.stdin {
				return harness.Call{Args: append(list(tt.args), "-p"), Stdin: prompt}
			}
			return harness.Call{Args: append(list(tt.args), "-p", prompt)}
		}
		w.run("vibe", ask(round()))
		a, b := direct.run("vibe", ask(round(tt.does))), w.run("vibe", ask(round(tt.does)))
		direct.looksLike(a, w, b)
		w.statusSays(`"extends"`)
		if strings.Contains(standin.LastUser(b.last(t)), "Rule 7:") {
			t.Error("the whole prompt was sent")
		}
	})
}

// A resume that vibe does not take is run once more, fresh, and the caller sees
// one clean run.
func TestVibeRefusedResumeRunsFresh(t *testing.T) {
	type test struct {
		format string
		harm   func(w *vibeWorld)
		reason string
	}
	tests := map[string]test{
		"unknown, text": {"text", func(w *vibeWorld) {
			w.loseCurrent()
		}, "refused_unknown_session"},
		"unknown, json": {"json", func(w *vibeWorld) {
			w.loseCurrent()
		}, "refused_unknown_session"},
		"broken": {"streaming", func(w *vibeWorld) {
			put(w.t, filepath.Join(w.session(), "CURRENT"), "")
		}, "refused_broken_transcript"},
		"busy": {"text", func(w *vibeWorld) { w.lock() }, "refused_busy"},
	}
	each(t, tests, func(t *testing.T, name string, tt test) {
		w := newVibeWorld(t, true)
		w.call("-p", round(), "--output", tt.format)
		tt.harm(w)
		r := w.call("-p", round("remember number 12"), "--output", tt.format)
		if got := vibeFormats[tt.format](t, r.Stdout); got != "Got it: 12." || r.Stderr != "" ||
			r.Exit != 0 {
			t.Errorf("answer %q, stderr %q, exit %d", got, r.Stderr, r.Exit)
		}
		if prompt := standin.LastUser(r.last(t)); !strings.Contains(prompt, "Rule 7:") {
			t.Errorf("the fresh session was sent a delta: %q", prompt)
		}
		w.statusSays(fmt.Sprintf(`"fell_back": %q`, tt.reason))
	})
}

func (w *vibeWorld) loseCurrent() {
	w.t.Helper()
	if err := os.Remove(filepath.Join(w.session(), "CURRENT")); err != nil {
		w.t.Fatal(err)
	}
}

// lock takes the lock that vibe holds while it has the session open.
func (w *vibeWorld) lock() {
	w.t.Helper()
	path := filepath.Join(w.store(), "active", filepath.Base(w.session())+".lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { f.Close() })
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		w.t.Fatal(err)
	}
}

func TestVibeOverflowRunsFresh(t *testing.T) {
	t.Parallel()
	w, direct := newVibeWorld(t, true), newVibeWorld(t, false)
	w.call("-p", round())
	r := w.call("-p", round("TOOBIG"))
	direct.looksLike(direct.call("-p", round("TOOBIG")), w, r)
	w.statusSays(`"refused_context_exceeded"`)
}

func TestVibeSeesAForeignTurn(t *testing.T) {
	t.Parallel()
	w := newVibeWorld(t, true)
	w.call("-p", round())
	if r := w.call("-p", "what number", "--resume="+filepath.Base(w.session())); r.Stdout !=
		"4711\n" {
		t.Fatalf("the caller's own resume: %q %q", r.Stdout, r.Stderr)
	}
	if r := w.call("-p", round("remember number 3")); r.Stdout != "Got it: 3.\n" {
		t.Errorf("answer %q", r.Stdout)
	}
	w.statusSays(`"session_changed"`)
}

func TestVibeAnotherConfigurationIsFresh(t *testing.T) {
	t.Parallel()
	w := newVibeWorld(t, true)
	w.call("-p", round())
	config := filepath.Join(w.Root, "home", ".vibe", "config.toml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	put(t, config, strings.ReplaceAll(string(text), `alias = "stand-in"`,
		`alias = "stand-in"`+"\ntemperature = 0.5"))
	w.call("-p", round("what number"))
	w.statusSays(`"settings_changed"`)
}

// Two runs in one home at once: each keeps to its own session.
func TestVibeRunsAtOnceDoNotMix(t *testing.T) {
	t.Parallel()
	w := newVibeWorld(t, true)
	prompt := func(job int, notes ...string) string {
		return strings.Replace(round(notes...), "4711", fmt.Sprint(job), 1)
	}
	var both sync.WaitGroup
	for _, job := range []int{1001, 2002} {
		both.Go(func() {
			for turn, want := range []string{fmt.Sprintf("Got it: %d.\n", job),
				fmt.Sprintf("%d\n", job)} {
				if r := w.call("-p", prompt(job, []string{
					"what number was it?"}[:turn]...)); r.Stdout != want {
					t.Errorf("job %d, turn %d: %q, want %q, stderr %q", job, turn+1, r.Stdout, want,
						r.Stderr)
				}
			}
		})
	}
	both.Wait()
	w.statusSays(`"turns": 2`)
	// a constant pattern
	if found, _ := filepath.Glob(filepath.Join(w.store(), "unified", "[0-9a-f]*-*")); len(
		found) != 2 {
		t.Errorf("sessions: %v", found)
	}
}

// A caller that makes a new VIBE_HOME for each call, and deletes it afterwards, is
// resumed where the sessions are kept elsewhere.
func TestVibeHomeIsDeletedAfterEachCall(t *testing.T) {
	t.Parallel()
	w := newVibeWorld(t, true)
	config, err := os.ReadFile(filepath.Join(w.Root, "home", ".vibe", "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(n int, prompt string) result {
		home := filepath.Join(w.Root, fmt.Sprint("throwaway-", n))
		put(t, filepath.Join(home, "config.toml"), string(config))
		defer os.RemoveAll(home)
		logging := fmt.Sprintf(`VIBE_SESSION_LOGGING={"save_dir":%q}`,
			filepath.Join(w.Root, "sessions"))
		return w.run("vibe", harness.Call{Args: list("-p|" + prompt),
			Env: []string{"VIBE_HOME=" + home, logging}})
	}
	ask(1, round())
	if r := ask(2, round("what number was it?")); r.Stdout != "4711\n" || r.Stderr != "" {
		t.Errorf("answer %q, stderr %q", r.Stdout, r.Stderr)
	}
	w.statusSays(`"extends"`, `"turns": 2`)
}
