package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/scripts/realcli"
	"reprise/standin"
)

// A geminiWorld is a world with Gemini CLI in it.
type geminiWorld struct {
	*world
	real string
}

func newGeminiWorld(t *testing.T, shim bool) *geminiWorld {
	t.Helper()
	w := &geminiWorld{world: &world{t: t, root: t.TempDir(), shim: shim}}
	w.project = filepath.Join(w.root, "project")
	home := filepath.Join(w.root, "home")
	mkdir(t, w.project)
	mkdir(t, home)
	var err error
	if w.real, err = realcli.Install(realcli.Gemini); err != nil {
		t.Fatal(err)
	}
	if w.model, err = standin.Start(standin.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.model.Close() })
	if w.env, err = standin.Setup("gemini", home, w.model.URL()); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(shimBin, "claude"), filepath.Join(shimBin, "gemini")); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	w.env = append(w.env, "PATH="+w.path(), "TMPDIR="+w.root)
	return w
}

func (w *geminiWorld) path() string {
	path := w.real + ":" + os.Getenv("PATH")
	if w.shim {
		path = shimBin + ":" + path
	}
	return path
}

func (w *geminiWorld) command(c call) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	bin := w.real
	if w.shim {
		bin = shimBin
	}
	cmd = exec.Command(filepath.Join(bin, "gemini"), c.args...)
	cmd.Args[0] = "gemini"
	cmd.Dir, cmd.Env = w.project, append(w.env[:len(w.env):len(w.env)], c.env...)
	if c.stdin != "" {
		cmd.Stdin = strings.NewReader(c.stdin)
	}
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = 60 * time.Second
	return cmd, stdout, stderr
}

func (w *geminiWorld) call(c call) result {
	w.t.Helper()
	before := len(w.model.Asked())
	cmd, stdout, stderr := w.command(c)
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("gemini %v: %v", c.args, err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), w.model.Asked()[before:]}
}

func (w *geminiWorld) gemini(args ...string) result { w.t.Helper(); return w.call(call{args: args}) }

// sessions lists the session files.
func (w *geminiWorld) sessions() []string {
	files, err := filepath.Glob(filepath.Join(w.root, "home", ".gemini", "tmp", "*", "chats", "*"))
	if err != nil {
		w.t.Fatal(err)
	}
	return files
}

// geminiTwins are calls that must look the same to the caller and to the model
// whether the shim is there or not.
var geminiTwins = map[string]call{
	"text":                     {args: list("-p|hi remember number 456")},
	"json":                     {args: list("-p|hi remember number 456|-o|json")},
	"stream-json":              {args: list("--output-format=stream-json|-p|hi remember number 456")},
	"text asked for":           {args: list("-do|text|-p|hi")},
	"several lines, text":      {args: list("-p|MULTI")},
	"several lines, json":      {args: list("-p|MULTI|-o|json")},
	"raw output":               {args: list("-p|MULTI|--raw-output")},
	"empty answer, text":       {args: list("-p|EMPTY")},
	"tool use, text":           {args: list("-p|RUNTOOL please|--yolo")},
	"tool use, json":           {args: list("-yp|RUNTOOL please|-o|json")},
	"tool use, stream":         {args: list("-p|RUNTOOL please|--yolo|-o|stream-json")},
	"tool not allowed, text":   {args: list("-p|RUNTOOL please")},
	"401, text":                {args: list("-p|HTTP401")},
	"401, stream":              {args: list("-p|HTTP401|-o|stream-json")},
	"429, text":                {args: list("-p|HTTP429")},
	"429, json":                {args: list("-p|HTTP429|-o|json")},
	"500, text":                {args: list("-p|HTTP500")},
	"overflow, text":           {args: list("-p|TOOBIG")},
	"overflow, json":           {args: list("-p|TOOBIG|-o|json")},
	"unknown flag":             {args: list("-p|hi|--no-such-flag")},
	"bad format":               {args: list("-p|hi|-o|xml")},
	"two formats":              {args: list("-p|hi|-o|json|-o|text")},
	"two prompts":              {args: list("-p|hi|there")},
	"prompt behind --":         {args: list("--|hi")},
	"unknown session, text":    {args: list("-p|hi|--resume|" + unknownID)},
	"unknown session, json":    {args: list("-p|hi|-o|json|--resume|" + unknownID)},
	"chosen session":           {args: list("-p|hi|-o|json|--session-id|" + unknownID)},
	"stdin only":               {stdin: "hi remember number 9\n"},
	"stdin only, -p empty":     {args: list("-p||-o|json"), stdin: "hi remember number 9\n"},
	"stdin and argument":       {args: list("-p|look here"), stdin: "hi remember number 9\n"},
	"stdin and positional":     {args: list("look|here"), stdin: "hi remember number 9"},
	"no prompt":                {args: list("-o|json")},
	"slash command":            {args: list("-p|/nosuch thing")},
	"a file that is not there": {args: list("-p|@nosuch.txt look")},
	"nested":                   {args: list("-p|hi"), env: []string{"GEMINI_CLI=1"}},
	"version":                  {args: list("--version")},
	"help":                     {args: list("--help")},
}

func TestGeminiTwins(t *testing.T) {
	for name, c := range geminiTwins {
		t.Run(name, func(t *testing.T) {
			direct, shimmed := newGeminiWorld(t, false), newGeminiWorld(t, true)
			a, b := direct.call(c), shimmed.call(c)
			if a.exit != b.exit {
				t.Errorf("exit %d, with the shim %d", a.exit, b.exit)
			}
			same(t, "stdout", direct.mask(a.stdout), shimmed.mask(b.stdout))
			same(t, "stderr", direct.mask(a.stderr), shimmed.mask(b.stderr))
			if len(a.asked) != len(b.asked) {
				t.Fatalf("asked the model %d times, with the shim %d", len(a.asked), len(b.asked))
			}
			for i := range a.asked {
				same(t, "request", direct.mask(body(t, a.asked[i])), shimmed.mask(body(t, b.asked[i])))
			}
		})
	}
}

// geminiMasks are what differs between two runs of the same call, shim or not. The
// [STARTUP] lines are about how long its parts took.
var geminiMasks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`(?m)^\[STARTUP\].*\n`), ""},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d+Z`), "TIME"},
	{regexp.MustCompile(`((Ms|duration_ms)": ?)\d+`), "${1}0"},
	{regexp.MustCompile(`(run_shell_command_)+\d+_`), "TOOL_"},
	{regexp.MustCompile(`(Background PIDs|Process Group PGID): \d+`), "$1: PID"},
}

func (w *geminiWorld) mask(text string) string {
	text = w.world.mask(text)
	for _, m := range geminiMasks {
		text = m.pattern.ReplaceAllString(text, m.with)
	}
	return text
}

// geminiFormats are the output formats, and how an answer is read from each.
var geminiFormats = map[string]func(*testing.T, string) string{
	"":        func(_ *testing.T, out string) string { return strings.TrimSuffix(out, "\n") },
	"-o|json": func(t *testing.T, out string) string { return responseOf(t, out) },
	"-o|stream-json": func(t *testing.T, out string) string {
		var answer strings.Builder
		for line := range strings.Lines(out) {
			var e struct{ Role, Content string }
			decode(t, line, &e)
			if e.Role == "assistant" {
				answer.WriteString(e.Content)
			}
		}
		return answer.String()
	},
}

func responseOf(t *testing.T, out string) string {
	t.Helper()
	var r struct{ Response string }
	decode(t, out, &r)
	return r.Response
}

func geminiArgs(format, prompt string) []string {
	args := []string{"-p", prompt}
	if format != "" {
		args = append(list(format), args...)
	}
	return args
}

func TestGeminiRemembersANumberOverFiveTurns(t *testing.T) {
	for format, answer := range geminiFormats {
		t.Run(orText(format), func(t *testing.T) {
			w := newGeminiWorld(t, true)
			first := w.gemini(geminiArgs(format, round())...)
			if got := answer(t, first.stdout); got != "Got it: 4711." {
				t.Fatalf("first answer %q, stderr %q", got, first.stderr)
			}
			var notes []string
			for turn := 2; turn <= 5; turn++ {
				notes = append(notes, fmt.Sprintf("Round %d: what number was it?", turn))
				r := w.gemini(geminiArgs(format, round(notes...))...)
				if got := answer(t, r.stdout); got != "4711" || r.exit != 0 {
					t.Fatalf("turn %d: %q, exit %d, stderr %q", turn, got, r.exit, r.stderr)
				}
				w.sentOnlyNews(r, turn, notes)
			}
			w.statusSays(`"resume"`, `"extends"`, `"turns": 5`, `"calls": 5`)
		})
	}
}

// A prompt on stdin is resumed, data on stdin are put before the prompt, and one
// that is too long for argv goes to stdin.
func TestGeminiPromptOnStdin(t *testing.T) {
	w := newGeminiWorld(t, true)
	w.call(call{stdin: round()})
	r := w.call(call{stdin: round("what number was it?")})
	if r.stdout != "4711\n" {
		t.Errorf("answer %q, stderr %q", r.stdout, r.stderr)
	}
	w.sentOnlyNews(r, 2, []string{"what number was it?"})

	long := strings.Repeat("All work and no play makes Jack a dull boy.\n", 3000)
	r = w.call(call{stdin: round("what number was it?", long+"what number now?")})
	if r.stdout != "4711\n" || !strings.Contains(standin.LastUser(r.last(t)), long) {
		t.Errorf("a long prompt: answer %q, stderr %q", r.stdout, r.stderr)
	}
	w.statusSays(`"turns": 3`)
}

func TestGeminiDataAndPromptAreOnePrompt(t *testing.T) {
	w := newGeminiWorld(t, true)
	w.call(call{args: []string{"-p", "what number was it?"}, stdin: round()})
	r := w.call(call{args: []string{"-p", "what number was it?"}, stdin: round("what number?")})
	if prompt := standin.LastUser(r.last(t)); r.stdout != "4711\n" || strings.Contains(prompt, "Rule 7:") ||
		!strings.HasSuffix(prompt, "what number was it?\n") {
		t.Errorf("answer %q, sent %q, stderr %q", r.stdout, prompt, r.stderr)
	}
}

// The file is there and has its size, but gemini does not take it: the caller must
// see one clean fresh run.
func TestGeminiRefusedResumeRunsFresh(t *testing.T) {
	for format, answer := range geminiFormats {
		t.Run(orText(format), func(t *testing.T) {
			w := newGeminiWorld(t, true)
			w.gemini(geminiArgs(format, round())...)
			for _, f := range w.sessions() {
				blank(t, f)
			}
			r := w.gemini(geminiArgs(format, round("remember number 12"))...)
			if got := answer(t, r.stdout); got != "Got it: 12." || r.exit != 0 || strings.Contains(r.stderr, "resuming") {
				t.Errorf("answer %q, stderr %q, exit %d", got, r.stderr, r.exit)
			}
			if prompt := standin.LastUser(r.last(t)); !strings.Contains(prompt, "Rule 7:") {
				t.Errorf("the fresh session was sent a delta: %q", prompt)
			}
			w.statusSays(`"fell_back": "refused_unknown_session"`, `"state": "dead"`)
		})
	}
}

func TestGeminiOverflowRunsFresh(t *testing.T) {
	for _, format := range []string{"", "-o|json"} {
		t.Run(orText(format), func(t *testing.T) {
			w, direct := newGeminiWorld(t, true), newGeminiWorld(t, false)
			w.gemini(geminiArgs(format, round())...)
			r, d := w.gemini(geminiArgs(format, round("TOOBIG"))...), direct.gemini(geminiArgs(format, round("TOOBIG"))...)
			if r.exit != d.exit || r.stdout != d.stdout {
				t.Errorf("stdout %q, exit %d; direct %q, %d", r.stdout, r.exit, d.stdout, d.exit)
			}
			same(t, "stderr", direct.mask(d.stderr), w.mask(r.stderr))
			w.statusSays(`"fell_back": "refused_context_exceeded"`)
		})
	}
}

// SIGTERM ends the run at once, as a signal to the whole group ends the tool's.
func TestGeminiEndsBySignal(t *testing.T) {
	w := newGeminiWorld(t, true)
	cmd, stdout, stderr := w.command(call{args: list("-p|HANG")})
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for len(w.model.Asked()) == 0 {
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	sent := time.Now()
	err := cmd.Wait()
	if took := time.Since(sent); took > 5*time.Second || err != nil {
		t.Errorf("took %v, %v; stdout %q, stderr %q", took, err, stdout, stderr)
	}
	w.statusSays(`"outcome": "failed"`)
}

// A resume in a later minute leaves a file that makes the next start of gemini in
// the project delete the session (docs/gemini.md).
func TestGeminiSessionSurvivesOtherRuns(t *testing.T) {
	resumes, pause := 1, time.Duration(0)
	if os.Getenv("REPRISE_E2E_LONG") != "" {
		resumes, pause = 10, 22*time.Second
	}
	w := newGeminiWorld(t, true)
	w.gemini("-p", round())
	begun := time.Now()
	time.Sleep(begun.Truncate(time.Minute).Add(time.Minute + time.Second).Sub(begun))
	var notes []string
	for i := 1; i <= resumes; i++ {
		notes = append(notes, fmt.Sprintf("Round %d: what number was it?", i))
		if r := w.gemini("-p", round(notes...)); r.stdout != "4711\n" {
			t.Fatalf("resume %d after %v: %q, stderr %q", i, time.Since(begun), r.stdout, r.stderr)
		}
		if left := len(w.sessions()); left != i {
			t.Fatalf("after resume %d there are %d session files", i, left)
		}
		w.gemini("-p", fmt.Sprintf("Something else, number %d.", i))
		time.Sleep(pause)
	}
	notes = append(notes, "At last: what number was it?")
	r := w.gemini("-p", round(notes...))
	if r.stdout != "4711\n" {
		t.Fatalf("at last, after %v: %q, stderr %q", time.Since(begun), r.stdout, r.stderr)
	}
	w.sentOnlyNews(r, resumes+2, notes)
	w.statusSays(fmt.Sprintf(`"turns": %d`, resumes+2))
	t.Logf("%d resumes in %v", resumes+1, time.Since(begun).Round(time.Second))
}
