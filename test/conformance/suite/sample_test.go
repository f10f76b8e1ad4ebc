package suite

import (
	"maps"
	"slices"
	"testing"
)

// A sample has one scenario of each kind, and one to four of each tool.
func TestSample(t *testing.T) {
	tools := slices.Sorted(maps.Keys(clis))
	for seed := range uint64(100) {
		all, err := options{seed: seed}.chosen(tools)
		if err != nil {
			t.Fatal(err)
		}
		names, kinds := map[string]bool{}, map[string]int{}
		for _, s := range all {
			name := s.tool + ": " + s.name
			if names[name] {
				t.Fatalf("two scenarios are %s", name)
			}
			names[name] = true
			if !s.slow {
				kinds[s.kind] = 0
			}
		}
		counts := map[string]int{}
		for _, s := range sample(all, seed) {
			kinds[s.kind]++
			counts[s.tool]++
		}
		for kind, n := range kinds {
			if n != 1 {
				t.Errorf("seed %d: %d scenarios of the kind %s are drawn", seed, n, kind)
			}
		}
		for _, tool := range tools {
			if n := counts[tool]; n < 1 || n > 4 {
				t.Errorf("seed %d: %d scenarios of %s are drawn", seed, n, tool)
			}
		}
	}
}

// A seed draws the same scenarios each time, another seed others.
func TestSampleIsRepeated(t *testing.T) {
	names := func(seed uint64) (names []string) {
		part, err := options{seed: seed, sample: true}.chosen([]string{"claude", "codex"})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range part {
			names = append(names, s.tool+s.name)
		}
		return names
	}
	if one := names(7); !slices.Equal(one, names(7)) || slices.Equal(one, names(8)) {
		t.Error("the seed does not decide what is drawn")
	}
}
