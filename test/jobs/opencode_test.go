package jobs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"reprise/internal/standin"
	"reprise/ledger"
	"reprise/ledger/history"
	"reprise/test/harness"
	"reprise/test/markers"
	"reprise/test/realcli"
)

// opencodeFormats are the output formats, and how a final answer is read from each.
var opencodeFormats = map[string]reader{
	"default": func(_ *testing.T, out string) string { return strings.TrimSuffix(out, "\n") },
	"json": func(t *testing.T, out string) (answer string) {
		for line := range strings.Lines(out) {
			var event struct {
				Type string
				Part struct{ Text string }
			}
			decode(t, line, &event)
			if event.Type == "text" {
				answer = event.Part.Text
			}
		}
		return answer
	},
}

func TestOpencodeRemembersANumberOverThreeRounds(t *testing.T) {
	each(t, opencodeFormats, func(t *testing.T, format string, answer reader) {
		direct, w := newWorld(t, "opencode", false), newWorld(t, "opencode", true)
		first := w.call("run", round(), "--format", format)
		if got := answer(t, first.Stdout); got != "Got it: 4711." {
			t.Fatalf("first answer %q", got)
		}
		looksLike(t, direct, direct.call("run", round(), "--format", format), w, first)
		var notes []string
		for turn := 2; turn <= 3; turn++ {
			notes = append(notes, fmt.Sprintf("Round %d: what number was it?", turn))
			r := w.call("run", round(notes...), "--format", format)
			if got := answer(t, r.Stdout); got != "4711" {
				t.Fatalf("turn %d: %q, stderr %q", turn, got, r.Stderr)
			}
			w.sentOnlyNews(r, turn, notes)
			looksLike(t, direct, direct.call("run", round(notes...), "--format", format), w, r)
		}
		w.statusSays(`"resume"`, `"extends"`, `"turns": 3`, `"calls": 3`)
		opencodeFigures(t, w)
	})
}

// looksLike compares the output that callers in two worlds have seen.
func looksLike(t *testing.T, direct *world, a result, w *world, b result) {
	t.Helper()
	if a.Exit != b.Exit {
		t.Errorf("exit %d, with the shim %d", a.Exit, b.Exit)
	}
	same(t, "stdout", withoutTokens(direct.Mask(a.Stdout)), withoutTokens(w.Mask(b.Stdout)))
	same(t, "stderr", direct.Mask(a.Stderr), w.Mask(b.Stderr))
}

// withoutTokens removes the cost of another prompt.
func withoutTokens(events string) string {
	var masked []string
	for line := range strings.Lines(events) {
		before, _, _ := strings.Cut(line, `"tokens":`)
		masked = append(masked, before)
	}
	return strings.Join(masked, "\n")
}

// opencodeFigures compares the ledger's tokens with the requests', without the request for
// a title: it is not the caller's.
func opencodeFigures(t *testing.T, w *world) {
	t.Helper()
	var want, titles int64
	for _, r := range w.Model.Requests() {
		if strings.HasPrefix(standin.AllText(r), "You are a title generator.") {
			titles++
			continue
		}
		want += int64(r.Tokens.Input)
	}
	l, err := ledger.OpenExisting(filepath.Join(w.State(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var got int64
	rows, err := history.LatestCalls(l, history.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		got += row.Input.Int64 + row.CacheRead.Int64
	}
	if got != want || titles == 0 {
		t.Errorf("the ledger has %d tokens, the requests had %d; %d requests for a title", got,
			want, titles)
	}
}

// A resumed call must show its caller the output of a call without the shim.
func TestOpencodeResumedCallLooksLikeADirectOne(t *testing.T) {
	type test struct {
		args, does string
		stdin      bool
	}
	tests := map[string]test{
		"text, several lines": {"", "MULTI", false},
		"text, tool use":      {"--auto", "RUNTOOL", false},
		"text, stdin":         {"", "ECHO<<yes>>", true},
		"text, 401":           {"", "HTTP401", false},
		"json, tool use":      {"--format|json|--auto", "RUNTOOL", false},
		"json, nothing":       {"--format|json", "EMPTY", false},
		"json, stdin":         {"--format|json", "ECHO<<yes>>", true},
		"json, 401":           {"--format|json", "HTTP401", false},
	}
	each(t, tests, func(t *testing.T, name string, tt test) {
		direct, w := newWorld(t, "opencode", false), newWorld(t, "opencode", true)
		ask := func(prompt string) harness.Call {
			args := []string{"run"}
			if tt.args != "" {
				args = append(args, list(tt.args)...)
			}
			if tt.stdin {
				return harness.Call{Args: args, Stdin: prompt}
			}
			return harness.Call{Args: append(args, prompt)}
		}
		w.run("opencode", ask(round()))
		a, b := direct.run("opencode", ask(round(tt.does))), w.run("opencode", ask(round(tt.does)))
		looksLike(t, direct, a, w, b)
		w.statusSays(`"extends"`)
		if strings.Contains(standin.LastUser(b.last(t)), "Rule 7:") {
			t.Error("the whole prompt was sent")
		}
	})
}

// A session that is gone, or that its API does not take, gives one clean fresh run.
func TestOpencodeLostSessionRunsFresh(t *testing.T) {
	type test struct {
		format, does, answer, reason string
		delete                       bool
	}
	tests := map[string]test{
		"deleted, text": {"default", "remember number 12", "Got it: 12.", "session_file_gone",
			true},
		"deleted, json": {"json", "remember number 12", "Got it: 12.", "session_file_gone", true},
		"broken, text":  {"default", "BADTOOL", "", "refused_broken_transcript", false},
		"too big, json": {"json", "TOOBIG", "", "refused_context_exceeded", false},
	}
	each(t, tests, func(t *testing.T, name string, tt test) {
		direct, w := newWorld(t, "opencode", false), newWorld(t, "opencode", true)
		w.call("run", round(), "--format", tt.format)
		if tt.delete {
			w.run("opencode", harness.Call{Args: list("session|delete|{id}")})
		}
		r := w.call("run", round(tt.does), "--format", tt.format)
		looksLike(t, direct, direct.call("run", round(tt.does), "--format", tt.format), w, r)
		if got := opencodeFormats[tt.format](t, r.Stdout); got != tt.answer {
			t.Errorf("answer %q", got)
		}
		if prompt := standin.LastUser(r.last(t)); !strings.Contains(prompt, "Rule 7:") {
			t.Errorf("the fresh session was sent a delta: %q", prompt)
		}
		w.statusSays(tt.reason)
	})
}

// opencode works in the directory that PWD names, and hangs if it resumes a session of another one.
func TestOpencodeNeverResumesInAnotherDirectory(t *testing.T) {
	type test struct {
		dir, pwd string // of the second call, below the project
		resumed  bool
	}
	tests := map[string]test{
		"another directory":     {"other", "", false},
		"only PWD is another":   {"", "other", false},
		"only PWD is the same":  {"other", ".", true},
		"the same by --dir":     {"other", "", true},
		"by a symbolic link":    {"", "../link", true},
		"another, named as one": {"other", "other", false},
	}
	each(t, tests, func(t *testing.T, name string, tt test) {
		w := newWorld(t, "opencode", true)
		if err := os.Mkdir(filepath.Join(w.Project, "other"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(w.Project, filepath.Join(w.Root, "link")); err != nil {
			t.Fatal(err)
		}
		w.run("opencode", harness.Call{Args: list("run|" + round()),
			Env: []string{"REPRISE_TASK=t", "REPRISE_ROLE=coder"}})
		c := harness.Call{Args: list("run|" + round("what number was it?")), Dir: tt.dir,
			Env: []string{"REPRISE_TASK=t", "REPRISE_ROLE=coder"}}
		if tt.pwd != "" {
			c.Env = append(c.Env, "PWD="+filepath.Join(w.Project, tt.pwd))
		} else if tt.resumed {
			c.Args = append(c.Args, "--dir", "..")
			c.Env = append(c.Env, "PWD="+filepath.Join(w.Project, tt.dir))
		}
		r := w.run("opencode", c)
		if r.Stdout != "4711\n" || r.Exit != 0 {
			t.Errorf("%q, exit %d, stderr %q", r.Stdout, r.Exit, r.Stderr)
		}
		if got := strings.Contains(standin.LastUser(r.last(t)), "Rule 7:"); got == tt.resumed {
			t.Errorf("whole prompt: %v", got)
		}
	})
}

// TestOpencodeJobs runs the tests that need a world with the shim only.
func TestOpencodeJobs(t *testing.T) {
	tests := map[string]func(*testing.T, *world){
		"words in quotes":        opencodeSendsWordsInQuotes,
		"its own change":         opencodeTellsItsOwnChange,
		"a turn of its caller's": opencodeSeesAForeignTurn,
		"two at once":            opencodeRunsAtOnce,
	}
	each(t, tests, func(t *testing.T, _ string, test func(*testing.T, *world)) {
		test(t, newWorld(t, "opencode", true))
	})
}

// Words with spaces are sent in quotes, before and after a resume, and stdin behind them.
func opencodeSendsWordsInQuotes(t *testing.T, w *world) {
	r := w.call("run", round(`She said "no".`))
	if got := standin.LastUser(r.last(t)); !strings.HasPrefix(got, `"You are the coder.`) ||
		!strings.Contains(got, `\"no\"`) || !strings.HasSuffix(got, `"`) {
		t.Errorf("fresh: %q", got)
	}
	r = w.call("run", round(`She said "no".`, `Now she says "what number was it?"`))
	if got := standin.LastUser(r.last(t)); !strings.HasPrefix(got, `"You are the coder.`) ||
		!strings.Contains(got, `\"what number was it?\"`) || strings.Contains(got, "Rule 7:") {
		t.Errorf("resumed: %q", got)
	}
	r = w.run("opencode", harness.Call{Args: list("run|look here"), Stdin: "what number\n",
		From: harness.Late})
	if got := standin.LastUser(r.last(t)); got != "\"look here\"\nwhat number\n" {
		t.Errorf("with stdin: %q", got)
	}
}

// In the first run opencode adds a line to its configuration: that is no change of the caller's.
func opencodeTellsItsOwnChange(t *testing.T, w *world) {
	config := filepath.Join(w.Root, "home", ".config", "opencode", "opencode.json")
	project := filepath.Join(w.Project, "opencode.jsonc")
	put(t, project, "{\n  // mine\n  \"username\": \"me\",\n}\n")
	w.call("run", round())
	for _, path := range []string{config, project} {
		if text, err := os.ReadFile(path); err != nil ||
			!strings.Contains(string(text), `"$schema"`) {
			t.Errorf("%s is as it was (%v): %s", path, err, text)
		}
	}
	w.call("run", round("what number"))
	w.statusSays(`"extends"`)
	put(t, project, "{\n  // mine\n  \"username\": \"you\",\n}\n")
	w.call("run", round("what number", "what number again"))
	w.statusSays(`"settings_changed"`)
}

// A turn that the caller itself adds to the session is seen.
func opencodeSeesAForeignTurn(t *testing.T, w *world) {
	w.call("run", round())
	if r := w.call("run", "what number", "-s", "{id}"); r.Stdout != "4711\n" {
		t.Fatalf("the caller's own resume: %q %q", r.Stdout, r.Stderr)
	}
	if r := w.call("run", round("remember number 3")); r.Stdout != "Got it: 3.\n" {
		t.Errorf("answer %q", r.Stdout)
	}
	w.statusSays(`"session_changed"`)
}

// Two runs in one home at once: each keeps to its own session.
func opencodeRunsAtOnce(t *testing.T, w *world) {
	w.call("run", "hi") // opencode creates its database in the first run
	var both sync.WaitGroup
	for _, job := range []int{1001, 2002} {
		both.Go(func() {
			for turn, want := range []string{fmt.Sprintf("Got it: %d.\n", job),
				fmt.Sprintf("%d\n", job)} {
				prompt := strings.Replace(round([]string{"what number was it?"}[:turn]...), "4711",
					fmt.Sprint(job), 1)
				if r := w.call("run", prompt); r.Stdout != want {
					t.Errorf("job %d, turn %d: %q, want %q, stderr %q", job, turn+1, r.Stdout, want,
						r.Stderr)
				}
			}
		})
	}
	both.Wait()
	w.statusSays(`"turns": 2`)
}

// kilo is opencode under another name.
func TestKiloRemembersANumberOverThreeRounds(t *testing.T) {
	each(t, opencodeFormats, func(t *testing.T, format string, answer reader) {
		w := newWorldWith(t, realcli.Kilo, true, markers.Options{})
		var notes []string
		for turn, want := range []string{"Got it: 4711.", "4711", "4711"} {
			r := w.call("run", round(notes...), "--format", format)
			if got := answer(t, r.Stdout); got != want || strings.Contains(r.Stderr, "level=") ||
				strings.Contains(r.Stderr, "service=") {
				t.Fatalf("turn %d: %q, stderr %q", turn+1, got, r.Stderr)
			}
			if turn > 0 {
				w.sentOnlyNews(r, turn+1, notes)
			}
			notes = append(notes, fmt.Sprintf("Round %d: what number was it?", turn+2))
		}
		w.statusSays(`"extends"`, `"turns": 3`)
	})
}
