package report

import (
	"os"
	"path/filepath"
	"testing"
)

// A page fits a phone, can be read in light and dark, and the browser has nothing to complain of.
func TestReportInBrowser(t *testing.T) {
	b := newBrowser(t)
	for name, page := range samplePages(t) {
		file := filepath.Join(t.TempDir(), name+".html")
		if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		b.open("file://" + file)
		b.checkPage("report of " + name)
		b.quiet()
	}
}
