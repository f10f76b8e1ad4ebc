package main

import (
	"slices"
	"testing"
)

// A minifier's names do not make another place, another sentence does.
func TestPlacesIgnoreMinifiedNames(t *testing.T) {
	one := search("claude", `function aB(e,r){if(r!=="json"&&r!=="stream-json")process.stderr.write(e)}x();aB("A notice",q.outputFormat);`)
	same := search("claude", `function $0(o,n){if(n!=="json"&&n!=="stream-json")process.stderr.write(o)}y();$0("A notice",z.outputFormat);`)
	other := search("claude", `function aB(e,r){if(r!=="json"&&r!=="stream-json")process.stderr.write(e)}x();aB("Another",q.outputFormat);`)
	if len(one) == 0 || !slices.Equal(one, same) {
		t.Errorf("%q and %q", one, same)
	}
	if slices.Equal(one, other) {
		t.Errorf("another sentence is not seen: %q", one)
	}
}
