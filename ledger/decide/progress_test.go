package decide

import (
	"testing"

	"reprise/rewrite/prompt"
)

// Rounds count as long as they are given the same; only from the second one on are their changes
// known.
func TestRounds(t *testing.T) {
	var f Facts
	c := ChainFacts{SessionRecord: SessionRecord{LeftFiles: `[{"path":"a"}]`}}
	for i, step := range []struct {
		given, tree string
		stuck       bool
		want        Rounds
	}{
		{"a", "t1", false, Rounds{1, "a", ""}},
		{"a", "t1", false, Rounds{2, "a", "t1"}},
		{"a", "t2", false, Rounds{3, "a", "t2"}},
		{"a", "", false, Rounds{4, "a", ""}},
		{"a", "t2", false, Rounds{5, "a", "t2"}},
		{"a", "t2", true, Rounds{6, "a", "t2"}},
		{"b", "t2", false, Rounds{1, "b", ""}},
	} {
		f.Given = func(prompt.Continuity) string { return step.given }
		f.Tree = func() string { return step.tree }
		var stuck bool
		if c.Rounds, stuck = f.rounds(&c); stuck != step.stuck {
			t.Errorf("round %d: stuck %v, want %v", i, stuck, step.stuck)
		}
		if c.Rounds != step.want {
			t.Errorf("round %d: %+v, want %+v", i, c.Rounds, step.want)
		}
	}
}
