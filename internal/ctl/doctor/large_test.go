package doctor

import (
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/ctl/app"
	"reprise/test/sample"
)

// Of a large ledger whose calls are damaged doctor says that it did not read them, and --fix repairs it.
func TestLargeLedger(t *testing.T) {
	path := sample.Ledger(t, 300, false)
	sample.Damage(t, path, "invocations")
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
