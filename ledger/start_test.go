package ledger

import (
	"fmt"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite/reason"
)

// roleCall is one of a role of a task.
func roleCall(l *Ledger, role, prompt string, now decide.Millis) *Call {
	c := copyCall(l, prompt, now)
	c.Task, c.Role = "task", role
	if role == "reviewer" {
		c.StartFrom = "coder"
	}
	return c
}

const reviewing = "You are the reviewer.\n\nRead what was done, and say what is wrong with it."

// work is the coder's prompt.
var work = fmt.Sprintf(base, 1)

// coded returns a ledger in which the coder has made a call.
func coded(t *testing.T) (*Ledger, *Ticket) {
	t.Helper()
	l, _ := newLedger(t)
	_, coder := beginCall(t, l, roleCall(l, "coder", work, 1000))
	finish(t, l, coder, outcome(sourceID, "/source", 100, "", 2000))
	return l, coder
}

// A reviewer begins as a copy of the coder's session. From then on each role goes on with its own.
func TestStartFrom(t *testing.T) {
	l, coder := coded(t)

	d, reviewer := beginCall(t, l, roleCall(l, "reviewer", reviewing, 3000))
	wantSource(t, "reviewer", d, sourceID)
	if d.Reason != reason.StartedFrom || d.Whole != reason.StartedFrom || d.Chain == coder.Chain {
		t.Fatalf("%s in chain %d, whole %q", d.Reason, d.Chain, d.Whole)
	}
	finish(t, l, reviewer, outcome(nth(2), "/review", 200, "", 4000))
	if files := sessionFiles(t, l, 0); files[0].Superseded != 0 || !files[0].Copied {
		t.Errorf("the coder's session: %+v", files[0])
	}

	d, coder = beginCall(t, l, roleCall(l, "coder", work+"\n\nMore.", 5000))
	wantSource(t, "coder", d, sourceID)
	finish(t, l, coder, outcome(nth(3), "/more", 300, "", 6000))
	d, _ = beginCall(t, l, roleCall(l, "reviewer", reviewing+"\n\nOnce more.", 7000))
	wantSource(t, "reviewer again", d, nth(2))
	if d.Reason != reason.Extends {
		t.Error(d.Reason)
	}
}

// The coder's run can end while the reviewer's call begins, and leave its outcome in the spool.
func TestStartFromARunThatEndsMeanwhile(t *testing.T) {
	l, path := newLedger(t)
	_, coder := beginCall(t, l, roleCall(l, "coder", work, 1000))
	book := lateBook{l, func() {
		late(t, l, path, coder, outcome(sourceID, "/source", 100, "", 2000))
		execute(t, l, "UPDATE leases SET pid_start = pid_start + 1") // its process has ended
	}}
	d, _, err := Begin(book, roleCall(l, "reviewer", reviewing, 3000))
	if err != nil {
		t.Fatal(err)
	}
	wantSource(t, "reviewer", d, sourceID)
}

// A run that failed in such a copy says nothing about the coder's session, and the role does not
// begin from it again.
func TestStartFromFails(t *testing.T) {
	l, _ := coded(t)
	_, reviewer := beginCall(t, l, roleCall(l, "reviewer", reviewing, 3000))
	o := outcome(nth(2), "/review", 200, "", 4000)
	o.Exit = 1
	finish(t, l, reviewer, o)
	d, _ := beginCall(t, l, roleCall(l, "reviewer", reviewing, 5000))
	wantSource(t, "reviewer", d, "")
	d, _ = beginCall(t, l, roleCall(l, "coder", work+"\n\nMore.", 6000))
	wantSource(t, "coder", d, sourceID)
}

// Nor does a copy that the tool refused, for which the reviewer's own prompt can be too long.
func TestStartFromIsRefused(t *testing.T) {
	l, _ := coded(t)
	_, reviewer := beginCall(t, l, roleCall(l, "reviewer", reviewing, 3000))
	if err := l.FallBack(reviewer, reason.RefusedContext); err != nil {
		t.Fatal(err)
	}
	finish(t, l, reviewer, outcome(nth(2), "/review", 200, "", 4000))
	d, _ := beginCall(t, l, roleCall(l, "reviewer", reviewing+"\n\nOnce more.", 5000))
	wantSource(t, "reviewer", d, nth(2))
	d, _ = beginCall(t, l, roleCall(l, "coder", work+"\n\nMore.", 6000))
	wantSource(t, "coder", d, sourceID)
}

func TestNotStartedFrom(t *testing.T) {
	starts := map[string]bool{"": true, "in capital letters": true, "named in capitals": true}
	for name, tt := range map[string]struct {
		change func(*Call)
		then   string
		detail reason.Code
	}{
		"":                    {func(*Call) {}, "", ""},
		"in capital letters":  {func(c *Call) { c.StartFrom = "CODER" }, "", ""},
		"named in capitals":   {func(*Call) {}, "UPDATE chains SET role = 'Coder'", ""},
		"in place":            {func(c *Call) { c.Copies = false }, "", reason.NotCopied},
		"another role":        {func(c *Call) { c.StartFrom = "tester" }, "", ""},
		"another task":        {func(c *Call) { c.Task = "other" }, "", ""},
		"names prove nothing": {func(c *Call) { c.Strict = true }, "", ""},
		"role not named":      {func(c *Call) { c.Role = " #1" }, "", ""},
		"its own role":        {func(c *Call) { c.Role = "CODER" }, "", ""},
		"its prompt ends it":  {func(c *Call) { c.Resets = []string{"Coder"} }, "", ""},
		"control group":       {func(c *Call) { c.Limits.HoldOut = 0.5 }, "", reason.HeldOut},
		"another model": {func(c *Call) { c.Fingerprints.Model = "other" },
			"", reason.ModelChanged},
		"asked for fresh": {func(c *Call) { c.Fresh = reason.ForcedFresh }, "", ""},
		"the coder runs": {func(*Call) {},
			"UPDATE sessions SET state = 'running'", reason.PreviousKilled},
		"the coder failed": {func(*Call) {},
			"UPDATE sessions SET state = 'failed'", reason.PreviousFailed},
		"the coder has ended": {func(*Call) {}, "UPDATE sessions SET reset = 1", ""},
		"two coders at once": {func(*Call) {},
			"UPDATE chains SET concurrent = 1", reason.Ambiguous},
	} {
		l, _ := coded(t)
		if _, err := l.db.Exec(tt.then); err != nil {
			t.Fatal(err)
		}
		c := roleCall(l, "reviewer", reviewing, 3000)
		tt.change(c)
		if d, _ := beginCall(t, l, c); d.Mode.Continues() != starts[name] || d.Detail != tt.detail {
			t.Errorf("%s: %s: %s, %s", name, d.Mode, d.Reason, d.Detail)
		}
	}
}
