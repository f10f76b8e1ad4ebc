package parity

import (
	"os"
	"strings"
	"testing"
)

// docs/internals/conformance.md names all that the comparison ignores, docs/explanation/transparency.md each deliberate difference.
func TestTransparencyIsToldWhole(t *testing.T) {
	text, err := os.ReadFile("../../docs/explanation/transparency.md")
	if err != nil {
		t.Fatal(err)
	}
	ignored, err := os.ReadFile("../../docs/internals/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(ignored), "## What two runs differ in by themselves")
	told := map[string]bool{}
	for line := range strings.Lines(list) {
		if reason, ok := strings.CutPrefix(line, "* "); ok {
			told[strings.TrimSpace(reason)] = true
		}
	}
	for _, d := range differences {
		if !told[d.reason] {
			t.Errorf("not told: %s", d.reason)
		}
	}
	known := map[string]bool{}
	for _, d := range differences {
		known[d.reason] = true
	}
	for reason := range told {
		if !known[reason] {
			t.Errorf("told, but not so: %s", reason)
		}
	}
	for _, d := range deliberate {
		if !strings.Contains(string(text), "| "+d.tool+" |") || !strings.Contains(string(text), d.reason) {
			t.Errorf("not told: %s: %s", d.tool, d.reason)
		}
	}
}
