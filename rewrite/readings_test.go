package rewrite

import (
	"strings"
	"testing"

	"reprise/rewrite/reason"
)

// invocation is a call's command line of words, in which _ is a space and "" nothing, with an environment.
func invocation(line string, env ...string) Invocation {
	args := strings.Fields(line)
	for i := range args {
		args[i] = strings.ReplaceAll(strings.ReplaceAll(args[i], `""`, ""), "_", " ")
	}
	return Invocation{Args: args, Env: func(name string) string {
		for _, e := range env {
			if value, ok := strings.CutPrefix(e, name+"="); ok {
				return value
			}
		}
		return ""
	}}
}

// A reading is what a tool makes of a command line.
type reading struct {
	line, env string
	mode      Mode
	reason    reason.Code
	prompt    string
	format    Format
}

// checkReadings compares what parse makes of command lines.
func checkReadings(t *testing.T, parse func(line string, env ...string) Call, readings []reading) {
	t.Helper()
	for _, r := range readings {
		c := parse(r.line, r.env)
		if (c.Reason == reason.UnmanagedOption) != (c.Unmanaged != "") {
			t.Errorf("%q: %s, because of %q", r.line, c.Reason, c.Unmanaged)
		}
		if got := (reading{r.line, r.env, c.Mode, c.Reason, c.Prompt, c.Format}); got != r {
			t.Errorf("got %+v, want %+v", got, r)
		}
	}
}
