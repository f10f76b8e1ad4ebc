package ctl

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/test/sample"
	"reprise/test/toolbox"
)

// The hint of every command that meets damage in a ledger that can be opened names the repair.
func TestDamageHasAHint(t *testing.T) {
	path := sample.Ledger(t, 300, false)
	sample.Damage(t, path, "calls")
	for _, args := range []string{"status", "stats", "log", "show", "why",
		"report -o " + filepath.Join(t.TempDir(), "r.html")} {
		var out, errs strings.Builder
		a := &app.App{Stdin: os.Stdin, Stdout: view.Screen{Writer: &out},
			Stderr: view.Screen{Writer: &errs}, Now: sample.Now,
			Environ: []string{"HOME=/home/me",
				"XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(path))}}
		code := a.Run(newRoot(a), strings.Fields(args))
		if code != app.ExitFailed ||
			!strings.HasSuffix(errs.String(), "\nhint: shimctl doctor --fix moves it aside and "+
				"begins a new one; a call that cannot use the ledger runs the real binary\n") {
			t.Errorf("%s: exit %d: %s", args, code, &errs)
		}
	}
}

// Where no call can write to the ledger, status and the preview of a call say so.
func TestLedgerThatCannotBeWritten(t *testing.T) {
	if !toolbox.Unprivileged(t) {
		return
	}
	path, dir := sample.Ledger(t, 30, false), t.TempDir()
	claude := filepath.Join(dir, "claude")
	if err := errors.Join(os.Chmod(path, 0o400),
		os.WriteFile(claude, []byte("#!/bin/sh\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"status":                 "every call is passed through: write ledger",
		"why -- claude -p Hello": "passthrough: fault",
	} {
		var out, errs strings.Builder
		a := &app.App{Stdin: os.Stdin, Stdout: view.Screen{Writer: &out},
			Stderr: view.Screen{Writer: &errs}, Now: sample.Now,
			Environ: []string{"HOME=" + dir, "PATH=" + dir,
				"XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(path))}}
		a.Run(newRoot(a), strings.Fields(args))
		if !strings.Contains(out.String()+errs.String(), want) {
			t.Errorf("%s: %s%s", args, &out, &errs)
		}
	}
}
