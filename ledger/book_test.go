package ledger

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// Of several sessions, the history is asked about the session that the call would continue.
func TestAncestorOfTheChosenSession(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	for n, more := range []string{"", "\n\nOn the left."} {
		c := copyCall(l, prompt+more, decide.Millis(1000*n))
		c.Revision.Head = "head 0"
		_, ticket := beginCall(t, l, c)
		o := outcome([]string{sourceID, copyID}[n], "/file", 10, "", decide.Millis(1000*n+500))
		o.Revision.Head = fmt.Sprintf("head %d", n)
		finish(t, l, ticket, o)
	}
	c := copyCall(l, prompt+"\n\nElsewhere.", 3000)
	c.Revision.Head = "head 2"
	var asked []string
	c.History = func(commit string) error { asked = append(asked, commit); return nil }
	d, _ := beginCall(t, l, c)
	if wantSource(t, "elsewhere", d, sourceID); !slices.Equal(asked, []string{"head 0"}) {
		t.Errorf("asked about %q", asked)
	}
}

// The history is asked about only where the call would go on with the session.
func TestAncestorIsAskedSeldom(t *testing.T) {
	const before, now = "b", "n"
	for _, tt := range []struct {
		name    string
		change  func(*decide.Facts)
		history error
		asked   bool
		want    reason.Code
	}{
		{"commits on top", func(*decide.Facts) {}, nil, true, reason.Extends},
		{"taken back", func(*decide.Facts) {}, reason.CommitGone, true, reason.CommitGone},
		{"git is silent", func(*decide.Facts) {}, reason.CommitUnknown, true, reason.CommitUnknown},
		{"the same commit", func(f *decide.Facts) { f.Revision.Head = before }, reason.CommitGone,
			false, reason.Extends},
		{"no commit before", func(f *decide.Facts) { f.Chains[0].Revision.Head = "" },
			reason.CommitGone, false, reason.Extends},
		{"no commit any more", func(f *decide.Facts) { f.Revision.Head = "" }, reason.CommitGone,
			true, reason.CommitGone},
		{"fresh anyway", func(f *decide.Facts) { f.Fingerprints.Model = "n" }, reason.CommitGone,
			false, reason.ModelChanged},
		{"fresh anyway, for another chain's sake", func(f *decide.Facts) { f.Chains = nil },
			reason.CommitGone, false, reason.FirstCall},
	} {
		f := goodFacts()
		f.Revision.Head, f.Chains[0].Revision.Head = now, before
		tt.change(&f)
		asked := false
		f.History = func(commit string) error {
			if asked = true; commit != before {
				t.Errorf("%s: asked for %q", tt.name, commit)
			}
			return tt.history
		}
		if d := decide.Decide(f); d.Reason != tt.want || asked != tt.asked {
			t.Errorf("%s: %s, asked: %v, want %s and %v", tt.name, d.Reason, asked, tt.want,
				tt.asked)
		}
	}
}

// Files are looked at only where the call would go on with the session, its commits are there, and
// they were changed on this machine.
func TestWorkIsLookedAtSeldom(t *testing.T) {
	const left, head = "files", "b"
	for _, tt := range []struct {
		name        string
		change      func(*decide.Facts)
		gone, asked bool
		want        reason.Code
	}{
		{"as it was", func(*decide.Facts) {}, false, true, reason.Extends},
		{"thrown away", func(*decide.Facts) {}, true, true, reason.WorkGone},
		{"of a named job", func(f *decide.Facts) { f.Named = true }, true,
			true, reason.WorkGone},
		{"no files", func(f *decide.Facts) { f.Chains[0].LeftFiles = "" }, true,
			false, reason.Extends},
		{"commit gone", func(f *decide.Facts) { f.Revision.Head = "n" }, true,
			false, reason.CommitGone},
		{"of another machine", func(f *decide.Facts) {
			f.Checkout = func(string, string) bool { return false }
		}, true, false, reason.CheckoutDiffers},
		{"fresh anyway", func(f *decide.Facts) { f.Fingerprints.Model = "n" }, true,
			false, reason.ModelChanged},
		{"no way to look", func(f *decide.Facts) { f.WorkGone = nil }, true,
			false, reason.Extends},
	} {
		f := goodFacts()
		f.Revision.Head, f.Chains[0].Revision.Head, f.Chains[0].LeftFiles = head, head, left
		asked := false
		f.WorkGone = func(files, at string) bool {
			if asked = true; files != left || at != head {
				t.Errorf("%s: asked for %q at %q", tt.name, files, at)
			}
			return tt.gone
		}
		f.History = func(string) error { return reason.CommitGone }
		tt.change(&f)
		if d := decide.Decide(f); d.Reason != tt.want || asked != tt.asked {
			t.Errorf("%s: %s, asked: %v, want %s and %v", tt.name, d.Reason, asked, tt.want,
				tt.asked)
		}
	}
}

// The files that a session's runs have left are handed to the run that continues it, also in a
// copy, and to the guard of the call after it. A fresh run begins without any.
func TestFilesLeftAreKept(t *testing.T) {
	for _, copies := range []bool{false, true} {
		l, _ := newLedger(t)
		prompt := fmt.Sprintf(base, 1)
		run := func(now decide.Millis, gone bool, wantAsked, want string, leaves string) *Ticket {
			t.Helper()
			c := namedCopyCall(l, prompt, now)
			c.Copies = copies
			asked := ""
			c.WorkGone = func(left, _ string) bool { asked = left; return gone }
			d, ticket := beginCall(t, l, c)
			if asked != wantAsked || ticket.Left != want || gone != (d.Reason == reason.WorkGone) {
				t.Errorf("copies %v, %s: asked about %q, the run has %q, want %q and %q", copies,
					d.Reason, asked, ticket.Left, wantAsked, want)
			}
			o := outcome(fmt.Sprintf("00000000-0000-4000-8000-%012d", now), "/file", 10, "", now+1)
			if d.Mode.Continues() && !copies {
				o.Seen.ID = d.NativeID
			}
			o.Left = leaves
			if leaves != "" {
				finish(t, l, ticket, o)
			}
			prompt += fmt.Sprintf("\n\nMore at %d.", now)
			return ticket
		}
		run(1000, false, "", "", "files 1")
		run(2000, false, "files 1", "files 1", "files 2")
		run(3000, true, "files 2", "", "files 3")
		ticket := run(4000, false, "files 3", "files 3", "")
		if copies { // until it ends, the copy has the values of its source
			wantRow(t, "a copy", row(t, l, "sessions", ticket.Session),
				map[string]any{"left_files": "files 3"})
		}
		if err := l.FallBack(ticket, reason.RefusedUnknown); err != nil || ticket.Left != "" {
			t.Errorf("copies %v: after a refusal %q, %v", copies, ticket.Left, err)
		}
	}
}

// The files that a run leaves are compared with the files at the next call, and the names of
// changes are kept.
func TestPlacesAndChangesAreKept(t *testing.T) {
	l, _ := newLedger(t)
	first := decide.Revision{Repository: "r", Branch: "main", Head: "1"}
	left := decide.Revision{Repository: "r", Branch: "work", Head: "2"}
	play := func(now decide.Millis, prompt string, p decide.Fingerprints, at,
		leaves decide.Revision, want reason.Code) (decide.Decision, *Ticket) {
		t.Helper()
		c := testCall(l, prompt, now)
		c.Task, c.Fingerprints, c.Revision, c.Limits.Unrelated = "t", p, at, true
		c.History = func(commit string) error {
			if commit == "2" {
				return nil
			}
			return reason.CommitGone
		}
		d, ticket, err := Begin(l, c)
		if err != nil || d.Reason != want {
			t.Fatalf("%s (%s), %v, want %s", d.Mode, d.Reason, err, want)
		}
		seen := rewrite.StreamState{ID: someID, Model: "model[1m]", Final: true, Content: true,
			Answer: "done"}
		if err := l.Finish(ticket, &Outcome{Now: now + 1, Seen: seen, File: "/f",
			Stamp: "1", Revision: leaves}); err != nil {
			t.Fatal(err)
		}
		return d, ticket
	}
	a := decide.Fingerprints{Settings: decide.NewDigests([]decide.NamedDigest{{Guard: reason.SettingsChanged, Name: "X", Value: "1"}, {Guard: reason.SettingsChanged, Name: "Y", Value: "1"}})}
	b := decide.Fingerprints{Settings: decide.NewDigests([]decide.NamedDigest{{Guard: reason.SettingsChanged, Name: "X", Value: "2"}, {Guard: reason.SettingsChanged, Name: "Y", Value: "2"}})}
	play(1000, "One.", a, first, left, reason.FirstCall)
	play(2000, "Two.", a, left, left, reason.Unrelated)
	play(3000, "Three.", a, decide.Revision{Repository: "r", Branch: "work", Head: "3"},
		decide.Revision{Repository: "r", Branch: "work", Head: "4"}, reason.Unrelated)
	play(4000, "Four.", a, left, left, reason.CommitGone)
	play(5000, "Five.", a, first, first, reason.BranchChanged)
	_, ticket := play(6000, "Six.", b, first, first, reason.SettingsChanged)
	wantCount(t, l, 6, "SELECT count(*) FROM calls")
	wantRow(t, "six", row(t, l, "calls", ticket.ID), map[string]any{"changed": `["X","Y"]`})
	wantRow(t, "five", row(t, l, "calls", ticket.ID-1), map[string]any{"changed": ""})
}

// A session has the caller of the latest call, a call its own.
func TestCallerIsRecorded(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	check := func(what string, ticket *Ticket, want decide.Caller) {
		t.Helper()
		for table, id := range map[string]int64{"calls": ticket.ID, "sessions": ticket.Session} {
			wantRow(t, what, row(t, l, table, id), map[string]any{"caller": EncodeJSON(want)})
		}
	}
	c := testCall(l, prompt, 1000)
	c.Caller = callerOf(9, 7)
	_, first := beginCall(t, l, c)
	check("a fresh call", first, c.Caller)
	finish(t, l, first, goodOutcome(sourceID, "done", 2000))

	c = testCall(l, prompt+"\n\nMore.", 3000)
	c.Caller = callerOf(10, 7)
	_, chains, err := Preview(l, c)
	if err != nil || len(chains) != 1 || !reflect.DeepEqual(chains[0].Caller, callerOf(9, 7)) {
		t.Errorf("facts %+v, %v", chains, err)
	}
	d, second := beginCall(t, l, c)
	wantSession(t, d, second, first)
	check("a resumed call", second, c.Caller)
	finish(t, l, second, goodOutcome(sourceID, "done", 4000))

	c = copyCall(l, prompt+"\n\nMore.\n\nAnd more.", 5000)
	c.Caller = decide.Caller{Person: true, Shell: callerProcess(3)}
	d, third := beginCall(t, l, c)
	wantSource(t, "a copy", d, sourceID)
	check("a copied call", third, c.Caller)
	wantRow(t, "its source", row(t, l, "sessions", first.Session),
		map[string]any{"caller": EncodeJSON(callerOf(10, 7))})
}

func wantSession(t *testing.T, d decide.Decision, got, want *Ticket) {
	t.Helper()
	if !d.Mode.Continues() || got.Session != want.Session {
		t.Fatalf("%s (%s) in session %d, want %d", d.Mode, d.Reason, got.Session, want.Session)
	}
}
