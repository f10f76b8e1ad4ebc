package harness

import (
	"os"
	"strings"
	"testing"
)

// docs/internals/conformance.md names each deliberate difference.
func TestDifferencesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/internals/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range deliberate {
		if !strings.Contains(string(text), "| "+d.tool+" |") || !strings.Contains(string(text), d.Reason) {
			t.Errorf("not documented: %s: %s", d.tool, d.Reason)
		}
	}
}
