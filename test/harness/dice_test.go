package harness

import (
	"slices"
	"testing"
)

func TestSixth(t *testing.T) {
	cases := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}
	seen := map[string]bool{}
	for seed := range uint64(100) {
		sixth := Sixth(cases, seed, "TestX")
		if again := Sixth(cases, seed, "TestX"); !slices.Equal(sixth, again) {
			t.Errorf("seed %d: %v, then %v", seed, sixth, again)
		}
		if len(sixth) != 2 || sixth[0] == sixth[1] {
			t.Errorf("seed %d: %v", seed, sixth)
		}
		for _, name := range sixth {
			seen[name] = true
		}
		if one := Sixth(cases[:1], seed, "TestX"); len(one) != 1 {
			t.Errorf("seed %d: of one case %v", seed, one)
		}
	}
	if len(seen) != len(cases) {
		t.Errorf("only %v are ever drawn", seen)
	}
}
