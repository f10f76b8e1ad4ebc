package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"reprise/test/toolbox"
)

func TestMain(m *testing.M) { os.Exit(toolbox.Tests{M: m}.Run()) }

// Each kind of fault once, but for those that have a test elsewhere. go run ./test/faults tries them more often, and prints
// the table.
func TestFaults(t *testing.T) {
	dir, err := newDirectory()
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

// What was not tried must not look like what passed.
func TestNotTriedIsAFailure(t *testing.T) {
	table := []kind{
		{"x", "passes", func(*world) {}},
		{"x", "cannot be tried", func(w *world) { w.skip(errors.New("not here")) }},
		{"x", "loses", func(w *world) { w.lose("a call") }},
	}
	for only, want := range map[string]bool{"passes": false, "tried": true, "loses": true, "": true} {
		var out bytes.Buffer
		if failed, err := (programs{}).printTable(&out, t.TempDir(), table, 1, only); err != nil || failed != want {
			t.Errorf("%q: failed %v, %v", only, failed, err)
		}
	}
	if _, err := (programs{}).printTable(new(bytes.Buffer), t.TempDir(), table, 1, "no such kind"); err == nil {
		t.Error("a pattern that fits no kind passes")
	}
}

// The tests that count as kinds of faults are where they are looked for: one that was renamed would be missed only by scripts/all.
func TestTestedKinds(t *testing.T) {
	for _, k := range testedKinds {
		if strings.HasPrefix(k.name, "Test") {
			if _, err := packageOf(k.name); err != nil {
				t.Error(err)
			}
		}
	}
}
