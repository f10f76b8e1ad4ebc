package ledger

import (
	"errors"
	"slices"
	"testing"

	"reprise/rewrite"
)

func TestDigestsDiffer(t *testing.T) {
	settings := func(nameValue ...string) (list []Digest) {
		for i := 0; i < len(nameValue); i += 2 {
			list = append(list, Digest{rewrite.SettingsChanged, nameValue[i], nameValue[i+1]})
		}
		return list
	}
	job := Digest{rewrite.JobChanged, "CI_JOB_ID", "1"}
	for _, tt := range []struct {
		name   string
		a, b   []Digest
		reason rewrite.Reason
		names  []string
	}{
		{"nothing", nil, nil, "", nil},
		{"the same in another order", settings("x", "1", "y", "2"), settings("y", "2", "x", "1"), "", nil},
		{"another value", settings("x", "1", "y", "2"), settings("x", "1", "y", "3"), rewrite.SettingsChanged, []string{"y"}},
		{"one more and one less", settings("x", "1"), settings("y", "1"), rewrite.SettingsChanged, []string{"x", "y"}},
		{"a name twice", settings("x", "1", "x", "2"), settings("x", "1"), rewrite.SettingsChanged, []string{"x"}},
		{"the same two, swapped", settings("x", "1", "x", "2"), settings("x", "2", "x", "1"), rewrite.SettingsChanged, nil},
		{"the weightiest alone", append(settings("x", "1"), job), settings("x", "2"), rewrite.SettingsChanged, []string{"x"}},
		{"another guard", []Digest{job}, nil, rewrite.JobChanged, []string{"CI_JOB_ID"}},
		{"control characters in a name", settings("x\n\ty", "1"), settings("x\n\ty", "2"), rewrite.SettingsChanged, []string{"x??y"}},
	} {
		for range 2 {
			reason, names := NewDigests(tt.a).differ(NewDigests(tt.b), rewrite.SettingsChanged)
			if reason != tt.reason || !slices.Equal(names, tt.names) {
				t.Errorf("%s: %s %q, want %s %q", tt.name, reason, names, tt.reason, tt.names)
			}
			tt.a, tt.b = tt.b, tt.a
		}
	}
	// A session from before its digests had names.
	if reason, names := Digests("0123").differ(NewDigests([]Digest{job}), rewrite.SettingsChanged); reason != rewrite.SettingsChanged || names != nil {
		t.Errorf("an old session: %s %q", reason, names)
	}
}

// The history is asked about only where the call would go on with the session.
func TestAncestorIsAskedSeldom(t *testing.T) {
	const before, now = "b", "n"
	for _, tt := range []struct {
		name     string
		change   func(*Facts)
		ancestor bool
		asked    bool
		want     rewrite.Reason
	}{
		{"commits on top", func(*Facts) {}, true, true, rewrite.Extends},
		{"taken back", func(*Facts) {}, false, true, rewrite.CommitGone},
		{"the same commit", func(f *Facts) { f.Place.Head = before }, false, false, rewrite.Extends},
		{"no commit before", func(f *Facts) { f.Chains[0].Place.Head = "" }, false, false, rewrite.Extends},
		{"no commit any more", func(f *Facts) { f.Place.Head = "" }, false, true, rewrite.CommitGone},
		{"fresh anyway", func(f *Facts) { f.Prints.Model = "n" }, false, false, rewrite.ModelChanged},
		{"fresh anyway, for another chain's sake", func(f *Facts) { f.Chains = nil }, false, false, rewrite.FirstCall},
	} {
		f := goodFacts()
		f.Place.Head, f.Chains[0].Place.Head = now, before
		tt.change(&f)
		asked := false
		c := &Call{Ancestor: func(commit string) bool {
			if asked = true; commit != before {
				t.Errorf("%s: asked for %q", tt.name, commit)
			}
			return tt.ancestor
		}}
		if d := c.decide(f); d.Reason != tt.want || asked != tt.asked {
			t.Errorf("%s: %s, asked: %v, want %s and %v", tt.name, d.Reason, asked, tt.want, tt.asked)
		}
	}
}

// What a run leaves is compared with what the next call finds, and the names of what has
// changed are kept.
func TestPlacesAndChangesAreKept(t *testing.T) {
	l, _ := newLedger(t)
	first := Place{Repository: "r", Branch: "main", Head: "1"}
	left := Place{Repository: "r", Branch: "work", Head: "2"}
	play := func(now Millis, prompt string, p Prints, at, leaves Place, want rewrite.Reason) (Decision, *Ticket) {
		t.Helper()
		c := testCall(l, prompt, now)
		c.Task, c.Prints, c.Place = "t", p, at
		c.Ancestor = func(commit string) bool { return commit == "2" }
		d, ticket, err := l.Begin(c)
		if err != nil || d.Reason != want {
			t.Fatalf("%s (%s), %v, want %s", d.Mode, d.Reason, err, want)
		}
		seen := rewrite.Seen{ID: someID, Model: "model[1m]", Final: true, Content: true, Answer: "done"}
		if err := l.Finish(ticket, &Outcome{Now: now + 1, Seen: seen, File: "/f", FileSize: 1, Place: leaves}); err != nil {
			t.Fatal(err)
		}
		return d, ticket
	}
	a := Prints{Settings: NewDigests([]Digest{{rewrite.SettingsChanged, "X", "1"}, {rewrite.SettingsChanged, "Y", "1"}})}
	b := Prints{Settings: NewDigests([]Digest{{rewrite.SettingsChanged, "X", "2"}, {rewrite.SettingsChanged, "Y", "2"}})}
	play(1000, "One.", a, first, left, rewrite.FirstCall)
	if d, _ := play(2000, "Two.", a, left, left, rewrite.Unrelated); d.Model != "model[1m]" {
		t.Errorf("the session began with %q", d.Model)
	}
	play(3000, "Three.", a, Place{Repository: "r", Branch: "work", Head: "3"}, Place{Repository: "r", Branch: "work", Head: "4"}, rewrite.Unrelated)
	play(4000, "Four.", a, left, left, rewrite.CommitGone)
	play(5000, "Five.", a, first, first, rewrite.BranchChanged)
	_, ticket := play(6000, "Six.", b, first, first, rewrite.SettingsChanged)
	rows, err := l.InvocationRows(Wanted{})
	if err != nil || len(rows) != 6 || rows[0].ID != ticket.Invocation || !slices.Equal(rows[0].Changed(), []string{"X", "Y"}) || rows[1].Changed() != nil {
		t.Errorf("%v, %v", rows, errors.Join(err))
	}
}
