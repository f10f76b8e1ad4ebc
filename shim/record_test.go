package shim

import (
	"testing"
	"time"

	"reprise/ledger"
	"reprise/rewrite"
	"reprise/shim/supervise"
	"reprise/test/gitrepo"
)

// A seenStream has read a run's output.
type seenStream struct {
	rewrite.Stream
	seen rewrite.StreamState
}

func (s seenStream) Seen() *rewrite.StreamState { return &s.seen }

// A binary does not resume if two resumes in a row had no history, of all calls that run at once.
func TestForgottenInARow(t *testing.T) {
	const least = 1000
	for name, tt := range map[string]struct {
		firsts []int64 // the tokens of the first requests, in the order of the runs' ends
		want   bool
	}{
		"in a row":       {[]int64{2000, 10, 10}, true},
		"one in between": {[]int64{10, 2000, 10}, false},
	} {
		l, dir := memoryLedger(t), t.TempDir()
		var runs []*ran // they begin at once
		for _, tokens := range tt.firsts {
			r := &ran{decided: guarded(t, l, dir, dir),
				Attempt: supervise.New(supervise.Options{Plan: rewrite.Plan{Least: least}})}
			r.env.Now, r.search = time.Now, r.newSearch()
			if err := r.recallBinary(); err != nil {
				t.Fatal(err)
			}
			r.Stream = seenStream{seen: rewrite.StreamState{
				First: rewrite.Usage{Known: true, Input: tokens}}}
			runs = append(runs, r)
		}
		for _, r := range runs {
			r.noteProof()
		}
		b, err := l.Binary(runs[0].name, runs[0].runtime())
		if err != nil || b.NoResume != tt.want {
			t.Errorf("%s: %+v, %v", name, b, err)
		}
	}
}

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
