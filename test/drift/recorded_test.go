package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/test/conformance/suite"
	"reprise/test/harness"
	"reprise/test/toolbox"
)

const recordings = "../../testdata/recordings/claude"

// recorded returns the canonical form of a recording of a version.
func recorded(t *testing.T, number, name string) *seen {
	t.Helper()
	read := func(file string) string {
		text, err := os.ReadFile(filepath.Join(recordings, "own-"+number+"-"+name, file))
		if err != nil && file != "session.jsonl" {
			t.Fatal(err)
		}
		return string(text)
	}
	var run struct {
		Argv []string
		Exit int
	}
	if err := json.Unmarshal([]byte(read("run.json")), &run); err != nil {
		t.Fatal(err)
	}
	v, w := version{tool: "claude", number: number}, &harness.World{Root: "/nowhere"}
	s := newSeen(func(text string) string { return v.mask(w, text) })
	s.result(harness.Call{Args: run.Argv},
		harness.Result{Stdout: read("stdout"), Stderr: read("stderr"), Exit: run.Exit})
	s.transcript(read("session.jsonl"))
	return s
}

// compareRecorded compares two recorded versions of claude.
func compareRecorded(t *testing.T, old, new string) report {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(recordings, "own-"+new+"-*"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []suite.Case
	for _, dir := range found {
		// it ends anywhere
		if name := strings.TrimPrefix(filepath.Base(dir), "own-"+new+"-"); !strings.HasPrefix(name,
			"sigterm") {
			cases = append(cases, suite.Case{Name: name})
		}
	}
	r := report{tool: "claude", old: old, new: new}
	r.compare(cases, func(c suite.Case) *seen {
		return recorded(t, old, c.Name)
	}, func(c suite.Case) *seen { return recorded(t, new, c.Name) })
	return r
}

// Real streams of versions that differ in nothing a caller or the shim relies on are clean, though
// their IDs, times and tokens differ. An older version's reason for an end is another one.
func TestRecorded(t *testing.T) {
	toolbox.Long(t)
	if r := compareRecorded(t, "2.1.329", "2.1.330"); r.outcome() != clean {
		t.Errorf("%s", r)
	}
	const want = "    - result/success terminal_reason \"completed\"\n        in: badtool-json; " +
		"http401-json\n"
	if r := compareRecorded(t, "2.1.197", "2.1.330"); r.outcome() != differs ||
		!strings.Contains(r.String(), want) {
		t.Errorf("no %q in\n%s", want, r)
	}
}
