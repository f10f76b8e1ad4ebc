package jobs

import (
	"strings"
	"testing"

	"reprise/internal/standin"
	"reprise/test/harness"
)

// A run that ended at --max-turns left its session whole: "Go on where you stopped." continues it,
// with the results of the tools.
func TestGoesOnAfterMaxTurns(t *testing.T) {
	each(t, formats, func(t *testing.T, format string, _ reader) {
		w := newWorld(t, "claude", true)
		args := list("-p|--allowedTools=Bash|--max-turns|1")
		if format != "" {
			args = append(args, list(format)...)
		}
		job := round("Please look: RUN<<echo found-it | tee found.txt>>")
		if r := w.call(append(args, job)...); r.Exit != 1 {
			t.Fatalf("exit %d: %s%s", r.Exit, r.Stdout, r.Stderr)
		}
		r := w.run("claude", harness.Call{Args: append(args, job+"\nGo on where you stopped.\n")})
		text := standin.AllText(r.last(t))
		if r.Exit != 0 || !strings.Contains(text, "found-it") ||
			strings.Count(text, "Rule 7:") != 1 {
			t.Errorf("exit %d, the model was sent %.3000q; stderr %q", r.Exit, text, r.Stderr)
		}
		w.statusSays(`"resume"`, `"extends"`)
	})
}
