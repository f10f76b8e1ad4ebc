package doctor

import (
	"path/filepath"
	"testing"

	"reprise/internal/ctl/app"
	"reprise/test/sample"
)

// Calls that are damaged are a problem, which --fix repairs.
func TestDamagedCalls(t *testing.T) {
	path := sample.Ledger(t, 300, false)
	sample.Damage(t, path, "calls")
	d := checkup{App: &app.App{Now: sample.Now, Environ: []string{"HOME=/home/me",
		"XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(path))}}}
	if d.ledger(); d.Checks[0].Result != "problem" {
		t.Errorf("%+v", d.Checks)
	}
	if list := d.repairs(); len(list) != 1 || list[0].name != "ledger" {
		t.Errorf("repairs: %+v", list)
	}
}
