package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/test/toolbox"
)

// The launcher installs before setup, runs the installed programs, and removes them.
func TestLauncher(t *testing.T) {
	dir := t.TempDir()
	if err := toolbox.Make(filepath.Join(dir, "tools")); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("../../install.sh")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"install.sh":        string(script),
		"reprise.sh":        string(launcher),
		"bin/shim":          "#!/bin/sh\necho 'reprise: no tool' >&2\nexit 127\n",
		"bin/reprise-store": "#!/bin/sh\n",
		"bin/shimctl":       "#!/bin/sh\nprintf '%s ' \"$0\" \"$@\"\n",
	} {
		path := filepath.Join(dir, "package", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(dir, ".local/share/reprise/bin")
	run := func(want string, args ...string) {
		t.Helper()
		cmd := exec.Command("sh",
			append([]string{filepath.Join(dir, "package/reprise.sh")}, args...)...)
		cmd.Env = []string{"HOME=" + dir, "PATH=" + filepath.Join(dir, "tools")}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("%q: %v, says %s, want %s", args, err, out, want)
		}
	}
	packaged := filepath.Join(dir, "package/bin/shimctl")
	run(packaged+" status ", "status")
	for _, option := range []string{"--undo", "--dry-run", "--help"} {
		run(packaged+" setup "+option, "setup", option)
	}
	run(bin+"/shimctl setup --yes x y ", "setup", "--yes", "x y")
	run(bin+"/shimctl status ", "status")
	run("installed "+rewrite.Names[0]+", ", "install")
	state := filepath.Join(dir, ".local/state/reprise")
	if err := os.MkdirAll(state, 0o755); err != nil {
		t.Fatal(err)
	}
	run("usage: reprise COMMAND\n\n  reprise setup ", "--help")
	run("removed reprise from "+bin+"\nleft "+state+"; to remove it too: reprise uninstall "+
		"--purge\n", "uninstall")
	run(packaged+" status ", "status")
	if _, err := os.Stat(filepath.Dir(bin)); err == nil {
		t.Error("the directory is still there")
	}
}

// Without the package for this machine the npm command names the missing package.
func TestNPMWithoutPrograms(t *testing.T) {
	needs(t, "node")
	path := filepath.Join(t.TempDir(), "reprise.js")
	if err := os.WriteFile(path, npmScript, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("node", path, "setup").CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "error: the package @reprise/linux-") ||
		!strings.Contains(string(out), "\nhint: ") {
		t.Errorf("%v, says %s", err, out)
	}
}
