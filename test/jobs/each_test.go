package jobs

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"testing"

	"reprise/test/harness"
	"reprise/test/realcli"
	"reprise/test/toolbox"
)

// sample reports whether a part of the tests is wanted: the tests of one tool, and a sixth of each
// table.
func sample() bool { return os.Getenv("REPRISE_E2E") == "sample" }

// drawnTool returns the tool of a sample.
func drawnTool(t *testing.T) string {
	tools := slices.Sorted(maps.Keys(realcli.Pins))
	return tools[harness.Dice(toolbox.Seed(t), "tool").IntN(len(tools))]
}

// each runs a test for each case of a table, beside other tests. A sample has a sixth of them, at
// least one, drawn by REPRISE_SAMPLE or, without it, by a number that a test that fails prints.
func each[V any](t *testing.T, table map[string]V, test func(t *testing.T, name string, v V)) {
	t.Parallel()
	names := slices.Sorted(maps.Keys(table))
	if sample() {
		names = harness.Sixth(names, toolbox.Seed(t), t.Name())
	}
	for _, name := range names {
		t.Run(cmp.Or(name, "text"), func(t *testing.T) {
			t.Parallel()
			test(t, name, table[name])
		})
	}
}
