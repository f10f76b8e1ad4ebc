package ctl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/test/sample"
)

// Whatever command meets what is damaged of a ledger that can be opened, its hint names the repair.
func TestDamageHasAHint(t *testing.T) {
	path := sample.Ledger(t, 300, false)
	sample.Damage(t, path, "invocations")
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
