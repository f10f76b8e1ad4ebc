package parity

import (
	"slices"
	"testing"
)

func TestThird(t *testing.T) {
	cases := []string{"a", "b", "c", "d", "e", "f"}
	seen := map[string]bool{}
	for seed := range uint64(100) {
		third := Third(cases, seed, "TestX")
		if again := Third(cases, seed, "TestX"); !slices.Equal(third, again) {
			t.Errorf("seed %d: %v, then %v", seed, third, again)
		}
		if len(third) != 2 || third[0] == third[1] {
			t.Errorf("seed %d: %v", seed, third)
		}
		for _, name := range third {
			seen[name] = true
		}
		if one := Third(cases[:1], seed, "TestX"); len(one) != 1 {
			t.Errorf("seed %d: of one case %v", seed, one)
		}
	}
	if len(seen) != len(cases) {
		t.Errorf("only %v are ever drawn", seen)
	}
}
