package ctl

import (
	"bytes"
	"database/sql"
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
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	var page, size int64
	for query, into := range map[string]*int64{"SELECT rootpage FROM sqlite_schema WHERE name = 'invocations'": &page, "PRAGMA page_size": &size} {
		if err := db.QueryRow(query).Scan(into); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte("garbage"), 20), (page-1)*size); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"status", "stats", "log", "show", "why", "rule suggest", "report -o " + filepath.Join(t.TempDir(), "r.html"), "export --format prometheus", "export"} {
		var out, errs strings.Builder
		a := &app.App{Stdin: os.Stdin, Stdout: view.Screen{Writer: &out}, Stderr: view.Screen{Writer: &errs}, Now: sample.Now,
			Environ: []string{"HOME=/home/me", "XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(path))}}
		code := a.Run(newRoot(a), strings.Fields(args))
		if code != app.ExitFailed || !strings.HasSuffix(errs.String(), "\nhint: shimctl doctor --fix repairs it; a call that cannot use the ledger runs the real binary\n") {
			t.Errorf("%s: exit %d: %s", args, code, &errs)
		}
	}
}
