package jobs

import (
	"slices"
	"strings"
	"testing"

	"reprise/test/harness"
	"reprise/test/markers"
	"reprise/test/realcli"
)

// claude's notices about settings, models and refused work depend on the output format. A caller
// gets the same with the shim.
func TestNoticesOfClaude(t *testing.T) {
	each(t, harness.Notices["claude"], func(t *testing.T, name string, n harness.Notice) {
		for format, options := range map[string][]string{"text": nil,
			"json": list("--output-format|json")} {
			t.Run(format, func(t *testing.T) {
				t.Parallel()
				c := n.Call(func(prompt string) []string {
					return slices.Concat([]string{"-p", prompt}, n.Options, options)
				})
				direct := newWorldWith(t, realcli.Claude, false, markers.Options{})
				shimmed := newWorldWith(t, realcli.Claude, true, markers.Options{})
				a, b := direct.run("claude", c), shimmed.run("claude", c)
				if a.Stderr == "" && (format == "text" || strings.HasPrefix(name, "refused")) {
					t.Error("claude itself prints nothing on stderr: this call no longer tries " +
						"what it should")
				}
				if found := harness.Compare(direct.World, shimmed.World, a.Result,
					b.Result); len(found) > 0 {
					t.Error(strings.Join(found, "\n"))
				}
			})
		}
	})
}
