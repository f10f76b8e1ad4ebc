package jobs

import (
	"strings"
	"testing"

	"reprise/internal/standin"
	"reprise/test/harness"
	"reprise/test/realcli"
)

// What claude says about settings, models and refused work depends on its output format. A caller gets the same
// with the shim. All of these calls are made in a sample too: a new version changes them first.
func TestNoticesOfClaude(t *testing.T) {
	t.Parallel()
	for name, n := range harness.Notices["claude"] {
		for format, option := range map[string]string{"text": "", "json": "--output-format|json"} {
			t.Run(name+", "+format, func(t *testing.T) {
				t.Parallel()
				args := append([]string{"-p", n.Prompt}, n.Options...)
				if option != "" {
					args = append(args, list(option)...)
				}
				direct := newWorldWith(t, realcli.Claude, false, standin.Options{})
				shimmed := newWorldWith(t, realcli.Claude, true, standin.Options{})
				a, b := direct.run("claude", n.Call(args)), shimmed.run("claude", n.Call(args))
				if a.Stderr == "" && (format == "text" || strings.HasPrefix(name, "refused")) {
					t.Error("claude itself prints nothing on stderr: this call no longer tries what it should")
				}
				if found := harness.Compare(direct.World, shimmed.World, a.Result, b.Result); len(found) > 0 {
					t.Error(strings.Join(found, "\n"))
				}
			})
		}
	}
}
