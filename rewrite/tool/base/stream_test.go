package base

import (
	"testing"

	"reprise/rewrite"
)

// An ID of a form that the tool has not had is another session in a resumed run. In a fresh run
// nobody knows: the session has no ID then, and the run has not failed.
func TestLearnIDOfAnotherForm(t *testing.T) {
	const own, strange = "11111111-1111-4111-8111-111111111111", "thread_123"
	for _, tt := range []struct {
		plan  rewrite.Plan
		id    string
		known string
		wrong bool
	}{
		{rewrite.Plan{NewID: own}, own, own, false},
		{rewrite.Plan{NewID: own}, strange, "", false},
		{rewrite.Plan{}, strange, "", false},
		{rewrite.Plan{Resume: own}, own, own, false},
		{rewrite.Plan{Resume: own}, strange, "", true},
		{rewrite.Plan{Resume: own, Copy: true}, own, own, true},
		{rewrite.Plan{Resume: own}, "", "", false},
	} {
		s := NewStream(rewrite.CommandLine{}, tt.plan, "")
		s.LearnID(tt.id, "stdout", true)
		if s.State.ID != tt.known || s.State.WrongID != tt.wrong {
			t.Errorf("resume %q, new %q, told %q: the ID is %q, wrong %v", tt.plan.Resume,
				tt.plan.NewID, tt.id, s.State.ID, s.State.WrongID)
		}
	}
}
