package shim

import (
	"testing"
	"time"

	"reprise/ledger"
	"reprise/rewrite"
	"reprise/test/gitrepo"
)

// The work of a session is remembered if a later call can continue it.
func TestFilesOfOutcomes(t *testing.T) {
	dir := gitrepo.New(t)
	gitrepo.Script(t, dir, "echo one >a; git add a; git commit -qm 1; echo two >a")
	r := &ran{decided: guarded(t, memoryLedger(t), dir, t.TempDir())}
	r.started, r.ticket = time.Now().Add(-time.Minute),
		&ledger.Ticket{Record: ledger.Record{Session: 1}}
	seen := rewrite.StreamState{ID: "id", Final: true, Content: true}
	limited := seen
	limited.TurnLimit, limited.Failed = true, true
	for name, tt := range map[string]struct {
		o    ledger.Outcome
		kept bool
	}{
		"good":           {ledger.Outcome{Seen: seen}, true},
		"limit of turns": {ledger.Outcome{Exit: 1, Seen: limited}, true},
		"failed":         {ledger.Outcome{Exit: 1}, false},
		"without an ID":  {ledger.Outcome{Seen: rewrite.StreamState{Final: true}}, false},
	} {
		if left := r.leftFiles(&tt.o, []string{"a"}); (left != "") != tt.kept {
			t.Errorf("%s: %q", name, left)
		}
	}
	good := ledger.Outcome{Seen: seen}
	left := r.leftFiles(&good, []string{"a"})
	gitrepo.Script(t, dir, "git checkout -q a")
	if r.gather(); r.record.WorkGone == nil || !r.record.WorkGone(left, r.record.Revision.Head) {
		t.Error("the ledger cannot learn that the work is gone")
	}
	r.ticket.Session = 0
	if left := r.leftFiles(&good, []string{"a"}); left != "" {
		t.Errorf("a session of the caller's: %s", left)
	}
}
