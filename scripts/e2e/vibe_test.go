package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"reprise/scripts/realcli"
	"reprise/standin"
)

// vibeBins installs vibe and builds its shim, once.
var vibeBins = sync.OnceValues(func() (bins struct{ real, shim string }, err error) {
	if bins.real, err = realcli.InstallPython(realcli.Vibe); err != nil {
		return bins, err
	}
	bins.shim = filepath.Join(shimBin, "for-vibe")
	for name, pkg := range map[string]string{"vibe": "reprise/cmd/shim", "shimctl": "reprise/cmd/shimctl"} {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(bins.shim, name), pkg).CombinedOutput(); err != nil {
			return bins, fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return bins, nil
})

// A vibeWorld is a home, a project and a model of their own, for vibe.
type vibeWorld struct {
	t             *testing.T
	root, project string
	model         *standin.Server
	env           []string
	bin           string
}

func newVibeWorld(t *testing.T, shim bool) *vibeWorld {
	t.Helper()
	bins, err := vibeBins()
	if errors.Is(err, realcli.ErrNoPython) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	w := &vibeWorld{t: t, root: t.TempDir(), bin: bins.real}
	w.project = filepath.Join(w.root, "project")
	mkdir(t, w.project)
	if w.model, err = standin.Start(standin.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.model.Close() })
	if w.env, err = standin.Setup("vibe", filepath.Join(w.root, "home"), w.model.URL()); err != nil {
		t.Fatal(err)
	}
	path := bins.real + ":" + os.Getenv("PATH")
	if shim {
		w.bin, path = bins.shim, bins.shim+":"+path
	}
	tmp := filepath.Join(w.root, "tmp")
	mkdir(t, tmp)
	w.env = append(w.env, "PATH="+path, "TMPDIR="+tmp)
	t.Cleanup(func() { w.leavesNothing(tmp) })
	return w
}

// leavesNothing checks that the folders made for the runs are gone.
func (w *vibeWorld) leavesNothing(tmp string) {
	for _, pattern := range []string{tmp + "/*reprise*", w.project + "/*reprise*"} {
		if left, err := filepath.Glob(pattern); err != nil || len(left) > 0 {
			w.t.Errorf("left behind: %v %v", left, err)
		}
	}
}

func (w *vibeWorld) run(name string, c call) result {
	w.t.Helper()
	before := len(w.model.Asked())
	cmd := exec.Command(filepath.Join(w.bin, name), c.args...)
	cmd.Dir, cmd.Env = w.project, append(w.env[:len(w.env):len(w.env)], c.env...)
	if c.stdin != "" {
		cmd.Stdin = strings.NewReader(c.stdin)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 60 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Errorf("%s %v: %v", name, c.args, err)
		return result{}
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), w.model.Asked()[before:]}
}

func (w *vibeWorld) vibe(args ...string) result { w.t.Helper(); return w.run("vibe", call{args: args}) }

// statusSays looks for pieces of text in what shimctl status --json prints.
func (w *vibeWorld) statusSays(pieces ...string) {
	w.t.Helper()
	r := w.run("shimctl", call{args: list("status|--json")})
	for _, p := range pieces {
		if !strings.Contains(r.stdout, p) {
			w.t.Errorf("status lacks %s:\n%s%s", p, r.stdout, r.stderr)
		}
	}
}

// store is the folder of sessions, and session that of the only one.
func (w *vibeWorld) store() string {
	return filepath.Join(w.root, "home", ".vibe", "logs", "session")
}

func (w *vibeWorld) session() string {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.store(), "unified", "[0-9a-f]*-*"))
	if err != nil || len(found) != 1 {
		w.t.Fatalf("sessions: %v %v", found, err)
	}
	return found[0]
}

// vibeMasks are what differs between two runs of the same call of vibe: ids, the
// names of entries, which count over a session, times, and the order of the keys in
// a tool's state as streaming has it.
var vibeMasks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`turn-[0-9a-f]{32}(-\d+)?`), "TURN"},
	{regexp.MustCompile(`("state":\{)"[^\n]*`), "$1"},
	{regexp.MustCompile(`(At"|durationMs"): ?[\d.]+`), "$1:0"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "MODEL"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ][\d:.]+`), "TIME"},
}

func (w *vibeWorld) mask(text string) string {
	text = strings.ReplaceAll(text, w.root, "ROOT")
	for _, m := range vibeMasks {
		text = m.pattern.ReplaceAllString(text, m.with)
	}
	return text
}

var vibeTwins = map[string]call{
	"text":                     {args: list("-p|hi remember number 456")},
	"json":                     {args: list("--output|json|-p|hi remember number 456")},
	"streaming":                {args: list("-phi remember number 456|--output=streaming")},
	"stdin":                    {args: list("-p"), stdin: "\nhi remember number 9\n\n"},
	"stdin, streaming":         {args: list("--output|streaming|--prompt="), stdin: "hi remember number 9"},
	"stdin and argument":       {args: list("-p|hi remember number 8"), stdin: "hi remember number 9\n"},
	"stdin without -p":         {stdin: "hi\n"},
	"several lines, text":      {args: list("-p|MULTI")},
	"several lines, json":      {args: list("-p|MULTI|--output|json")},
	"nothing, text":            {args: list("-p|EMPTY")},
	"tool use, text":           {args: list("-p|RUNTOOL please|--auto-approve")},
	"tool use, json":           {args: list("-p|RUNTOOL please|--auto-approve|--output|json")},
	"max turns, text":          {args: list("-p|RUNTOOL please|--yolo|--max-turns|1")},
	"401, text":                {args: list("-p|HTTP401")},
	"500, json":                {args: list("-p|HTTP500|--output|json")},
	"overflow, streaming":      {args: list("-p|TOOBIG|--output|streaming")},
	"unknown flag":             {args: list("-p|hi|--no-such-flag")},
	"bad format":               {args: list("-p|hi|--output|xml")},
	"unknown session, text":    {args: list("-p|hi|--resume|" + unknownID)},
	"unknown session, streams": {args: list("-p|hi|--output|streaming|--resume=" + unknownID)},
	"two prompts":              {args: list("-p|hi|-p|hi remember number 3|there")},
	"no prompt":                {args: list("-p")},
	"slash command":            {args: list("-p|/status")},
	"another directory":        {args: list("-p|hi|--workdir|..")},
	"the caller's export":      {args: list("-p|hi|--output|json|--output-dir|out")},
	"nested":                   {args: list("-p|hi"), env: []string{"REPRISE_INSIDE=vibe:1"}},
	"version":                  {args: list("--version")},
}

func TestVibeTwins(t *testing.T) {
	for name, c := range vibeTwins {
		t.Run(name, func(t *testing.T) {
			direct, shimmed := newVibeWorld(t, false), newVibeWorld(t, true)
			a, b := direct.run("vibe", c), shimmed.run("vibe", c)
			direct.looksLike(a, shimmed, b)
			if len(a.asked) != len(b.asked) {
				t.Fatalf("asked the model %d times, with the shim %d", len(a.asked), len(b.asked))
			}
			for i := range a.asked {
				same(t, "request", direct.mask(vibeBody(t, a.asked[i])), shimmed.mask(vibeBody(t, b.asked[i])))
			}
		})
	}
}

func vibeBody(t *testing.T, r standin.Request) string {
	t.Helper()
	text, err := json.MarshalIndent(r.Body, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// looksLike compares what the callers in two worlds have seen.
func (w *vibeWorld) looksLike(a result, other *vibeWorld, b result) {
	w.t.Helper()
	if a.exit != b.exit {
		w.t.Errorf("exit %d, with the shim %d", a.exit, b.exit)
	}
	same(w.t, "stdout", w.mask(a.stdout), other.mask(b.stdout))
	same(w.t, "stderr", w.mask(a.stderr), other.mask(b.stderr))
}

// vibeFormats are the output formats, and how a final answer is read from each.
var vibeFormats = map[string]func(*testing.T, string) string{
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
	for format, answer := range vibeFormats {
		t.Run(format, func(t *testing.T) {
			w := newVibeWorld(t, true)
			if got := answer(t, w.vibe("-p", round(), "--output", format).stdout); got != "Got it: 4711." {
				t.Fatalf("first answer %q", got)
			}
			var notes []string
			for turn := 2; turn <= 5; turn++ {
				notes = append(notes, fmt.Sprintf("Round %d: what number was it?", turn))
				r := w.vibe("-p", round(notes...), "--output", format)
				if got := answer(t, r.stdout); got != "4711" || r.exit != 0 || r.stderr != "" {
					t.Fatalf("turn %d: %q, exit %d, stderr %q", turn, got, r.exit, r.stderr)
				}
				w.sentOnlyNews(r, notes)
			}
			w.statusSays(`"resume"`, `"extends"`, `"turns": 5`, `"calls": 5`)
		})
	}
}

// sentOnlyNews checks what the model was sent in a resumed turn: the whole history,
// and of the prompt the role, the newest note and the contract.
func (w *vibeWorld) sentOnlyNews(r result, notes []string) {
	w.t.Helper()
	req := r.last(w.t)
	prompt := standin.LastUser(req)
	for _, want := range []string{"You are the coder.", notes[len(notes)-1], "Print STATUS: REVIEW when done."} {
		if strings.Count(prompt, want) != 1 {
			w.t.Errorf("%q stands %d times in %q", want, strings.Count(prompt, want), prompt)
		}
	}
	for _, not := range append([]string{"Rule 7:"}, notes[:len(notes)-1]...) {
		if strings.Contains(prompt, not) {
			w.t.Errorf("%q is sent again", not)
		}
	}
	if n := strings.Count(standin.AllText(req), "Rule 7:"); n != 1 {
		w.t.Errorf("the history has the rules %d times", n)
	}
}

// A resumed call must show its caller what a call without the shim would have.
func TestVibeResumedCallLooksLikeADirectOne(t *testing.T) {
	tests := map[string]struct {
		args  string
		does  string
		stdin bool
	}{
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
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			direct, w := newVibeWorld(t, false), newVibeWorld(t, true)
			ask := func(prompt string) call {
				if tt.stdin {
					return call{args: append(list(tt.args), "-p"), stdin: prompt}
				}
				return call{args: append(list(tt.args), "-p", prompt)}
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
}

// What vibe does not take as a resume is run once more, fresh, and the caller sees
// one clean run.
func TestVibeRefusedResumeRunsFresh(t *testing.T) {
	tests := map[string]struct {
		format string
		harm   func(w *vibeWorld)
		reason string
	}{
		"unknown, text": {"text", func(w *vibeWorld) { w.loseCurrent() }, "refused_unknown_session"},
		"unknown, json": {"json", func(w *vibeWorld) { w.loseCurrent() }, "refused_unknown_session"},
		"broken":        {"streaming", func(w *vibeWorld) { put(w.t, filepath.Join(w.session(), "CURRENT"), "") }, "refused_broken_transcript"},
		"busy":          {"text", func(w *vibeWorld) { w.lock() }, "refused_busy"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newVibeWorld(t, true)
			w.vibe("-p", round(), "--output", tt.format)
			tt.harm(w)
			r := w.vibe("-p", round("remember number 12"), "--output", tt.format)
			if got := vibeFormats[tt.format](t, r.stdout); got != "Got it: 12." || r.stderr != "" || r.exit != 0 {
				t.Errorf("answer %q, stderr %q, exit %d", got, r.stderr, r.exit)
			}
			if prompt := standin.LastUser(r.last(t)); !strings.Contains(prompt, "Rule 7:") {
				t.Errorf("the fresh session was sent a delta: %q", prompt)
			}
			w.statusSays(fmt.Sprintf(`"fell_back": %q`, tt.reason))
		})
	}
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
	w, direct := newVibeWorld(t, true), newVibeWorld(t, false)
	w.vibe("-p", round())
	r := w.vibe("-p", round("TOOBIG"))
	direct.looksLike(direct.vibe("-p", round("TOOBIG")), w, r)
	w.statusSays(`"refused_context_exceeded"`)
}

func TestVibeSeesAForeignTurn(t *testing.T) {
	w := newVibeWorld(t, true)
	w.vibe("-p", round())
	if r := w.vibe("-p", "what number", "--resume="+filepath.Base(w.session())); r.stdout != "4711\n" {
		t.Fatalf("the caller's own resume: %q %q", r.stdout, r.stderr)
	}
	if r := w.vibe("-p", round("remember number 3")); r.stdout != "Got it: 3.\n" {
		t.Errorf("answer %q", r.stdout)
	}
	w.statusSays(`"session_changed"`)
}

func TestVibeAnotherConfigurationIsFresh(t *testing.T) {
	w := newVibeWorld(t, true)
	w.vibe("-p", round())
	config := filepath.Join(w.root, "home", ".vibe", "config.toml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	put(t, config, strings.ReplaceAll(string(text), `alias = "stand-in"`, `alias = "stand-in"`+"\ntemperature = 0.5"))
	w.vibe("-p", round("what number"))
	w.statusSays(`"settings_changed"`)
}

// Two runs in one home at once: each keeps to its own session.
func TestVibeRunsAtOnceDoNotMix(t *testing.T) {
	w := newVibeWorld(t, true)
	prompt := func(job int, notes ...string) string {
		return strings.Replace(round(notes...), "4711", fmt.Sprint(job), 1)
	}
	var both sync.WaitGroup
	for _, job := range []int{1001, 2002} {
		both.Go(func() {
			for turn, want := range []string{fmt.Sprintf("Got it: %d.\n", job), fmt.Sprintf("%d\n", job)} {
				if r := w.vibe("-p", prompt(job, []string{"what number was it?"}[:turn]...)); r.stdout != want {
					t.Errorf("job %d, turn %d: %q, want %q, stderr %q", job, turn+1, r.stdout, want, r.stderr)
				}
			}
		})
	}
	both.Wait()
	w.statusSays(`"turns": 2`)
	if found, _ := filepath.Glob(filepath.Join(w.store(), "unified", "[0-9a-f]*-*")); len(found) != 2 { // a constant pattern
		t.Errorf("sessions: %v", found)
	}
}

// A caller that makes a new VIBE_HOME for each call, and deletes it afterwards, is
// resumed where the sessions are kept elsewhere.
func TestVibeHomeIsDeletedAfterEachCall(t *testing.T) {
	w := newVibeWorld(t, true)
	config, err := os.ReadFile(filepath.Join(w.root, "home", ".vibe", "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(n int, prompt string) result {
		home := filepath.Join(w.root, fmt.Sprint("throwaway-", n))
		put(t, filepath.Join(home, "config.toml"), string(config))
		defer os.RemoveAll(home)
		logging := fmt.Sprintf(`VIBE_SESSION_LOGGING={"save_dir":%q}`, filepath.Join(w.root, "sessions"))
		return w.run("vibe", call{args: list("-p|" + prompt), env: []string{"VIBE_HOME=" + home, logging}})
	}
	ask(1, round())
	if r := ask(2, round("what number was it?")); r.stdout != "4711\n" || r.stderr != "" {
		t.Errorf("answer %q, stderr %q", r.stdout, r.stderr)
	}
	w.statusSays(`"extends"`, `"turns": 2`)
}
