package doctor

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/ctl/app"
	"reprise/test/sample"
)

// Of a large ledger whose calls are damaged doctor says that it did not read them, and --fix repairs it.
func TestLargeLedger(t *testing.T) {
	path := sample.Ledger(t, 300, false)
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	var page int64
	if err := db.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = 'invocations'").Scan(&page); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(strings.Repeat("garbage", 20)), (page-1)*4096); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	a := &app.App{Now: sample.Now, Environ: []string{"HOME=/home/me", "XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(path))}}
	if c := checkLedger(a); c.Result != "problem" {
		t.Errorf("%+v", c)
	}
	defer func(size int64) { largeLedger = size }(largeLedger)
	largeLedger = 0
	if c := checkLedger(a); c.Result != "ok" || !strings.Contains(c.Finds, "its calls were not checked") {
		t.Errorf("a large one: %+v", c)
	}
	if list := repairs(a, fixing{wanted: true}); len(list) != 1 || list[0].name != "ledger" {
		t.Errorf("repairs: %+v", list)
	}
}
