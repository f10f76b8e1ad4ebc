package decide

import "testing"

// Rounds count as long as they are given the same; only from the second one on are their changes
// known.
func TestRounds(t *testing.T) {
	var r Rounds
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
		if got := r.stuck(step.given, step.tree); got != step.stuck {
			t.Errorf("round %d: stuck %v, want %v", i, got, step.stuck)
		}
		if r = r.And(step.given, step.tree); r != step.want {
			t.Errorf("round %d: %+v, want %+v", i, r, step.want)
		}
	}
}
