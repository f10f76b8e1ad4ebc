package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reprise/test/toolbox"
)

// A call that is passed through finds itself started as if nothing had been in
// between: the probe sees no difference but the guard.
func TestProbeSeesNoShim(t *testing.T) {
	probe := buildProbe(t)
	shim := filepath.Join(t.TempDir(), "claude")
	if err := os.Symlink(executable(t), shim); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, flags, args string }{
		{"before Go", "-", "claude mcp list --json"},
		{"a closed stderr", "c", "claude mcp"},
		{"odd variables", "d", "claude --version"},
		{"little memory", "v", "claude --version"},
		{"a terminal", "tv", "claude hello"},
		{"in Go", "-", "claude -p hello --no-session-persistence"},
		{"another tool's name", "-", "codex mcp"},
		{"another tool's name, in Go", "-", "codex -p hello --no-session-persistence"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			direct := launch(t, dir, probe, test.flags, probe, test.args)
			shim := launch(t, dir, probe, test.flags, shim, test.args)
			if !bytes.Contains(direct, []byte("SigIgn")) {
				t.Fatalf("the probe says %q", direct)
			}
			if !bytes.Equal(direct, shim) {
				t.Errorf("direct:\n%s\nwith the shim:\n%s", only(direct, shim), only(shim, direct))
			}
		})
	}
}

// only returns the lines of text that stand not in other.
func only(text, other []byte) string {
	lines := string(other)
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(lines, line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// buildProbe makes a real claude of testdata/probe.c.
func buildProbe(t *testing.T) string {
	t.Helper()
	probe := filepath.Join(t.TempDir(), "claude")
	if out, err := exec.Command("cc", "-o", probe,
		"../../testdata/probe.c").CombinedOutput(); err != nil {
		t.Fatalf("build the probe: %v\n%s", err, out)
	}
	return probe
}

// launch lets the probe be the caller of a program, with the arguments from argv[0] on, and returns
// the report of the probe behind it, but for the guard.
func launch(t *testing.T, dir, probe, flags, program, args string) []byte {
	t.Helper()
	cmd := exec.Command(probe, append([]string{"launch", flags, program},
		strings.Fields(args)...)...)
	cmd.Env = append(toolbox.Home(dir), "PATH="+filepath.Dir(probe)+":"+tools)
	cmd.Dir = dir
	streams, err := os.OpenFile(filepath.Join(dir, "streams"), os.O_RDWR|os.O_CREATE|os.O_TRUNC,
		0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer streams.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = streams, streams, streams
	cmd.Run()
	text, err := os.ReadFile(filepath.Join(dir, "out"))
	if code := cmd.ProcessState.ExitCode(); code != 7 || err != nil {
		said, _ := os.ReadFile(streams.Name())
		t.Fatalf("%s leaves with %d, %v: %s", program, code, err, said)
	}
	var kept []byte
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("env: REPRISE_GUARD=")) {
			kept = append(kept, line...)
		}
	}
	return kept
}
