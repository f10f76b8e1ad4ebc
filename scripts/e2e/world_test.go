// Package e2e runs the real CLIs against a stand-in of their models, with and
// without the shim in front of them. It needs npm and its registry once, and is
// skipped unless REPRISE_E2E is set.
package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/scripts/realcli"
	"reprise/standin"
)

// pins are the CLIs by their names.
var pins = map[string]realcli.Pin{"claude": realcli.Claude, "codex": realcli.Codex}

var shimBin string

func TestMain(m *testing.M) {
	if os.Getenv("REPRISE_E2E") == "" {
		fmt.Println("skipped: REPRISE_E2E is not set")
		return
	}
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runAll(m *testing.M) (int, error) {
	var err error
	if shimBin, err = os.MkdirTemp("", "reprise-e2e-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(shimBin)
	commands := map[string]string{"shimctl": "reprise/cmd/shimctl"}
	for tool := range pins {
		commands[tool] = "reprise/cmd/shim"
	}
	for name, pkg := range commands {
		build := exec.Command("go", "build", "-o", filepath.Join(shimBin, name), pkg)
		if out, err := build.CombinedOutput(); err != nil {
			return 1, fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
	}
	return m.Run(), nil
}

// A world is a home, a project and a model of their own.
type world struct {
	t       *testing.T
	tool    string
	real    string // the folder with the real CLI
	root    string
	project string
	model   *standin.Server
	env     []string
	shim    bool
}

func newWorld(t *testing.T, tool string, shim bool) *world {
	t.Helper()
	w := &world{t: t, tool: tool, root: t.TempDir(), shim: shim}
	w.project = filepath.Join(w.root, "project")
	home := filepath.Join(w.root, "home")
	for _, dir := range []string{w.project, home} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if w.real, err = realcli.Install(pins[tool]); err != nil {
		t.Fatal(err)
	}
	if w.model, err = standin.Start(standin.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.model.Close() })
	if w.env, err = standin.Setup(tool, home, w.model.URL()); err != nil {
		t.Fatal(err)
	}
	// codex works in repositories only.
	if out, err := exec.Command("git", "init", "-q", w.project).CombinedOutput(); err != nil {
		t.Fatalf("make a repository: %v: %s", err, out)
	}
	path := w.real + ":" + os.Getenv("PATH")
	if shim {
		path = shimBin + ":" + path
	}
	w.env = append(w.env, "PATH="+path, "TMPDIR="+w.root)
	return w
}

// state is where the shim keeps its ledger and log.
func (w *world) state() string { return filepath.Join(w.root, "home", ".local", "state", "reprise") }

// sessions are where the tools keep their sessions, in a home.
var sessions = map[string]string{
	"claude": ".claude/projects/*/*.jsonl",
	"codex":  ".codex/sessions/*/*/*/*.jsonl",
}

// transcripts lists the session files.
func (w *world) transcripts() []string {
	files, err := filepath.Glob(filepath.Join(w.root, "home", sessions[w.tool]))
	if err != nil {
		w.t.Fatal(err)
	}
	return files
}

type result struct {
	stdout, stderr string
	exit           int
	asked          []standin.Request // what the model was sent
}

// A call is a command line with its stdin.
type call struct {
	args  []string
	stdin string // "" for the null device
	env   []string
	mixed bool // stdout and stderr are one
}

func (w *world) run(name string, c call) result {
	w.t.Helper()
	before := len(w.model.Asked())
	cmd := exec.Command(w.lookup(name), c.args...)
	cmd.Args[0] = name
	cmd.Dir, cmd.Env = w.project, append(w.env[:len(w.env):len(w.env)], c.env...)
	if c.stdin != "" {
		cmd.Stdin = strings.NewReader(c.stdin)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if c.mixed {
		cmd.Stderr = &stdout
	}
	cmd.WaitDelay = 60 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("%s %v: %v", name, c.args, err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), w.model.Asked()[before:]}
}

// lookup finds a command on the world's PATH, not on ours.
func (w *world) lookup(name string) string {
	if w.shim {
		return filepath.Join(shimBin, name)
	}
	return filepath.Join(w.real, name)
}

// call runs the world's tool.
func (w *world) call(args ...string) result { w.t.Helper(); return w.run(w.tool, call{args: args}) }

// last is the request of a call's last turn.
func (r result) last(t *testing.T) standin.Request {
	t.Helper()
	if len(r.asked) == 0 {
		t.Fatalf("the model was not asked; stdout %q, stderr %q", r.stdout, r.stderr)
	}
	return r.asked[len(r.asked)-1]
}
