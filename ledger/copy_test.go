package ledger

import (
	"fmt"
	"strings"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

const (
	sourceID = "aaaaaaaa-2222-4333-8444-555555555555"
	copyID   = "bbbbbbbb-2222-4333-8444-555555555555"
	otherID  = "cccccccc-2222-4333-8444-555555555555"
)

// copyCall goes on in copies. ForkPoint names its argument.
func copyCall(l *Ledger, prompt string, now decide.Millis) *Call {
	c := testCall(l, prompt, now)
	c.Copies = true
	c.ForkPoint = func(path string, stamp decide.Stamp) (string, reason.Code) {
		return fmt.Sprintf("%s at %s", path, stamp), ""
	}
	return c
}

// namedCopyCall is one of a job that has a name.
func namedCopyCall(l *Ledger, prompt string, now decide.Millis) *Call {
	c := copyCall(l, prompt, now)
	c.Task, c.Role, c.Limits.Unrelated = "task", "reviewer", true
	return c
}

// outcome is the outcome of a run with so many bytes in the session's file.
func outcome(id, file string, size int64, totals rewrite.Totals, now decide.Millis) *Outcome {
	o := goodOutcome(id, "done by "+file, now)
	o.File, o.Stamp, o.Seen.Totals = file, decide.Stamp(fmt.Sprint(size)), totals
	return o
}

func beginCall(t *testing.T, l *Ledger, c *Call) (decide.Decision, *Ticket) {
	t.Helper()
	d, ticket, err := Begin(l, c)
	if err != nil {
		t.Fatal(err)
	}
	return d, ticket
}

// wantSource checks the session that a call continues; "" stands for a fresh one.
func wantSource(t *testing.T, what string, d decide.Decision, id string) {
	t.Helper()
	if d.NativeID != id || d.Copy != (id != "") || d.Mode.Continues() != (id != "") {
		t.Fatalf("%s: %s (%s, %s) of %q, want %q", what, d.Mode, d.Reason, d.Detail, d.NativeID, id)
	}
}

// wantFree checks that no process holds a session.
func wantFree(t *testing.T, l *Ledger, what string, session int64) {
	t.Helper()
	if held, err := Held(l, session); err != nil || held {
		t.Errorf("%s: held %v, %v", what, held, err)
	}
}

func TestCopyIsASessionOfItsChain(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	d, first := beginCall(t, l, copyCall(l, prompt, 1000))
	wantSource(t, "first call", d, "")
	d, early := beginCall(t, l, copyCall(l, prompt+"\n\nToo early.", 1500))
	if wantSource(t, "while the first run is under way", d, ""); d.Reason != reason.Leased ||
		d.Detail != reason.NothingToFork {
		t.Errorf("%s (%s)", d.Reason, d.Detail)
	}
	o := outcome(someID, "/early", 10, "", 1600)
	o.Exit = 1
	finish(t, l, early, o)
	finish(t, l, first, outcome(sourceID, "/source", 100, "first", 2000))

	left, right := prompt+"\n\nOn the left.", prompt+"\n\nOn the right."
	d, one := beginCall(t, l, copyCall(l, left, 3000))
	wantSource(t, "next call", d, sourceID)
	if one.Totals != "first" || one.Session == first.Session || d.Chain != 1 {
		t.Errorf("totals %q, session %d of chain %d", one.Totals, one.Session, d.Chain)
	}
	wantRow(t, "meanwhile the source", row(t, l, "sessions", first.Session),
		map[string]any{"state": decide.Live, "turns": 1})
	wantFree(t, l, "meanwhile the source", first.Session)

	// Two calls at once need no lease.
	d, two := beginCall(t, l, copyCall(l, right, 3500))
	wantSource(t, "another call, at once", d, sourceID)
	finish(t, l, one, outcome(copyID, "/copy", 200, "second", 4000))
	finish(t, l, two, outcome(otherID, "/other", 300, "third", 4500))

	// Each goes on by itself.
	for _, tt := range []struct {
		prompt, id string
		totals     rewrite.Totals
	}{
		{left + "\n\nMore.", copyID, "second"}, {right + "\n\nMore.", otherID, "third"},
		{prompt + "\n\nElsewhere.", sourceID, "first"},
	} {
		d, ticket := beginCall(t, l, copyCall(l, tt.prompt, 7000))
		wantSource(t, tt.prompt, d, tt.id)
		if ticket.Totals != tt.totals {
			t.Errorf("totals %q, want %q", ticket.Totals, tt.totals)
		}
	}
	for session, parent := range map[int64]any{one.Session: first.Session,
		two.Session: first.Session, first.Session: nil} {
		wantRow(t, "a session", row(t, l, "sessions", session), map[string]any{"parent_id": parent})
	}
	files, err := l.SessionFiles(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !f.Current {
			t.Errorf("session %d may go, though a call may go on from it", f.ID)
		}
	}
}

// A copy has the source's answers and age.
func TestCopyHasThePastOfItsSource(t *testing.T) {
	l, _ := newLedger(t)
	talk := fmt.Sprintf(base, 1) + "\n\nUser: what is it?"
	_, first := beginCall(t, l, copyCall(l, talk, 1000))
	finish(t, l, first, outcome(sourceID, "/source", 100, "", 2000))
	said := "done by /source"
	right := talk + "\n\nAssistant: " + said + "\n\nUser: on the right?"
	d, ticket := beginCall(t, l, copyCall(l, right, 4000))
	wantSource(t, "copy", d, sourceID)
	finish(t, l, ticket, outcome(copyID, "/copy", 200, "", 5000))

	next := func(prompt string, now decide.Millis) decide.Decision {
		d, _, err := Preview(l, copyCall(l, prompt, now))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	further := "\n\nAssistant: done by /copy\n\nUser: and then?"
	wantSource(t, "the conversation goes on", next(right+further, 6000), copyID)
	d = next(strings.Replace(right, said, "another answer", 1)+further, 6000)
	if wantSource(t, "an answer of the source is edited", d, ""); d.Reason != reason.HistoryEdited {
		t.Errorf("%s", d.Reason)
	}
	wantSource(t, "another question at the same place",
		next(talk+"\n\nAssistant: "+said+"\n\nUser: on the left?", 6000), sourceID)
	late := copyCall(l, right+further, 1001+24*3_600_000)
	late.Limits.TTL = 48 * 3_600_000
	if d, _, err := Preview(l, late); err != nil || d.Reason != reason.TooOld {
		t.Errorf("a day after its source began: %s, %v", d.Reason, err)
	}
}

// A copy that ends badly leaves its source to go on from, but not for ever.
func TestFailedCopyLeavesItsSource(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, first := beginCall(t, l, copyCall(l, prompt, 1000))
	finish(t, l, first, outcome(sourceID, "/source", 100, "", 2000))
	for n, end := range []func(*Outcome){
		func(o *Outcome) { o.Exit, o.Seen.Outside = 1, reason.RateLimited },
		func(o *Outcome) { o.Signal = 9 },
		func(o *Outcome) { o.Exit, o.Seen.Outside = 143, reason.Interrupted },
	} {
		now := decide.Millis(3000 + 1000*n)
		d, ticket := beginCall(t, l, copyCall(l, prompt+"\n\nMore.", now))
		wantSource(t, fmt.Sprintf("after %d failures", n), d, sourceID)
		o := outcome(copyID, "/copy", 200, "", now+500)
		end(o)
		finish(t, l, ticket, o)
	}
	d, _ := beginCall(t, l, copyCall(l, prompt+"\n\nMore.", 9000))
	if wantSource(t, "after three failures", d, ""); d.Reason != reason.ErrorLimit {
		t.Errorf("%s", d.Reason)
	}
}

func TestRefusedCopy(t *testing.T) {
	tests := []struct {
		why    reason.Code
		cut    bool
		source decide.State
	}{
		{reason.RefusedBusy, false, decide.Live}, {reason.RefusedSilent, false, decide.Dead},
		{reason.RefusedNoResume, false, decide.Live},
		{reason.RefusedUnknown, false, decide.Dead}, {reason.RefusedBroken, false, decide.Dead},
		{reason.RefusedContext, false, decide.Dead},
		{reason.RefusedOtherID, false, decide.Dead}, {reason.RefusedBroken, true, decide.Live},
	}
	for _, tt := range tests {
		l, _ := newLedger(t)
		prompt := fmt.Sprintf(base, 1)
		_, first := beginCall(t, l, copyCall(l, prompt, 1000))
		finish(t, l, first, outcome(sourceID, "/source", 100, "", 2000))
		c := copyCall(l, prompt+"\n\nMore.", 4000)
		if tt.cut {
			c.Stored = func(string, string, decide.Stamp) decide.StoredState {
				return decide.StoredChanged
			}
		}
		d, ticket := beginCall(t, l, c)
		if wantSource(t, "copy", d, sourceID); tt.cut != (d.ForkAt == "/source at 100") {
			t.Errorf("cut at %q", d.ForkAt)
		}
		refused := ticket.Session
		if err := l.FallBack(ticket, tt.why); err != nil {
			t.Fatal(err)
		}
		wantRow(t, "the copy after "+string(tt.why), row(t, l, "sessions", refused),
			map[string]any{"state": decide.Dead, "state_why": tt.why})
		wantFree(t, l, "the copy after "+string(tt.why), refused)
		since := first.Session // its source is an end of the chain as before
		if tt.source == decide.Dead {
			since = ticket.Session
		}
		wantRow(t, "the chain after "+string(tt.why), row(t, l, "chains", ticket.Chain),
			map[string]any{"since": since})
		diesOf := tt.why
		if tt.source == decide.Live {
			diesOf = ""
		}
		wantRow(t, "the source after "+string(tt.why), row(t, l, "sessions", first.Session),
			map[string]any{"state": tt.source, "errors": 1, "state_why": diesOf})
		if wantRow(t, "the fresh session", row(t, l, "sessions", ticket.Session),
			map[string]any{"parent_id": nil}); ticket.Totals != "" {
			t.Errorf("%s: the fresh session has totals %q", tt.why, ticket.Totals)
		}
		finish(t, l, ticket, outcome(otherID, "/other", 100, "", 5000))
		d, _ = beginCall(t, l, copyCall(l, prompt+"\n\nMore.\n\nAnd more.", 6000))
		wantSource(t, "after "+string(tt.why), d, otherID)
	}
}

// Of many that want one session at once, each gets a copy of it.
func TestAllGoOnAtOnce(t *testing.T) {
	l, path := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, ticket := beginCall(t, l, copyCall(l, prompt, 1000))
	finish(t, l, ticket, outcome(sourceID, "/source", 100, "", 2000))
	sessions := map[int64]bool{}
	beginAtOnce(t, path, prompt, copyCall, func(d decide.Decision, ticket *Ticket) {
		sessions[ticket.Session] = true
		if d.NativeID != sourceID || !d.Copy {
			t.Errorf("%s (%s) of %q", d.Mode, d.Reason, d.NativeID)
		}
	})
	if len(sessions) != 16 {
		t.Errorf("%d sessions", len(sessions))
	}
}

// Two reviewers of one name, each with instructions of its own, that run at once never meet.
func TestReviewersOfOneName(t *testing.T) {
	for _, order := range []string{"ab", "ba"} {
		for _, copies := range []bool{true, false} {
			l, _ := newLedger(t)
			ids := map[rune]string{'a': sourceID, 'b': copyID}
			prompt := map[rune]string{
				'a': fmt.Sprintf(base, 1) + "\n\nLook at security only.",
				'b': fmt.Sprintf(base, 1) + "\n\nLook at style only.",
			}
			call := func(prompt string, now decide.Millis) *Call {
				c := namedCopyCall(l, prompt, now)
				c.Copies = copies
				return c
			}
			tickets := map[rune]*Ticket{}
			for n, who := range "ab" {
				var d decide.Decision
				if d, tickets[who] = beginCall(t, l,
					call(prompt[who], decide.Millis(1000+n))); d.Mode != rewrite.Fresh {
					t.Fatalf("round 1 of %c: %s", who, d.Mode)
				}
			}
			for _, who := range order {
				finish(t, l, tickets[who], outcome(ids[who], "/"+string(who), 100, "", 2000))
			}
			for round := 2; round <= 4; round++ {
				for _, who := range order {
					prompt[who] += fmt.Sprintf("\n\nRound %d: it was mended.", round)
					d, ticket := beginCall(t, l, call(prompt[who], decide.Millis(1000*round)))
					if d.NativeID != ids[who] {
						t.Fatalf("round %d of %c: %s (%s) of %q", round, who, d.Mode, d.Reason,
							d.NativeID)
					}
					if copies {
						ids[who] = ids[who][:35] + string('0'+rune(round)) // its own
					}
					finish(t, l, ticket, outcome(ids[who], "/"+string(who), int64(100*round), "",
						decide.Millis(1000*round+10)))
				}
			}
			// A session without a known owner is nobody's.
			d, _ := beginCall(t, l,
				call(fmt.Sprintf(base, 1)+"\n\nLook at everything, and say it shortly.", 9000))
			if d.Mode != rewrite.Fresh || d.Reason != reason.Ambiguous {
				t.Errorf("another prompt: %s (%s) of %q", d.Mode, d.Reason, d.NativeID)
			}
		}
	}
}

// A name stays a proof where its calls come one after the other, and a job that began anew does not
// go back to its earlier sessions.
func TestNameThatIsAProof(t *testing.T) {
	l, _ := newLedger(t)
	one := fmt.Sprintf(base, 1)
	ask := func(what, prompt, from, id string, now decide.Millis) {
		t.Helper()
		d, ticket := beginCall(t, l, namedCopyCall(l, prompt, now))
		wantSource(t, what, d, from)
		finish(t, l, ticket, outcome(id, "/"+id, 100, "", now+10))
	}
	ids := func(n int) string { return fmt.Sprintf("%s%d", sourceID[:35], n) }
	ask("first", one, "", ids(1), 1000)
	ask("another template", "Resume your work.\n\n"+strings.Repeat("Do it well. ", 30), ids(1),
		ids(2), 2000)
	ask("that one, changed",
		"Resume your work.\n\n"+strings.Repeat("Do it well. ", 30)+"\n\nNotes.", ids(2), ids(3),
		3000)
	ask("the first one again", one, "", ids(4), 4000)
	ask("and its next", one+"\n\nNotes.", ids(4), ids(5), 5000)
	ask("what was before is over",
		"Resume your work.\n\n"+strings.Repeat("Do it well. ", 30)+"\n\nNotes.\n\nMore.", ids(5),
		ids(6), 6000)
}

// Who decides by the name alone decides anew where somebody else has begun under it.
func TestNameIsDecidedOnAnew(t *testing.T) {
	l, _ := newLedger(t)
	_, first := beginCall(t, l, namedCopyCall(l, fmt.Sprintf(base, 1), 1000))
	finish(t, l, first, outcome(sourceID, "/source", 100, "", 2000))
	c := namedCopyCall(l, fmt.Sprintf(base, 2), 3000)
	c.Stored = func(string, string, decide.Stamp) decide.StoredState { return decide.StoredChanged }
	c.ForkPoint = func(string, decide.Stamp) (string, reason.Code) {
		c.Stored = func(string, string, decide.Stamp) decide.StoredState {
			return decide.StoredSame
		}
		d, _ := beginCall(t, l, namedCopyCall(l, fmt.Sprintf(base, 3), 2500))
		wantSource(t, "who comes in between", d, sourceID)
		return "last", ""
	}
	d, _ := beginCall(t, l, c)
	if wantSource(t, "who comes too late", d, ""); d.Reason != reason.Leased {
		t.Errorf("%s", d.Reason)
	}
}

// A session that the caller goes on with is not resumed meanwhile, although the ledger was locked
// when the caller's run began.
func TestCallersOwnOfALockedLedger(t *testing.T) {
	l, path := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, first := beginCall(t, l, testCall(l, prompt, 1000))
	finish(t, l, first, outcome(sourceID, "/source", 100, "", 2000))
	release := lockLedger(t, path)
	ticket, err := l.Observe(testCall(l, "mine", 3000), reason.CallerSession, sourceID, 4)
	if release(); err != nil {
		t.Fatal(err)
	}
	d, _ := beginCall(t, l, testCall(l, prompt+"\n\nMore.", 4000))
	if d.Reason != reason.CallersOwn {
		t.Errorf("%s (%s)", d.Mode, d.Reason)
	}
	finish(t, l, ticket, outcome(sourceID, "/source", 100, "", 5000))
	wantCount(t, l, 1, "SELECT count(*) FROM calls WHERE mode = 'observe' AND outcome = 'ok'")
	wantCount(t, l, 0, "SELECT count(*) FROM calls WHERE mode = 'observe' AND outcome IS NULL")
}

// A session that the caller has gone on with is the caller's, whether the call named it or its
// output did.
func TestCallersOwn(t *testing.T) {
	for _, named := range []bool{true, false} {
		l, _ := newLedger(t)
		prompt := fmt.Sprintf(base, 1)
		_, first := beginCall(t, l, testCall(l, prompt, 1000))
		finish(t, l, first, outcome(sourceID, "/source", 100, "", 2000))
		id := ""
		if named {
			id = sourceID
		}
		ticket, err := l.Observe(testCall(l, "mine", 3000), reason.CallerSession, id, 4)
		if err != nil {
			t.Fatal(err)
		}
		if !named {
			finish(t, l, ticket, outcome(sourceID, "/source", 100, "", 4000))
		}
		if d, _, err := Preview(l, testCall(l, prompt+"\n\nMore.", 5000)); err != nil ||
			d.Reason != reason.CallersOwn {
			t.Errorf("named %v: in the session: %s (%s), %v", named, d.Mode, d.Reason, err)
		}
		if d, _, err := Preview(l, copyCall(l, prompt+"\n\nMore.", 5000)); err != nil ||
			d.NativeID != sourceID {
			t.Errorf("named %v: in a copy: %s (%s), %v", named, d.Mode, d.Reason, err)
		}
	}
}
