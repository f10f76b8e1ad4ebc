package scripts

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// At the top stand the words of the design; what serves shimctl or the tests alone is below internal.
func TestLayout(t *testing.T) {
	allowed := []string{"cmd", "config", "docs", "internal", "ledger", "rewrite", "scripts", "shim", "store", "testdata", "watch"}
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(allowed, e.Name()) {
			t.Errorf("%s stands at the top", e.Name())
		}
	}
}
