package parity

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// docs/internals/conformance.md names all that the comparison ignores, docs/explanation/transparency.md each deliberate difference.
func TestDifferencesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/explanation/transparency.md")
	if err != nil {
		t.Fatal(err)
	}
	ignored, err := os.ReadFile("../../docs/internals/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(ignored), "## What differs between two runs without the shim")
	documented := map[string]bool{}
	for line := range strings.Lines(list) {
		if reason, ok := strings.CutPrefix(line, "* "); ok {
			documented[strings.TrimSpace(reason)] = true
		}
	}
	ignores := slices.Concat(cursor, differences)
	for _, d := range ignores {
		if !documented[d.reason] {
			t.Errorf("not documented: %s", d.reason)
		}
	}
	known := map[string]bool{}
	for _, d := range ignores {
		known[d.reason] = true
	}
	for reason := range documented {
		if !known[reason] {
			t.Errorf("documented, but not ignored: %s", reason)
		}
	}
	for _, d := range deliberate {
		if !strings.Contains(string(text), "| "+d.tool+" |") || !strings.Contains(string(text), d.Reason) {
			t.Errorf("not documented: %s: %s", d.tool, d.Reason)
		}
	}
}
