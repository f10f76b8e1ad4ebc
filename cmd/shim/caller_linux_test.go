package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/ledger"
	"reprise/ledger/history"
	"reprise/test/toolbox"
)

// The calls of one script have it in common, the calls of two scripts have nothing. Between these
// and the program that starts both scripts stands a job runner, by its name.
func TestCallersOfScripts(t *testing.T) {
	dir := t.TempDir()
	fake, err := os.ReadFile("../../testdata/fake/claude")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		// else its script counts as a wrapper
		"real/package.json": `{"version": "9.9.9", "bin": {"claude": "claude"}}`,
		"real/claude":       string(fake),
		"bin/supervisord":   "#!/bin/sh\nsh ./one.sh\nsh ./two.sh\n",
		"one.sh":            "claude -p first\nsh -c 'claude -p second; true'\n",
		"two.sh":            "claude -p third\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(executable(t), filepath.Join(dir, "bin/claude")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "bin/supervisord"))
	cmd.Dir = dir
	cmd.Env = append(toolbox.Home(dir), "PATH="+filepath.Join(dir, "bin")+":"+filepath.Join(dir,
		"real")+":"+tools, "FAKE="+dir, "TMPDIR="+dir, hurry)
	if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), "answer") != 3 {
		t.Fatalf("%s, %v", out, err)
	}
	l, err := ledger.OpenExisting(filepath.Join(dir, ".local/state/reprise/ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	calls, err := history.LatestCalls(l, history.Query{})
	if err != nil || len(calls) != 3 {
		t.Fatalf("%d calls, %v", len(calls), err)
	}
	slices.Reverse(calls)
	first, second, third := calls[0].Caller, calls[1].Caller, calls[2].Caller
	if len(first.Processes) != 1 || len(second.Processes) != 2 ||
		second.Processes[1] != first.Processes[0] {
		t.Errorf("one script's calls: %+v, %+v", first, second)
	}
	if len(third.Processes) != 1 || slices.Contains(second.Processes, third.Processes[0]) {
		t.Errorf("another script's call: %+v", third)
	}
	if first.Run().Name != "one.sh" || second.Run().Name != "one.sh" ||
		third.Run().Name != "two.sh" {
		t.Errorf("callers %s, %s, %s", first.Run().Name, second.Run().Name, third.Run().Name)
	}
	// The printed call names the program.
	cmd = exec.Command(executable(t), "show", "1", "--json")
	cmd.Args[0] = "shimctl"
	cmd.Env = toolbox.Home(dir)
	if out, err := cmd.CombinedOutput(); err != nil ||
		!strings.Contains(string(out), `"caller": "one.sh"`) {
		t.Errorf("%s, %v", out, err)
	}
}
