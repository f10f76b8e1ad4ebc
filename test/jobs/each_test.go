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
		names = aSixth(names, toolbox.Seed(t), t.Name())
	}
	for _, name := range names {
		t.Run(cmp.Or(name, "text"), func(t *testing.T) {
			t.Parallel()
			test(t, name, table[name])
		})
	}
}

// aSixth returns a sixth of the cases of a table, at least one, drawn for the name.
func aSixth(cases []string, seed uint64, name string) (sixth []string) {
	for _, i := range harness.Dice(seed, name).Perm(len(cases))[:max(1, len(cases)/6)] {
		sixth = append(sixth, cases[i])
	}
	slices.Sort(sixth)
	return sixth
}

func TestSixth(t *testing.T) {
	cases := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}
	seen := map[string]bool{}
	for seed := range uint64(100) {
		sixth := aSixth(cases, seed, "TestX")
		if again := aSixth(cases, seed, "TestX"); !slices.Equal(sixth, again) {
			t.Errorf("seed %d: %v, then %v", seed, sixth, again)
		}
		if len(sixth) != 2 || sixth[0] == sixth[1] {
			t.Errorf("seed %d: %v", seed, sixth)
		}
		for _, name := range sixth {
			seen[name] = true
		}
		if one := aSixth(cases[:1], seed, "TestX"); len(one) != 1 {
			t.Errorf("seed %d: of one case %v", seed, one)
		}
	}
	if len(seen) != len(cases) {
		t.Errorf("only %v are ever drawn", seen)
	}
}
