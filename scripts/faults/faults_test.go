package main

import (
	"strings"
	"testing"
)

// Each kind of fault once. go run ./scripts/faults tries them more often, and prints
// the table.
func TestFaults(t *testing.T) {
	p, err := build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		t.Run(k.subject+": "+k.name, func(t *testing.T) {
			_, lost, err := try(k, p, t.TempDir()+"/world")
			if err != nil {
				t.Fatal(err)
			}
			if len(lost) > 0 {
				t.Error(strings.Join(lost, "\n"))
			}
		})
	}
}
