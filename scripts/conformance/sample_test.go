package main

import (
	"maps"
	"slices"
	"testing"
)

// A sample has each kind of each tool and each row of the whole, and it is a small part.
func TestSample(t *testing.T) {
	tools := slices.Sorted(maps.Keys(clis))
	for seed := range uint64(50) {
		all, err := options{seed: seed}.chosen(tools)
		if err != nil {
			t.Fatal(err)
		}
		part, err := options{seed: seed, sample: true}.chosen(tools)
		if err != nil {
			t.Fatal(err)
		}
		has := map[string]bool{}
		for _, s := range part {
			if name := s.tool + ": " + s.name; has[name] {
				t.Errorf("seed %d: %s is drawn twice", seed, name)
			}
			has[s.tool+": "+s.name], has[s.tool+" "+s.kind], has[s.row()] = true, true, true
		}
		names := map[string]bool{}
		for _, s := range all {
			name := s.tool + ": " + s.name
			if names[name] {
				t.Fatalf("two scenarios are %s", name)
			}
			names[name] = true
			if !has[s.tool+" "+s.kind] || !has[s.row()] {
				t.Errorf("seed %d: nothing like %s: %s (%s)", seed, s.tool, s.name, s.kind)
			}
		}
		if len(part) > len(all)*2/5 {
			t.Errorf("seed %d: %d of %d are drawn", seed, len(part), len(all))
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
