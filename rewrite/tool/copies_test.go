package tool

import (
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/test/tooltest"
)

// Only the plans of tools that can make a copy ask for one. An unknown version of claude is asked
// for none.
func TestWhoCopies(t *testing.T) {
	for version, want := range map[string]bool{"": false, "1.0.124": false, "2.0.72": false,
		"2.0.73": true, "2.1.329": true} {
		if c := the("claude").ResolveWithEnv(the("claude").Parse(tooltest.Invocation("-p x")),
			rewrite.HostEnv{Version: version}); c.Copies != want {
			t.Errorf("claude %q: %v", version, c.Copies)
		}
	}
	for version, want := range map[string]bool{"": false, "0.21.10": false, "0.23.4": true,
		"0.24.4": true} {
		if c := the("qwen").ResolveWithEnv(rewrite.CommandLine{Mode: rewrite.Fresh},
			rewrite.HostEnv{Version: version}); c.Copies != want {
			t.Errorf("qwen %q: %v", version, c.Copies)
		}
	}
	for _, tool := range all() {
		d := tool.Descriptor()
		c := tool.ResolveWithEnv(tool.Parse(
			tooltest.Invocation(strings.Join(d.Unattended[1:], " ")+" x")),
			rewrite.HostEnv{Version: "99.0.0"})
		to := tooltest.To{ID: tooltest.SomeID, NewID: tooltest.ForeignID, Prompt: "x", Whole: true}
		resume := tool.Plan(c, to.Target()).Args
		to.Copied = true
		if copied := tool.Plan(c, to.Target()).Args; !c.Copies && !slices.Equal(copied, resume) {
			t.Errorf("%s makes no copies, but is called with %q", d.Name, copied)
		}
		if point := tool.ForkPoint([]byte(`{"type":"assistant","uuid":"` + tooltest.SomeID +
			"\"}\n")); point != "" && !c.Copies {
			t.Errorf("%s forks at %q", d.Name, point)
		}
	}
}
