package jobs

import (
	"strings"
	"syscall"
	"testing"

	"reprise/internal/standin"
	"reprise/test/harness"
)

// A resumed call that is ended while the model answers leaves no session to go on with: the next
// call shows one clean fresh run. A tool that goes on in copies is resumed from the same source
// again (TestKilledCopyLeavesItsSource, TestGeminiCopiesAreSentEachResultOnce).
func TestKilledMidTurnRunsFresh(t *testing.T) {
	t.Parallel()
	signals := map[string]syscall.Signal{"terminated": syscall.SIGTERM, "killed": syscall.SIGKILL}
	for tool, first := range map[string]string{"codex": "exec", "vibe": "-p"} {
		t.Run(tool, func(t *testing.T) {
			each(t, signals, func(t *testing.T, _ string, signal syscall.Signal) {
				w := newWorld(t, tool, true)
				w.call(first, round())
				killed := w.run(tool, harness.Call{Args: []string{first, round("HANG")},
					Signal: signal, At: harness.Middle})
				if prompt := standin.LastUser(killed.last(t)); strings.Contains(prompt, "Rule 7:") {
					t.Fatalf("the call that was ended was no resume: %q", prompt)
				}
				r := w.call(first, round("remember number 12"))
				if r.Stdout != "Got it: 12.\n" || r.Exit != 0 || len(r.Asked) != 1 {
					t.Errorf("answer %q, stderr %q, exit %d, asked %d times", r.Stdout, r.Stderr,
						r.Exit, len(r.Asked))
				}
				if prompt := standin.LastUser(r.last(t)); !strings.Contains(prompt, "Rule 7:") {
					t.Errorf("the fresh session was sent a delta: %q", prompt)
				}
			})
		})
	}
}
