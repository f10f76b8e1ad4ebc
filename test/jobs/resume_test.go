package jobs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/standin"
	"reprise/test/harness"
)

func list(words string) []string { return strings.Split(words, "|") }

func round(notes ...string) string { return harness.Round(notes...) }

// A reader reads the final answer from the output of a call in some format.
type reader = func(t *testing.T, out string) string

// formats are the output formats, and how a final answer is read from each.
var formats = map[string]reader{
	"": func(_ *testing.T, out string) string {
		return strings.TrimSuffix(out, "\n")
	},
	"--output-format|json": func(t *testing.T, out string) string { return parseResult(t, out) },
	"--output-format|json|--verbose": func(t *testing.T, out string) string {
		var events []json.RawMessage
		decode(t, out, &events)
		return parseResult(t, string(events[len(events)-1]))
	},
	"--output-format|stream-json|--verbose": func(t *testing.T, out string) string {
		lines := strings.Split(strings.TrimSpace(out), "\n")
		return parseResult(t, lines[len(lines)-1])
	},
}

func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
}

func parseResult(t *testing.T, line string) string {
	t.Helper()
	var r struct {
		Result string
		Cost   float64 `json:"total_cost_usd"`
	}
	decode(t, line, &r)
	if r.Cost <= 0 || r.Cost > 0.09 {
		t.Errorf("a call is said to cost %v", r.Cost)
	}
	return r.Result
}

func TestRemembersANumberOverFiveTurns(t *testing.T) {
	each(t, formats, func(t *testing.T, format string, answer reader) {
		w := newWorld(t, "claude", true)
		args := []string{"-p"}
		if format != "" {
			args = append(args, list(format)...)
		}
		if got := answer(t, w.call(append(args, round())...).Stdout); got != "Got it: 4711." {
			t.Fatalf("first answer %q", got)
		}
		var notes []string
		for turn := 2; turn <= 5; turn++ {
			notes = append(notes, fmt.Sprintf("Round %d: what number was it?", turn))
			r := w.call(append(args, round(notes...))...)
			if got := answer(t, r.Stdout); got != "4711" || r.Exit != 0 || r.Stderr != "" {
				t.Fatalf("turn %d: %q, exit %d, stderr %q", turn, got, r.Exit, r.Stderr)
			}
			w.sentOnlyNews(r, turn, notes)
		}
		w.statusSays(`"resume"`, `"extends"`, `"turns": 5`, `"calls": 5`)
	})
}

// sentOnlyNews checks the model's request in a resumed turn: the whole history,
// and of the prompt the role, the newest note and the contract.
func (w *world) sentOnlyNews(r result, turn int, notes []string) {
	w.t.Helper()
	req := r.last(w.t)
	prompt := standin.LastUser(req)
	newest := notes[len(notes)-1]
	for _, want := range []string{"You are the coder.", newest, "Print STATUS: REVIEW when done."} {
		if strings.Count(prompt, want) != 1 {
			w.t.Errorf("turn %d: %q stands %d times in %q", turn, want, strings.Count(prompt, want),
				prompt)
		}
	}
	for _, not := range append([]string{"Rule 7:"}, notes[:len(notes)-1]...) {
		if strings.Contains(prompt, not) {
			w.t.Errorf("turn %d: %q is sent again", turn, not)
		}
	}
	if n := strings.Count(standin.AllText(req), "Rule 7:"); n != 1 {
		w.t.Errorf("turn %d: the history has the rules %d times", turn, n)
	}
}

// statusSays looks for pieces of text in the output of shimctl status --json.
func (w *world) statusSays(pieces ...string) {
	w.t.Helper()
	r := w.run("shimctl", harness.Call{Args: list("status|--json")})
	for _, p := range pieces {
		if !strings.Contains(r.Stdout, p) {
			w.t.Errorf("status lacks %s:\n%s%s", p, r.Stdout, r.Stderr)
		}
	}
}

func TestPromptOnStdinIsResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "claude", true)
	w.run("claude", harness.Call{Args: list("-p"), Stdin: round()})
	r := w.run("claude", harness.Call{Args: list("-p"), Stdin: round("what number was it?")})
	if r.Stdout != "4711\n" {
		t.Errorf("answer %q, stderr %q", r.Stdout, r.Stderr)
	}
	w.sentOnlyNews(r, 2, []string{"what number was it?"})
}

func TestArgumentAndStdinAreOnePrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "claude", true)
	w.run("claude", harness.Call{Args: []string{"-p", round()}, Stdin: "## Data\n\none\n"})
	r := w.run("claude", harness.Call{Args: []string{"-p", round()},
		Stdin: "## Data\n\none\n\n## Rejection 1\n\nwhat number was it?\n"})
	if r.Stdout != "4711\n" {
		t.Errorf("answer %q, stderr %q", r.Stdout, r.Stderr)
	}
	if prompt := standin.LastUser(r.last(t)); strings.Contains(prompt, "Rule 7:") ||
		!strings.Contains(prompt, "## Rejection") {
		t.Errorf("sent %q", prompt)
	}
}

// The model of the figures: a resumed call must not be shown the session's totals.
func TestFiguresAreThisCallsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "claude", true)
	args := list("-p|--output-format|json")
	type figures struct {
		Cost  float64 `json:"total_cost_usd"`
		Usage struct {
			CacheRead int64 `json:"cache_read_input_tokens"`
		}
		ModelUsage map[string]struct {
			CacheRead int64   `json:"cacheReadInputTokens"`
			Cost      float64 `json:"costUSD"`
		}
	}
	for turn, notes := range [][]string{nil, {"what number?"},
		{"what number?", "what number again?"}} {
		var f figures
		decode(t, w.call(append(args, round(notes...))...).Stdout, &f)
		for name, m := range f.ModelUsage {
			if m.CacheRead != f.Usage.CacheRead ||
				fmt.Sprintf("%.6f", m.Cost) != fmt.Sprintf("%.6f", f.Cost) {
				t.Errorf("turn %d: %s used %+v, the call used %+v", turn+1, name, m, f)
			}
		}
	}
}

func TestSessionFileGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "claude", true)
	w.call("-p", round())
	for _, f := range w.transcripts() {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	r := w.call("-p", round("remember number 12"))
	if r.Stdout != "Got it: 12.\n" || r.Stderr != "" || r.Exit != 0 || len(r.Asked) != 1 {
		t.Errorf("stdout %q, stderr %q, exit %d, asked %d times", r.Stdout, r.Stderr, r.Exit,
			len(r.Asked))
	}
	if prompt := standin.LastUser(r.last(t)); !strings.Contains(prompt, "Rule 7:") {
		t.Errorf("the fresh session was sent a delta: %q", prompt)
	}
	w.statusSays(`"session_file_gone"`)
}

// The file is there and has its size, but claude does not take it: the gate must
// catch the refusal, and the caller must see one clean fresh run.
func TestRefusedResumeRunsFresh(t *testing.T) {
	each(t, formats, func(t *testing.T, format string, answer reader) {
		w := newWorld(t, "claude", true)
		args := []string{"-p"}
		if format != "" {
			args = append(args, list(format)...)
		}
		w.call(append(args, round())...)
		for _, f := range w.transcripts() {
			blank(t, f)
		}
		r := w.call(append(args, round("remember number 12"))...)
		if got := answer(t, r.Stdout); got != "Got it: 12." || r.Stderr != "" || r.Exit != 0 {
			t.Errorf("answer %q, stderr %q, exit %d", got, r.Stderr, r.Exit)
		}
		if prompt := standin.LastUser(r.last(t)); !strings.Contains(prompt, "Rule 7:") {
			t.Errorf("the fresh session was sent a delta: %q", prompt)
		}
		w.statusSays(`"fell_back": "refused_unknown_session"`, `"state": "dead"`)
	})
}

// blank overwrites a file with spaces, its size unchanged.
func blank(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat(" ", int(info.Size()))), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOverflowRunsFreshAndTheSessionIsDead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "claude", true)
	w.call("-p", round())
	r := w.call("-p", round("TOOBIG"))
	direct := newWorld(t, "claude", false).call("-p", round("TOOBIG"))
	if r.Exit != direct.Exit || !strings.HasPrefix(r.Stdout, "Prompt is too long") ||
		r.Stderr != direct.Stderr {
		t.Errorf("stdout %q, stderr %q, exit %d; direct exit %d", r.Stdout, r.Stderr, r.Exit,
			direct.Exit)
	}
	w.statusSays(`"refused_context_exceeded"`)
	if r := w.call("-p", round("remember number 5")); r.Exit != 0 || r.Stdout != "Got it: 5.\n" {
		t.Errorf("afterwards: stdout %q, exit %d", r.Stdout, r.Exit)
	}
}

func TestWhatTheCallerDoesToItsSessionIsNotResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "claude", true)
	var first struct {
		ID string `json:"session_id"`
	}
	decode(t, w.call("-p", round(), "--output-format", "json").Stdout, &first)
	if r := w.call("-p", "what number", "--resume", first.ID, "--output-format",
		"json"); r.Exit != 0 {
		t.Fatalf("the caller's own resume: exit %d, %s", r.Exit, r.Stderr)
	}
	r := w.call("-p", round("remember number 3"))
	if r.Stdout != "Got it: 3.\n" {
		t.Errorf("answer %q", r.Stdout)
	}
	if text := standin.AllText(r.last(t)); strings.Contains(text, "what number") {
		t.Errorf("the model was sent what the caller said there: %q", text)
	}
	w.statusSays(`"mode": "fork"`)
}

// Callers must not notice damage in reprise.
func TestFaultsAreNotFelt(t *testing.T) {
	faults := map[string]func(*testing.T, *world) []string{
		"state directory is a file": func(t *testing.T, w *world) []string {
			put(t, filepath.Dir(w.State()), "")
			return nil
		},
		"ledger is a directory": func(t *testing.T, w *world) []string {
			mkdir(t, filepath.Join(w.State(), "ledger.db"))
			return nil
		},
		"ledger is corrupt": func(t *testing.T, w *world) []string {
			put(t, filepath.Join(w.State(), "ledger.db"), strings.Repeat("not a database ", 1000))
			return nil
		},
		"configuration is broken": func(t *testing.T, w *world) []string {
			put(t, filepath.Join(w.Root, "home", ".config", "reprise", "config.toml"),
				"ttl = 'soon'\nbogus = 1\n")
			return nil
		},
		"disk is full": func(t *testing.T, w *world) []string {
			return []string{"XDG_STATE_HOME=" + fullDisk(t)}
		},
		"HOME is unset for us": func(*testing.T, *world) []string {
			return []string{"XDG_STATE_HOME=/proc/nowhere"}
		},
	}
	each(t, faults, func(t *testing.T, name string, fault func(*testing.T, *world) []string) {
		direct, w := newWorld(t, "claude", false), newWorld(t, "claude", true)
		c := harness.Call{Args: []string{"-p", round()}, Env: fault(t, w), Stdin: "data on stdin\n"}
		a, b := direct.run("claude", c), w.run("claude", c)
		if a.Stdout != b.Stdout || a.Stderr != b.Stderr || a.Exit != b.Exit {
			t.Errorf("stdout %q, stderr %q, exit %d; want %q, %q, %d", b.Stdout, b.Stderr, b.Exit,
				a.Stdout, a.Stderr, a.Exit)
		}
		same(t, "prompt", standin.LastUser(a.last(t)), standin.LastUser(b.last(t)))
	})
}

func put(t *testing.T, path, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

// fullDisk returns a directory on a small file system that has no room left.
func fullDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := mountSmall(dir); err != nil {
		t.Skipf("no small file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { unmount(dir) })
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	return dir
}
