// Package jobs runs jobs of several rounds with the real CLIs, through the shim, against a stand-in
// of their models. It needs npm and its registry once, and is skipped unless REPRISE_E2E is set: 1
// for all, sample for a part (each). That a single call looks the same with the shim and without it
// is checked by test/conformance.
package jobs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"reprise/internal/standin"
	"reprise/test/harness"
	"reprise/test/markers"
	"reprise/test/realcli"
	"reprise/test/toolbox"
)

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
	if shimBin, err = os.MkdirTemp("", "reprise-jobs-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(shimBin)
	if err := harness.Build(shimBin); err != nil {
		return 1, err
	}
	return toolbox.Tests{M: m}.Run(), nil
}

// A world belongs to a test.
type world struct {
	*harness.World
	t *testing.T
}

type result struct{ harness.Result }

// newWorld returns a world with the pinned version of a tool.
func newWorld(t *testing.T, tool string, shim bool) *world {
	t.Helper()
	return newWorldWith(t, realcli.Pins[tool], shim, markers.Options{})
}

// newWorldWith is newWorld with a version of the tool, and with another model than the usual one. A
// sample has the worlds of one tool, and skips the others'.
func newWorldWith(t *testing.T, pin realcli.Pin, shim bool, model markers.Options) *world {
	t.Helper()
	if only := drawnTool(t); sample() && pin.Tool != only &&
		(pin.Tool != realcli.Kilo.Tool || only != "opencode") {
		t.Skip("a sample of " + only)
	}
	real, err := realcli.Install(pin)
	if err != nil {
		t.Fatal(err)
	}
	shims := ""
	if shim {
		shims = shimBin
	}
	w, err := harness.New(pin.Tool, real, shims, model)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	// on a busy machine a tool can take longer than the default to refuse, and all tools are to be
	// resumed
	if shim {
		put(t, filepath.Join(w.Root, "home", ".config", "reprise", "config.toml"),
			"gate_timeout = '5m'\ndearer = 'resume'\n")
	}
	return &world{w, t}
}

// transcripts lists the session files.
func (w *world) transcripts() []string {
	w.t.Helper()
	files, err := w.Transcripts()
	if err != nil {
		w.t.Fatal(err)
	}
	return files
}

func (w *world) run(name string, c harness.Call) result {
	w.t.Helper()
	r, err := w.RunAs(name, c)
	if err != nil {
		w.t.Fatal(err)
	}
	return result{r}
}

// call runs the world's tool.
func (w *world) call(args ...string) result {
	w.t.Helper()
	return w.run(w.Tool, harness.Call{Args: args})
}

// messages counts the messages of the conversation that a request sends.
func messages(r standin.Request) int {
	body, _ := r.Body.(map[string]any)
	list, _ := body["messages"].([]any)
	items, _ := body["input"].([]any) // codex's
	return len(list) + len(items)
}

// last is the request of a call's last turn.
func (r result) last(t *testing.T) standin.Request {
	t.Helper()
	if len(r.Asked) == 0 {
		t.Fatalf("the model was not asked; stdout %q, stderr %q", r.Stdout, r.Stderr)
	}
	return r.Asked[len(r.Asked)-1]
}

func same(t *testing.T, what, direct, shimmed string) {
	t.Helper()
	if d := harness.Differ(what, direct, shimmed); d != "" {
		t.Error(d)
	}
}
