package tool

import (
	"slices"
	"testing"

	"reprise/rewrite"
	"reprise/test/tooltest"
)

// Only tools that can make a copy are asked for one. An unknown version of claude is asked for none.
func TestWhoCopies(t *testing.T) {
	for version, want := range map[string]bool{"": false, "1.0.124": false, "2.0.72": false, "2.0.73": true, "2.1.329": true} {
		if c := the("claude").ResolveWithEnv(the("claude").Parse(tooltest.Invocation("-p x")), rewrite.HostEnv{Version: version}); c.Copies != want {
			t.Errorf("claude %q: %v", version, c.Copies)
		}
	}
	for version, want := range map[string]bool{"": false, "0.21.10": false, "0.23.4": true, "0.24.4": true} {
		if c := the("qwen").ResolveWithEnv(rewrite.Call{Mode: rewrite.Fresh}, rewrite.HostEnv{Version: version}); c.Copies != want {
			t.Errorf("qwen %q: %v", version, c.Copies)
		}
	}
	for _, tool := range all() {
		if name := tool.Descriptor().Name; slices.Contains([]string{"claude", "droid", "gemini", "qwen"}, name) {
			continue
		}
		c := tool.ResolveWithEnv(rewrite.Call{Mode: rewrite.Fresh}, rewrite.HostEnv{Version: "99.0.0"})
		if point := tool.ForkPoint([]byte(`{"type":"assistant","uuid":"` + tooltest.SomeID + "\"}\n")); c.Copies || point != "" {
			t.Errorf("%s forks %v, at %q", tool.Descriptor().Name, c.Copies, point)
		}
	}
}
