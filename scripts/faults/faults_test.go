package main

import (
	"os"
	"strings"
	"testing"
)

// Each kind of fault once, but for those that have a test elsewhere. go run ./scripts/faults tries them more often, and prints
// the table.
func TestFaults(t *testing.T) {
	dir, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	p, err := build(dir)
	if err != nil {
		t.Fatal(err)
	}
	stride, rounds = 100, 1
	for _, k := range ownKinds {
		t.Run(k.subject+": "+k.name, func(t *testing.T) {
			w, err := k.once(p, dir)
			switch {
			case err != nil:
				t.Fatal(err)
			case w.skips != nil:
				t.Skip(w.skips)
			case len(w.lost) > 0:
				t.Error(strings.Join(w.lost, "\n"))
			}
		})
	}
}
