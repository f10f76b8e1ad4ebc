package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var samples = flag.String("samples", "", "write sample reports into this folder")

// reportOf makes the page of a ledger.
func reportOf(t testing.TB, ledgerPath string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	a := &app{stdin: os.Stdin, stdout: &out, stderr: &errs, now: sampleNow,
		environ: []string{"HOME=/home/me", "XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(ledgerPath))}}
	if code := a.main(append([]string{"report", "--html", "-"}, args...)); code != exitOK || errs.Len() > 0 {
		t.Fatalf("exit %d: %s", code, &errs)
	}
	return out.String()
}

func TestZSamples(t *testing.T) {
	for name, page := range map[string]string{
		"0":     reportOf(t, filepath.Join(t.TempDir(), "reprise", "ledger.db")),
		"1":     reportOf(t, sampleLedger(t, 1, false)),
		"1000":  reportOf(t, sampleLedger(t, 1000, true)),
		"1000e": reportOf(t, sampleLedger(t, 1000, false)),
	} {
		os.WriteFile(filepath.Join(*samples, name+".html"), []byte(page), 0o644)
	}
}
