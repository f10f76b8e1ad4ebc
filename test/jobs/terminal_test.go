package jobs

import (
	"strings"
	"testing"

	"reprise/internal/standin"
	"reprise/test/harness"
)

// A loop typed into a shell: only the streams are piped that the caller's shell would pipe. stdin
// is the terminal, or stays open and silent, as Node's spawn leaves it.
func TestRoundsAtATerminal(t *testing.T) {
	calls := map[string]harness.Call{
		"claude":             {Args: list("-p"), To: harness.Screen},
		"codex":              {Args: list("exec"), To: harness.Screen},
		"claude with silent": {Args: list("-p"), From: harness.Silent},
	}
	each(t, calls, func(t *testing.T, name string, call harness.Call) {
		tool, _, _ := strings.Cut(name, " ")
		w := newWorld(t, tool, true)
		command := call.Args
		call.Args = append(command[:1:1], round())
		if _, err := w.Run(call); err != nil {
			t.Fatal(err)
		}
		call.Args = append(command[:1:1], round(
			"The tests still fail: fix that, and say what number it was."))
		r, err := w.Run(call)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Asked) == 0 || r.Exit != 0 || !strings.Contains(r.Stdout, "4711") {
			t.Fatalf("exit code %d, and it prints %q", r.Exit, r.Stdout)
		}
		last := r.Asked[len(r.Asked)-1]
		if strings.Contains(standin.LastUser(last), "Rule 7:") ||
			!strings.Contains(standin.AllText(last), "Rule 7:") {
			t.Errorf("the model was sent %q, all of it %d bytes", standin.LastUser(last),
				len(standin.AllText(last)))
		}
		if warned := strings.Count(r.Stderr, "no stdin data received in 3s"); call.From ==
			harness.Silent && warned != 1 {
			t.Errorf("%d warnings: %q", warned, r.Stderr)
		}
	})
}
