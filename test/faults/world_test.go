package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/test/harness"
	"reprise/test/player"
	"reprise/test/toolbox"
)

// programs are the directories of the shims, of the player as claude and of the usual programs.
type programs struct{ shims, real, tools string }

// build builds the shims and the tool, as install.sh would.
func build(dir string) (programs, error) {
	p := programs{shims: filepath.Join(dir, "shims"), real: filepath.Join(dir, "real"),
		tools: filepath.Join(dir, "tools")}
	return p, errors.Join(toolbox.Make(p.tools), harness.Build(p.shims),
		player.Build(filepath.Join(p.real, "claude"), "CGO_ENABLED=0"))
}

// A world is where a fault is tried: a home, a project and a ledger of its own.
type world struct {
	*harness.World
	t *testing.T

	named  atomic.Int64 // calls that have a script
	begun  int          // runs of the tool before the traced call
	unlock func()       // releases the ledger, nil if it is not held
	skips  error        // why the kind cannot be tried here
}

// state returns a file of the shim's.
func (w *world) state(name string) string { return filepath.Join(w.State(), name) }

// notes returns the directory of the player's scripts and records.
func (w *world) notes() string { return filepath.Join(w.Root, "notes") }

// lose reports a difference from a call without the shim, or a missing record.
func (w *world) lose(format string,
	args ...any) {
	w.t.Errorf("%.600s", fmt.Sprintf(format, args...))
}

// skip records that this machine does not allow the fault.
func (w *world) skip(why error) { w.skips = why }

// must records an error in setting up a fault: an untried fault counts as a loss.
func (w *world) must(err error) {
	if err != nil {
		w.lose("set up: %v", err)
	}
}

// A call is one call of claude.
type call struct {
	prompt   string
	task     string // REPRISE_TASK
	ms       int    // how long the tool works
	exit     int
	detached bool   // see player.Script
	orphan   bool   // likewise
	sh       string // commands of a shell before it becomes claude, such as "ulimit -f 1"
}

const answer = "It is done."

// job is a prompt of n rounds. Each repeats everything that the round before it had.
func job(n int) string {
	var b strings.Builder
	b.WriteString("You are the coder.\n\n" + strings.Repeat("Keep every function small and clear. ",
		8))
	for i := range n {
		fmt.Fprintf(&b, "\n\n## Rejection %d\n\nYour change failed a test.", i)
	}
	return b.String()
}

// asked returns the call as a caller makes it, and writes the script of the tool.
func (w *world) asked(c call) harness.Call {
	id := fmt.Sprint("call", w.named.Add(1))
	script := player.Script{Said: []string{answer}, Lead: c.ms, Code: c.exit, Detached: c.detached,
		Orphan: c.orphan}
	if c.exit != 0 {
		script.Ending = player.Status
	}
	w.must(script.Write(w.notes(), id))
	made := harness.Call{Args: []string{"-p", c.prompt},
		Env: []string{player.DirEnv + "=" + w.notes(), player.CallEnv + "=" + id,
			"REPRISE_TASK=" + c.task}}
	if c.sh != "" {
		made.Around = "exec sh -c '" + c.sh + `; exec "$0" "$@"' "$0" "$@"`
	}
	return made
}

func (w *world) command(c call) *exec.Cmd { return w.Command("claude", w.asked(c)) }

// run makes a call.
func (w *world) run(c call) harness.Result {
	r, err := w.Do("claude", w.asked(c))
	if err != nil {
		w.lose("start: %v", err)
	}
	return r
}

// call makes a call that must end as the tool itself would.
func (w *world) call(c call) harness.Result {
	r := w.run(c)
	if r.Stdout != answer+"\n" || r.Stderr != "" || r.Signal != 0 || r.Exit != c.exit {
		w.lose("a call ended with %d, signal %d, %q and %q on stderr", r.Exit, r.Signal, r.Stdout,
			r.Stderr)
	}
	return r
}

// runs returns the runs of the tool so far, without refused resumes.
func (w *world) runs() []player.Run {
	return slices.DeleteFunc(player.Runs(w.notes(), "*"), func(r player.Run) bool {
		return r.Refused
	})
}

// started counts the runs of the tool, refused resumes included. It is quick.
func (w *world) started() (n int) {
	entries, err := os.ReadDir(filepath.Join(w.notes(), "runs"))
	w.must(err)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".new") {
			n++
		}
	}
	return n
}

// last returns the latest run.
func (w *world) last() player.Run {
	runs := w.runs()
	if len(runs) == 0 {
		w.lose("the tool was never run")
		return player.Run{}
	}
	return runs[len(runs)-1]
}

// shares and midTurn report whether a run shared its session, or resumed one in the midst of a
// turn.
func shares(r player.Run) bool  { return r.Busy }
func midTurn(r player.Run) bool { return r.Resumed && r.Unended }

// passes makes a call that the tool must get unchanged.
func (w *world) passes(c call) harness.Result {
	r := w.call(c)
	if last := w.last(); isManaged(last) || last.Prompt != c.prompt {
		w.lose("the tool did not get the call unchanged: %+v", last)
	}
	return r
}

// resumes makes a call that must be resumed, or must not be.
func (w *world) resumes(c call, want bool) {
	w.call(c)
	if last := w.last(); last.Resumed != want {
		w.lose("resumed %v, want %v", !want, want)
	}
}

// held reports whether any process holds a session.
func (w *world) held(l *ledger.Ledger) bool {
	chains, err := history.Chains(l, history.Query{Limit: 10_000})
	w.must(err)
	return slices.ContainsFunc(chains, func(c history.ChainRow) bool {
		return slices.ContainsFunc(c.Sessions, func(s history.SessionRow) bool { return s.Held })
	})
}

// wait waits until so returns true.
func (w *world) wait(so func() bool) {
	if !harness.Until(10*time.Second, so) {
		w.lose("waited in vain")
	}
}

// sound checks the final state: an intact ledger that has each managed run with its outcome, no
// session that was used by two calls at once, no lease held, no temporary file.
func (w *world) sound(unended int) {
	if slices.ContainsFunc(w.runs(), shares) {
		w.lose("runs shared a session")
	}
	for _, dir := range []string{w.state(""), w.Tmp} {
		entries, err := os.ReadDir(dir)
		w.must(err)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), "reprise-") || strings.Contains(e.Name(), ".tmp") {
				w.lose("%s is left", e.Name())
			}
		}
	}
	l, err := ledger.OpenExisting(w.Ledger())
	if err != nil {
		w.lose("%v", err)
		return
	}
	defer l.Close()
	if err := l.Check(); err != nil {
		w.lose("%v", err)
	}
	w.wait(func() bool { return !w.held(l) }) // a tool that was killed can need a moment to die
	chains, err := history.Chains(l, history.Query{Limit: 10_000})
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
		if isManaged(r) {
			managed++
		}
	}
	// On a busy machine the ledger can need longer than a call waits for it.
	faults, _ := os.ReadFile(w.state("shim.log"))
	slow := regexp.MustCompile("the ledger took too long|record call: database is locked")
	passed := len(w.runs()) - managed
	if passed > min(len(slow.FindAll(faults, -1)), crowd/8) {
		w.lose("%d calls were passed through: %s", passed,
			regexp.MustCompile(`.*"level":"error".*`).FindAll(faults, 3))
	}
	if recorded < managed || open > unended {
		w.lose("%d of %d calls are recorded, %d sessions without an outcome", recorded, managed,
			open)
	}
}

// isManaged reports whether the shim, not the caller, has chosen the session.
func isManaged(r player.Run) bool {
	return slices.ContainsFunc(r.Args, func(arg string) bool {
		return arg == "--resume" || arg == "--session-id"
	})
}
