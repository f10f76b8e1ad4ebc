package ledger

import (
	"fmt"
	"strings"
	"testing"

	"reprise/rewrite"
)

const (
	holderID = "aaaaaaaa-2222-4333-8444-555555555555"
	forkID   = "bbbbbbbb-2222-4333-8444-555555555555"
)

// forkCall may fork a session that is held. Its ForkPoint names what it was asked
// for.
func forkCall(l *Ledger, prompt string, now Millis) *Call {
	c := testCall(l, prompt, now)
	c.ForkPoint = func(path string, size int64) (string, rewrite.Reason) { return fmt.Sprintf("%s at %d", path, size), "" }
	return c
}

// outcome is that of a run whose session's file has so many bytes.
func outcome(id, file string, size int64, totals rewrite.Totals, now Millis) *Outcome {
	o := goodOutcome(id, "done by "+file, now)
	o.File, o.FileSize, o.Seen.Totals = file, size, totals
	return o
}

func beginFork(t *testing.T, l *Ledger, prompt string, now Millis) (Decision, *Ticket) {
	t.Helper()
	d, ticket, err := l.Begin(forkCall(l, prompt, now))
	if err != nil {
		t.Fatal(err)
	}
	return d, ticket
}

func wantMode(t *testing.T, what string, d Decision, mode rewrite.Mode, id, forkAt string) {
	t.Helper()
	if d.Mode != mode || d.NativeID != id || d.ForkAt != forkAt {
		t.Fatalf("%s: %s (%s, %s) of %q at %q, want %s of %q at %q", what, d.Mode, d.Reason, d.Detail, d.NativeID, d.ForkAt, mode, id, forkAt)
	}
}

func TestForkIsASessionOfItsChain(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, first := begin(t, l, prompt, 1000)

	d, ticket := beginFork(t, l, prompt+"\n\nToo early.", 1500)
	wantMode(t, "while the first run is under way", d, rewrite.Fresh, "", "")
	if d.Reason != rewrite.Leased || d.Detail != rewrite.NothingToFork {
		t.Errorf("%s (%s)", d.Reason, d.Detail)
	}
	if err := l.FallBack(ticket, rewrite.RefusedBusy); err != nil { // out of the way
		t.Fatal(err)
	}
	if _, err := l.db.Exec("UPDATE chains SET session_id = ?", first.Session); err != nil {
		t.Fatal(err)
	}
	finish(t, l, first, outcome(holderID, "/holder", 100, "first", 2000))

	left, right := prompt+"\n\nOn the left.", prompt+"\n\nOn the right."
	_, holder := begin(t, l, left, 3000)
	d, fork := beginFork(t, l, right, 4000)
	wantMode(t, "fork", d, rewrite.Fork, holderID, "/holder at 100")
	if fork.Totals != "first" || fork.Session == holder.Session || d.Chain != 1 {
		t.Errorf("totals %q, session %d of chain %d", fork.Totals, fork.Session, d.Chain)
	}

	// The fork has no file yet: what is forked now is what it is a copy of.
	d, second := beginFork(t, l, right+" Further.", 4500)
	wantMode(t, "fork beside a fork", d, rewrite.Fork, holderID, "/holder at 100")
	if d, _, err := l.Preview(testCall(l, right, 4600)); err != nil || d.Reason != rewrite.Leased || d.Detail != "" {
		t.Errorf("where nobody asked for a fork: %s (%s), %v", d.Reason, d.Detail, err)
	}

	// Also when the holder has ended: its session has more than they have been sent.
	finish(t, l, holder, outcome(holderID, "/holder", 300, "second", 5000))
	d, third := beginFork(t, l, right+" And further.", 5500)
	wantMode(t, "fork beside a fork, later", d, rewrite.Fork, holderID, "/holder at 100")
	for _, ticket := range []*Ticket{third, second} {
		finish(t, l, ticket, outcome(someID, "/other", 150, "", 6000))
	}
	if _, err := l.db.Exec("UPDATE chains SET session_id = ?", fork.Session); err != nil {
		t.Fatal(err)
	}

	// From then on the fork is a session like any other, with its own past.
	finish(t, l, fork, outcome(forkID, "/fork", 200, "third", 6000))
	d, resumed := beginFork(t, l, right+"\n\nMore.", 7000)
	wantMode(t, "its next call", d, rewrite.Resume, forkID, "")
	if resumed.Totals != "third" {
		t.Errorf("totals %q", resumed.Totals)
	}
	d, _ = beginFork(t, l, right+"\n\nMore of it.", 8000)
	wantMode(t, "a fork of the fork", d, rewrite.Fork, forkID, "/fork at 200")

	rows, err := l.SessionRows(Wanted{Chain: 1})
	if err != nil {
		t.Fatal(err)
	}
	parents := map[string]string{}
	for _, r := range rows {
		parents[r.NativeID] = r.Parent
	}
	if parents[forkID] != holderID || parents[holderID] != "" {
		t.Errorf("parents %v", parents)
	}
}

// A fork has answered what the session had, and is as old.
func TestForkHasThePastOfItsSource(t *testing.T) {
	l, _ := newLedger(t)
	talk := fmt.Sprintf(base, 1) + "\n\nUser: what is it?"
	_, first := begin(t, l, talk, 1000)
	finish(t, l, first, outcome(holderID, "/holder", 100, "", 2000))
	said := "done by /holder"
	_, holder := begin(t, l, talk+"\n\nAssistant: "+said+"\n\nUser: on the left?", 3000)
	right := talk + "\n\nAssistant: " + said + "\n\nUser: on the right?"
	d, fork := beginFork(t, l, right, 4000)
	wantMode(t, "fork", d, rewrite.Fork, holderID, "/holder at 100")
	finish(t, l, fork, outcome(forkID, "/fork", 200, "", 5000))
	finish(t, l, holder, outcome(holderID, "/holder", 300, "", 5000))

	next := func(prompt string, now Millis) rewrite.Reason {
		d, _, err := l.Preview(forkCall(l, prompt, now))
		if err != nil {
			t.Fatal(err)
		}
		return d.Reason
	}
	if got := next(right+"\n\nAssistant: done by /fork\n\nUser: and then?", 6000); got != rewrite.Extends {
		t.Errorf("the conversation goes on: %s", got)
	}
	if got := next(strings.Replace(right, said, "another answer", 1)+"\n\nAssistant: done by /fork\n\nUser: and then?", 6000); got != rewrite.HistoryEdited {
		t.Errorf("an answer of what it is a copy of is edited: %s", got)
	}
	late := forkCall(l, right+"\n\nAssistant: done by /fork\n\nUser: and then?", 1001+24*3_600_000)
	late.Limits.TTL = 48 * 3_600_000
	if d, _, err := l.Preview(late); err != nil || d.Reason != rewrite.TooOld {
		t.Errorf("a day after its source began: %s, %v", d.Reason, err)
	}
}

func TestRefusedForkLeavesItsSource(t *testing.T) {
	for _, why := range []rewrite.Reason{rewrite.RefusedBroken, rewrite.RefusedBusy} {
		l, _ := newLedger(t)
		prompt := fmt.Sprintf(base, 1)
		_, first := begin(t, l, prompt, 1000)
		finish(t, l, first, outcome(holderID, "/holder", 100, "", 2000))
		_, holder := begin(t, l, prompt+"\n\nOn the left.", 3000)
		_, fork := beginFork(t, l, prompt+"\n\nOn the right.", 4000)
		refused := fork.Session
		if err := l.FallBack(fork, why); err != nil {
			t.Fatal(err)
		}
		states := map[int64]SessionRow{}
		rows, err := l.SessionRows(Wanted{Chain: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			states[r.ID] = r
		}
		if s := states[refused]; s.State != Dead || s.Why != why || s.Held {
			t.Errorf("%s: the fork is %s (%s), held %v", why, s.State, s.Why, s.Held)
		}
		if s := states[holder.Session]; s.State != Running || !s.Held {
			t.Errorf("%s: the source is %s, held %v", why, s.State, s.Held)
		}
		if s := states[fork.Session]; s.Parent != "" || fork.Totals != "" {
			t.Errorf("%s: the fresh session has parent %q, totals %q", why, s.Parent, fork.Totals)
		}
		files, err := l.SessionFiles(0)
		if err != nil || len(files) != 1 || files[0].ID != holder.Session {
			t.Errorf("%s: files %v, %v", why, files, err)
		}
	}
}

// Of many that want one session at once, one gets it, and the others a copy of what
// it was then.
func TestOneResumesAndTheOthersFork(t *testing.T) {
	l, path := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, ticket := begin(t, l, prompt, 1000)
	finish(t, l, ticket, outcome(holderID, "/holder", 100, "", 2000))
	modes, sessions := map[rewrite.Mode]int{}, map[int64]bool{}
	beginAtOnce(t, path, prompt, forkCall, func(d Decision, ticket *Ticket) {
		modes[d.Mode]++
		sessions[ticket.Session] = true
		if d.NativeID != holderID || d.Mode == rewrite.Fork && d.ForkAt != "/holder at 100" {
			t.Errorf("%s of %q at %q", d.Mode, d.NativeID, d.ForkAt)
		}
	})
	if modes[rewrite.Resume] != 1 || modes[rewrite.Fork] != 15 || len(sessions) != 16 {
		t.Errorf("%v in %d sessions", modes, len(sessions))
	}
}

// A session that is left while a call decides on it is resumed, one that went on
// meanwhile is decided on anew.
func TestForkIsDecidedAnew(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, first := begin(t, l, prompt, 1000)
	finish(t, l, first, outcome(holderID, "/holder", 100, "", 2000))
	_, holder := begin(t, l, prompt+"\n\nOn the left.", 3000)
	c := forkCall(l, prompt+"\n\nOn the left.\n\nOn the right.", 4000)
	asked := 0
	c.ForkPoint = func(string, int64) (string, rewrite.Reason) {
		if asked++; asked == 1 {
			finish(t, l, holder, outcome(holderID, "/holder", 300, "", 3500))
		}
		return "last", ""
	}
	d, resumed, err := l.Begin(c)
	if err != nil {
		t.Fatal(err)
	}
	finish(t, l, resumed, outcome(holderID, "/holder", 400, "", 5000))
	wantMode(t, "the holder ends meanwhile", d, rewrite.Resume, holderID, "")
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}

	// The holder ends, and another call takes its session at once.
	prompt += "\n\nOn the left.\n\nOn the right."
	c = forkCall(l, prompt+"\n\nElsewhere.\n\nFurther.\n\nAnd then.", 6000)
	_, third := begin(t, l, prompt+"\n\nElsewhere.", 5500)
	asked = 0
	c.ForkPoint = func(_ string, size int64) (string, rewrite.Reason) {
		if asked++; asked == 1 {
			finish(t, l, third, outcome(holderID, "/holder", 500, "", 5600))
			begin(t, l, prompt+"\n\nElsewhere.\n\nFurther.", 5700)
		}
		return fmt.Sprint(size), ""
	}
	if d, _, err = l.Begin(c); err != nil {
		t.Fatal(err)
	}
	if asked != 2 || d.Mode != rewrite.Fork || d.ForkAt != "500" {
		t.Errorf("asked %d times, %s at %q", asked, d.Mode, d.ForkAt)
	}
}
