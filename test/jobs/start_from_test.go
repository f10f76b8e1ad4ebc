package jobs

import (
	"path/filepath"
	"strings"
	"testing"

	"reprise/test/harness"
)

// A reviewer that begins as a copy of the coder's session knows the content, and leaves it as it
// was; then each goes on with its own.
func TestAReviewerBeginsFromTheCoder(t *testing.T) {
	for _, tool := range []string{"claude", "gemini", "qwen", "droid"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tool, true)
			put(t, filepath.Join(w.Root, "home", ".config", "reprise", "config.toml"),
				"gate_timeout = '5m'\ndearer = 'resume'\n[[rule]]\nname = 'loop'\nstart_from = "+
					"'coder'\n")
			args := []string{"-p"}
			if tool == "droid" {
				args = []string{"exec"}
			}
			play := func(role, prompt string) result {
				return w.run(tool, harness.Call{Args: append(args, prompt),
					Env: []string{"REPRISE_TASK=t", "REPRISE_ROLE=" + role}})
			}
			play("coder", round())
			before := w.sessions()
			review := "Review what was done here.\n\nWhat number was it?"
			knows := func(what string, r result) {
				t.Helper()
				if !strings.Contains(r.Stdout, "4711") || r.Exit != 0 {
					t.Errorf("%s: %q, exit %d, stderr %q", what, r.Stdout, r.Exit, r.Stderr)
				}
			}
			knows("review", play("reviewer", review))
			now := w.sessions()
			for path, text := range before {
				if now[path] != text {
					t.Errorf("%s has changed", path)
				}
			}
			knows("the coder goes on", play("coder", round("What number was it?")))
			r := play("reviewer", review+"\n\nWhat number was it, once more?")
			knows("second review", r)
			said := w.run("shimctl", harness.Call{Args: list("log|--json")}).Stdout
			if strings.Count(said, `"reason":"started_from"`) != 1 ||
				strings.Count(said, `"reason":"extends"`) != 2 {
				t.Error(said)
			}
		})
	}
}
