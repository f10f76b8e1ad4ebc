package suite

import (
	"maps"
	"slices"
	"testing"
)

// A sample has one of each kind of one tool, and one scenario of each other. In time every tool is
// drawn.
func TestSample(t *testing.T) {
	tools := slices.Sorted(maps.Keys(clis))
	drawn := map[string]bool{}
	for seed := range uint64(100) {
		all, err := options{seed: seed}.chosen(tools)
		if err != nil {
			t.Fatal(err)
		}
		part := sample(all, seed)
		has, count := map[string]bool{}, map[string]int{}
		for _, s := range part {
			if name := s.tool + ": " + s.name; has[name] {
				t.Errorf("seed %d: %s is drawn twice", seed, name)
			}
			has[s.tool+": "+s.name], has[s.tool+" "+s.kind] = true, true
			count[s.tool]++
		}
		tool := slices.MaxFunc(tools, func(a, b string) int { return count[a] - count[b] })
		drawn[tool] = true
		for _, other := range tools {
			if other != tool && count[other] != 1 {
				t.Errorf("seed %d: %d scenarios of %s are drawn", seed, count[other], other)
			}
		}
		names, kinds := map[string]bool{}, map[string]bool{}
		for _, s := range all {
			name := s.tool + ": " + s.name
			if names[name] {
				t.Fatalf("two scenarios are %s", name)
			}
			names[name] = true
			if s.tool == tool && !s.slow {
				kinds[s.kind] = true
				if !has[s.tool+" "+s.kind] {
					t.Errorf("seed %d: nothing like %s: %s (%s)", seed, s.tool, s.name, s.kind)
				}
			}
		}
		if count[tool] != len(kinds) {
			t.Errorf("seed %d: %d scenarios of %d kinds of %s are drawn", seed, count[tool],
				len(kinds), tool)
		}
	}
	if len(drawn) != len(tools) {
		t.Errorf("only %v are drawn", slices.Sorted(maps.Keys(drawn)))
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
