package tool

import (
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/test/tooltest"
)

// Only tools that can make a copy are asked for one, and their plans ask for it. An unknown version
// of claude is asked for none.
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
			tooltest.Invocation(strings.Join(d.Headless[1:], " ")+" x")),
			rewrite.HostEnv{Version: "99.0.0"})
		copies := tool.Plan(c, tooltest.To{ID: tooltest.SomeID, Copied: true, Prompt: "x",
			Whole: true}.Target()).Copy
		if c.Copies != copies {
			t.Errorf("%s: copies %v, its plan %v", d.Name, c.Copies, copies)
		}
		if point := tool.ForkPoint([]byte(`{"type":"assistant","uuid":"` + tooltest.SomeID +
			"\"}\n")); point != "" && !copies {
			t.Errorf("%s forks at %q", d.Name, point)
		}
	}
}
