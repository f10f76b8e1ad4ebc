package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMissed(t *testing.T) {
	for _, tt := range []struct {
		name string
		of   target
		want int
	}{
		{"met", target{"", 2, 0, 2}, 0},
		{"exceeded as on a busy machine", target{"", 2, 0, 2.5}, 0},
		{"missed", target{"", 2, 0, 2.6}, 1},
		{"missed as known", target{"", 2, 3, 3.7}, 0},
		{"worse than known", target{"", 2, 3, 3.8}, 1},
		{"none is allowed", target{"", 0, 0, 1}, 1},
	} {
		if got := missedOf([]target{tt.of}); got != tt.want {
			t.Errorf("%s: %d are missed", tt.name, got)
		}
	}
}

// Calls at once have as many prompts, and cost the sum of all.
func TestCallsAtOnce(t *testing.T) {
	b := &bench{dir: t.TempDir()}
	tool, seen := filepath.Join(b.dir, "tool"), filepath.Join(b.dir, "seen")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\necho \"$1\" >>\""+seen+"\"\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	took, err := b.run(call{path: tool, prompt: prompts(), many: 8})
	if err != nil || took.wall <= 0 || took.cpu <= 0 {
		t.Fatalf("%+v, %v", took, err)
	}
	text, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Sorted(strings.Lines(string(text)))
	if len(slices.Compact(lines)) != 8 {
		t.Errorf("8 calls at once have the prompts %q", lines)
	}
}

// A call still tells a program that reads the output that it failed.
func TestReaderHidesNoFailure(t *testing.T) {
	for path, fails := range map[string]bool{"/bin/true": false, "/bin/false": true} {
		if _, err := (&bench{dir: t.TempDir()}).run(call{path: path, reader: true}); (err != nil) !=
			fails {
			t.Errorf("%s: %v", path, err)
		}
	}
}
