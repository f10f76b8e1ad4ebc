package history

import (
	"fmt"
	"slices"
	"testing"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A course tells how a chain went from its second call on. Chains with one call, and those whose first call failed, have none.
func TestCourses(t *testing.T) {
	l, _ := newLedger(t)
	now := decide.Millis(1_800_000_000_000)
	call := func(task, text string, holdOut float64, end func(*ledger.Ticket, *ledger.Outcome)) {
		play(t, l, now, func(c *ledger.Call) { c.Task, c.Prompt, c.Limits.HoldOut = task, prompt.New(text, l.Key()), holdOut }, end)
		now += minute
	}
	fails := func(_ *ledger.Ticket, o *ledger.Outcome) { o.Exit = 1 }
	refused := func(ticket *ledger.Ticket, o *ledger.Outcome) {
		if err := l.FallBack(ticket, reason.RefusedUnknown); err != nil {
			t.Fatal(err)
		}
		o.Seen.ID = fmt.Sprintf("%08d-0000-4000-8000-000000000000", ticket.Session)
	}
	text := fmt.Sprintf(base, 1)
	call("resumed", text, 0, nil)
	call("resumed", text+"\n\nMore.", 0, nil)
	call("resumed", text+"\n\nMore.\n\nAnd more.", 0, refused)
	call("resumed", text+"\n\nMore.\n\nAnd more.\n\nAll.", 0, fails)
	call("began badly", text, 0, fails)
	call("began badly", text+"\n\nMore.", 0, nil)
	call("once", text, 0, nil)
	call("fresh", text, 0, nil)
	call("fresh", text, 0, nil) // the same prompt again
	began := now
	for n := range 4 {
		call(fmt.Sprint("half", n), text, 0.5, nil)
		call(fmt.Sprint("half", n), text+"\n\nMore.", 0.5, nil)
	}
	call("half0", text+"\n\nMore.\n\nAll.", 0, nil)
	courses, err := Courses(l, Filter{}, now+hour)
	if err != nil || len(courses) != 6 {
		t.Fatalf("%d courses, %v", len(courses), err)
	}
	want := Course{Began: 1_800_000_000_000, Ended: true, Resumed: true, Calls: 4, Failed: 1, Tried: 3, FellBack: 1, Millis: 4000}
	if courses[0] != want {
		t.Errorf("%+v, want %+v", courses[0], want)
	}
	if c := courses[1]; c.Resumed || c.Calls != 2 || c.Tried != 0 {
		t.Errorf("fresh: %+v", c)
	}
	for i, c := range courses[2:] {
		if c.Resumed != (c.Arm == ledger.Treated) || c.Arm == "" || c.Changed != (i == 0) {
			t.Errorf("half %d: %+v", i, c)
		}
	}
	for _, tt := range []struct {
		filter Filter
		now    decide.Millis
		ended  int
		all    int
	}{
		{Filter{}, now, 0, 6}, {Filter{}, now + hour - 60_000, 5, 6}, {Since(began), now + hour, 4, 4}, {Since(began + 1), now + hour, 3, 3},
		{Filter{Task: "resumed", Outcome: "failed"}, now + hour, 1, 1}, {Filter{Tool: "codex"}, now + hour, 0, 0},
	} {
		courses, err := Courses(l, tt.filter, tt.now)
		ended := len(slices.DeleteFunc(slices.Clone(courses), func(c Course) bool { return !c.Ended }))
		if err != nil || len(courses) != tt.all || ended != tt.ended {
			t.Errorf("%+v: %d courses, %d of them ended, want %d and %d; %v", tt.filter, len(courses), ended, tt.all, tt.ended, err)
		}
	}
}
