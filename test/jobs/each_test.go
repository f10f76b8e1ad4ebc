package jobs

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"reprise/test/harness"
	"reprise/test/realcli"
)

// sample reports whether a part of the tests is wanted: those of one tool, and a sixth of each table.
func sample() bool { return os.Getenv("REPRISE_E2E") == "sample" }

// drawnTool returns the tool of a sample.
func drawnTool(t *testing.T) string {
	tools := slices.Sorted(maps.Keys(realcli.Pins))
	return tools[harness.Dice(seed(t), "tool").IntN(len(tools))]
}

// each runs a test for each case of a table, beside other tests. A sample has a sixth of them, at
// least one, drawn by REPRISE_SAMPLE or, without it, by a number that a test that fails prints.
func each[V any](t *testing.T, table map[string]V, test func(t *testing.T, name string, v V)) {
	t.Parallel()
	names := slices.Sorted(maps.Keys(table))
	if sample() {
		names = harness.Sixth(names, seed(t), t.Name())
	}
	for _, name := range names {
		t.Run(cmp.Or(name, "text"), func(t *testing.T) {
			t.Parallel()
			test(t, name, table[name])
		})
	}
}

// seed returns REPRISE_SAMPLE. If that is not set, it is drawn once for all tests.
func seed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("REPRISE_SAMPLE")
	if text == "" {
		t.Logf("drawn by REPRISE_SAMPLE=%d", drawn)
		return drawn
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal("REPRISE_SAMPLE is no number:", err)
	}
	return n
}

var drawn = rand.Uint64()
