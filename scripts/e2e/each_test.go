package e2e

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"

	"reprise/scripts/parity"
)

// each runs a test for each case of a table, beside other tests. With REPRISE_E2E=sample it runs a third of them, at
// least one, drawn by REPRISE_SEED.
func each[V any](t *testing.T, table map[string]V, test func(t *testing.T, name string, v V)) {
	t.Parallel()
	names := slices.Sorted(maps.Keys(table))
	if os.Getenv("REPRISE_E2E") == "sample" {
		names = parity.Third(names, seed(t), t.Name())
	}
	for _, name := range names {
		t.Run(cmp.Or(name, "text"), func(t *testing.T) {
			t.Parallel()
			test(t, name, table[name])
		})
	}
}

// seed is that of REPRISE_SEED.
func seed(t *testing.T) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(os.Getenv("REPRISE_SEED"), 10, 64)
	if err != nil {
		t.Fatal("REPRISE_E2E=sample needs a number in REPRISE_SEED:", err)
	}
	return n
}
