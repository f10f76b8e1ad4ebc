package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/test/toolbox"
)

// programs are what is tested: the directories of the shims, of the fake tool and of the usual
// programs, and tests by their packages.
type programs struct {
	shims, real, tools string
	compiled           map[string]testProgram
}

// build builds the shims and the tool, as install.sh would.
func build(dir string) (programs, error) {
	p := programs{shims: filepath.Join(dir, "shims"), real: filepath.Join(dir, "real"), tools: filepath.Join(dir, "tools"),
		compiled: map[string]testProgram{}}
	if err := toolbox.Make(p.tools); err != nil {
		return p, err
	}
	for path, pkg := range map[string]string{
		filepath.Join(p.shims, "claude"): "reprise/cmd/shim", filepath.Join(p.shims, "shimctl"): "reprise/cmd/shimctl",
		filepath.Join(p.real, "claude"): "reprise/test/faults/fake",
	} {
		if out, err := exec.Command("go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
			return p, fmt.Errorf("build %s: %w: %s", pkg, err, out)
		}
	}
	return p, nil
}

// A world is where a fault is tried: a home, a project and a ledger of its own.
type world struct {
	programs
	dir  string
	user *syscall.SysProcAttr // the user who makes the calls, nil for the current one

	mu     sync.Mutex
	calls  int           // that were made through the shim
	worst  time.Duration // the longest of them, without the tool's own time
	lost   []string      // what differed from a call without the shim, or was not recorded
	begun  int           // runs of the tool before the traced call
	unlock func()        // releases the ledger, nil if it is not held
	skips  error         // why the kind cannot be tried here
}

func newWorld(p programs, dir string) (*world, error) {
	w := &world{programs: p, dir: dir}
	var err error
	for _, sub := range []string{"home", "project", "fake", "tmp"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(dir, sub), 0o700))
	}
	return w, err
}

func (w *world) state(name string) string {
	return filepath.Join(w.dir, "home", ".local", "state", "reprise", name)
}

func (w *world) ledger() string { return w.state("ledger.db") }

// lose records that something was lost.
func (w *world) lose(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	const most = 600
	text := fmt.Sprintf(format, args...)
	w.lost = append(w.lost, text[:min(len(text), most)])
}

// skip records that this machine does not allow the fault.
func (w *world) skip(why error) { w.skips = why }

// must records an error in setting up a fault: what was not tried counts as lost.
func (w *world) must(err error) {
	if err != nil {
		w.lose("set up: %v", err)
	}
}

// A call is one call of claude.
type call struct {
	prompt string
	task   string // REPRISE_TASK
	ms     int    // how long the tool works
	exit   int
	tool   string // a variable for the fake tool
	sh     string // what a shell does before it becomes claude, such as "ulimit -f 1"
}

const answer = "It is done."

// job is a prompt of n rounds. Each repeats everything that the round before it had.
func job(n int) string {
	var b strings.Builder
	b.WriteString("You are the coder.\n\n" + strings.Repeat("Keep every function small and clear. ", 8))
	for i := range n {
		fmt.Fprintf(&b, "\n\nNote %d: your change failed a test.", i)
	}
	return b.String()
}

func (w *world) env(c call, path ...string) []string {
	path = append(path, w.tools)
	home := filepath.Join(w.dir, "home")
	return []string{"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "XDG_STATE_HOME=" + filepath.Join(home, ".local/state"),
		"PATH=" + strings.Join(path, ":"), "TMPDIR=" + filepath.Join(w.dir, "tmp"),
		"FAKE_DIR=" + filepath.Join(w.dir, "fake"), "FAKE_ANSWER=" + answer, fmt.Sprintf("FAKE_MS=%d", c.ms),
		fmt.Sprintf("FAKE_EXIT=%d", c.exit), "REPRISE_TASK=" + c.task, c.tool}
}

// command returns the call as a caller makes it.
func (w *world) command(c call) *exec.Cmd {
	args := []string{"claude", "-p", c.prompt}
	if c.sh != "" {
		args = append([]string{"sh", "-c", c.sh + `; exec "$@"`, "sh"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Path = filepath.Join(w.shims, "claude")
	if c.sh != "" {
		cmd.Path = "/bin/sh"
	}
	cmd.Err = nil // what LookPath found does not count
	cmd.Env = w.env(c, w.shims, w.real)
	cmd.Dir = filepath.Join(w.dir, "project")
	cmd.SysProcAttr = w.user
	return cmd
}

// A result is everything that a caller sees of a call.
type result struct {
	stdout, stderr string
	status         syscall.WaitStatus
	took           time.Duration
}

func (w *world) run(c call) result { return w.see(w.command(c)) }

func (w *world) see(cmd *exec.Cmd) (r result) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.lose("start: %v", err)
		return r
	}
	w.mu.Lock()
	w.calls++
	w.mu.Unlock()
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return result{stdout.String(), stderr.String(), status, time.Since(start)}
}

// call makes a call that must end as the tool itself would.
func (w *world) call(c call) result {
	r := w.run(c)
	w.mu.Lock()
	w.worst = max(w.worst, r.took-time.Duration(c.ms)*time.Millisecond)
	w.mu.Unlock()
	if r.stdout != answer+"\n" || r.stderr != "" || !r.status.Exited() || r.status.ExitStatus() != c.exit {
		w.lose("a call ended with %#x, %q and %q on stderr", r.status, r.stdout, r.stderr)
	}
	return r
}

// A run is what the fake records about one run.
type run struct {
	Resumed, ID, Prompt string
	Managed             bool
}

// runs returns the runs of the tool so far.
func (w *world) runs() []run { return w.notes("runs") }

func (w *world) notes(name string) (runs []run) {
	text, err := os.ReadFile(filepath.Join(w.dir, "fake", name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.must(err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			break // it is just being written
		}
		var r run
		w.must(json.Unmarshal([]byte(line), &r))
		runs = append(runs, r)
	}
	return runs
}

// last returns the latest run.
func (w *world) last() run {
	runs := w.runs()
	if len(runs) == 0 {
		w.lose("the tool was never run")
		return run{}
	}
	return runs[len(runs)-1]
}

// passes makes a call that the tool must get unchanged.
func (w *world) passes(c call) result {
	r := w.call(c)
	if last := w.last(); last.Managed || last.Prompt != c.prompt {
		w.lose("the tool did not get the call unchanged: %+v", last)
	}
	return r
}

// resumes makes a call that must be resumed, or must not be.
func (w *world) resumes(c call, want bool) {
	w.call(c)
	if last := w.last(); last.Resumed != "" != want {
		w.lose("resumed %v, want %v", !want, want)
	}
}

// held reports whether any process holds a session.
func (w *world) held(l *ledger.Ledger) bool {
	chains, err := l.Chains(ledger.Wanted{Limit: 10_000})
	w.must(err)
	return slices.ContainsFunc(chains, func(c ledger.ChainRow) bool {
		return slices.ContainsFunc(c.Sessions, func(s ledger.SessionRow) bool { return s.Held })
	})
}

// wait waits until so returns true.
func (w *world) wait(so func() bool) {
	for range 2000 {
		if so() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	w.lose("waited in vain")
}

// sound checks the final state: an intact ledger that has each managed run with its outcome, no
// session that was used by two calls at once, no lease held, no temporary file.
func (w *world) sound(unended int) {
	if overlaps := w.notes("overlaps"); len(overlaps) > 0 {
		w.lose("%d runs shared a session", len(overlaps))
	}
	for _, dir := range []string{w.state(""), filepath.Join(w.dir, "tmp")} {
		entries, err := os.ReadDir(dir)
		w.must(err)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), "reprise-") || strings.Contains(e.Name(), ".tmp") {
				w.lose("%s is left", e.Name())
			}
		}
	}
	l, err := ledger.OpenExisting(w.ledger())
	if err != nil {
		w.lose("%v", err)
		return
	}
	defer l.Close()
	if err := l.Check(); err != nil {
		w.lose("%v", err)
	}
	w.wait(func() bool { return !w.held(l) }) // a tool that was killed may need a moment to die
	chains, err := l.Chains(ledger.Wanted{Limit: 10_000})
	if err != nil {
		w.lose("%v", err)
	}
	recorded, open := 0, 0
	for _, c := range chains {
		recorded += c.Calls
		for _, s := range c.Sessions {
			if s.State == decide.Running {
				open++
			}
		}
	}
	managed := 0
	for _, r := range w.runs() {
		if r.Managed {
			managed++
		}
	}
	if passed := len(w.runs()) - managed; passed > 0 {
		faults, _ := os.ReadFile(w.state("shim.log"))
		w.lose("%d calls were passed through: %s", passed, regexp.MustCompile(`.*"level":"error".*`).FindAll(faults, 3))
	}
	if recorded < managed || open > unended {
		w.lose("%d of %d calls are recorded, %d sessions without an outcome", recorded, managed, open)
	}
}
