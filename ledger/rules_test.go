package ledger

import (
	"fmt"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// namedCall is a call of a task in a role; the number makes its prompt another one.
func namedCall(l *Ledger, role string, n int) *Call {
	c := testCall(l, fmt.Sprintf(base, n), decide.Millis(n)*60_000)
	c.Task, c.Role, c.Rule, c.Scope, c.Limits.Unrelated = "t", role, "r", "r", true
	return c
}

// play begins a call and ends it well.
func play(t *testing.T, l *Ledger, c *Call, resets ...string) decide.Decision {
	t.Helper()
	d, ticket, err := Begin(l, c)
	if err != nil {
		t.Fatal(err)
	}
	id := d.NativeID
	if id == "" {
		id = fmt.Sprintf("00000000-0000-4000-8000-%012d", ticket.ID)
	}
	o := goodOutcome(id, "done", c.Now+1)
	o.Resets = resets
	finish(t, l, ticket, o)
	return d
}

func expect(t *testing.T, what string, d decide.Decision, want reason.Code) {
	t.Helper()
	if d.Reason != want {
		t.Errorf("%s: %s (%s), want %s", what, d.Mode, d.Reason, want)
	}
}

func TestAnswersEndOtherRolesChains(t *testing.T) {
	l, _ := newLedger(t)
	play(t, l, namedCall(l, "coder", 1))
	play(t, l, namedCall(l, "reviewer", 2), "Coder")
	expect(t, "the coder", play(t, l, namedCall(l, "coder", 3)), reason.ContextReset)
	expect(t, "the coder in its new session", play(t, l, namedCall(l, "coder", 4)),
		reason.Unrelated)
	expect(t, "the reviewer", play(t, l, namedCall(l, "reviewer", 5)), reason.Unrelated)

	c := namedCall(l, "reviewer", 6)
	c.Task = "other"
	play(t, l, c, "coder")
	expect(t, "the coder of another task", play(t, l, namedCall(l, "coder", 7)), reason.Unrelated)

	c = namedCall(l, "planner", 8)
	c.Resets, c.Tool, c.Scope = []string{"coder", "reviewer"}, "codex", "another"
	play(t, l, c)
	expect(t, "the coder after a plan", play(t, l, namedCall(l, "coder", 9)), reason.ContextReset)
	expect(t, "the reviewer after a plan", play(t, l, namedCall(l, "reviewer", 10)),
		reason.ContextReset)
	expect(t, "its own answer", play(t, l, namedCall(l, "coder", 11), "coder"), reason.Unrelated)
	expect(t, "after its own answer", play(t, l, namedCall(l, "coder", 12)), reason.ContextReset)
}

// A reset of a role holds for all of its texts, and for no role that only begins with its name.
func TestResetOfARoleWithTexts(t *testing.T) {
	l, _ := newLedger(t)
	roles := []string{"reviewer #a", "Reviewer #b", "reviewers", "reviewer"}
	for i, role := range roles {
		expect(t, role, play(t, l, namedCall(l, role, i+1)), reason.FirstCall)
	}
	play(t, l, namedCall(l, "coder", 10), "reviewer")
	for i, want := range []reason.Code{reason.ContextReset, reason.ContextReset,
		reason.Unrelated, reason.ContextReset} {
		expect(t, roles[i]+" after the reset", play(t, l, namedCall(l, roles[i], 11+i)), want)
	}
}

// A reset that comes while the session runs holds for the call after it.
func TestResetWhileRunning(t *testing.T) {
	l, _ := newLedger(t)
	_, ticket, err := Begin(l, namedCall(l, "coder", 1))
	if err != nil {
		t.Fatal(err)
	}
	play(t, l, namedCall(l, "reviewer", 2), "coder")
	finish(t, l, ticket, goodOutcome(someID, "done", 130_000))
	expect(t, "the coder", play(t, l, namedCall(l, "coder", 3)), reason.ContextReset)
}

func TestAttemptIsKeptWithTheSession(t *testing.T) {
	l, _ := newLedger(t)
	for i, tt := range []struct {
		attempt int
		want    reason.Code
	}{
		{1, reason.FirstCall}, {2, reason.Unrelated}, {rewrite.NoAttempt, reason.Unrelated},
		{2, reason.Unrelated},
		{1, reason.AttemptReset}, {1, reason.Unrelated}, {0, reason.AttemptReset},
	} {
		c := namedCall(l, "coder", i+1)
		c.Attempt = tt.attempt
		expect(t, fmt.Sprintf("call %d", i+1), play(t, l, c), tt.want)
	}
}

func TestNeverBelongsToNoChain(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	for n := range 3 {
		c := testCall(l, prompt, decide.Millis(n)*60_000)
		c.Never, c.Rule, c.Scope = true, "judges", "judges"
		expect(t, "a judge", play(t, l, c), reason.Never)
		prompt += "\n\nMore."
	}
	c := testCall(l, prompt, 200_000)
	c.Scope = "judges"
	expect(t, "a call that would extend it", play(t, l, c), reason.FirstCall)
	wantCount(t, l, 1, "SELECT count(*) FROM chains")
	wantCount(t, l, 3, "SELECT count(*) FROM calls WHERE reason = ?", reason.Never)
	wantCount(t, l, 4, "SELECT count(*) FROM calls WHERE mode = ?", rewrite.Fresh)
}

func TestRulesShareNoTasks(t *testing.T) {
	l, _ := newLedger(t)
	play(t, l, namedCall(l, "coder", 1))
	c := namedCall(l, "coder", 2)
	c.Scope = "another"
	expect(t, "another rule's task of that name", play(t, l, c), reason.FirstCall)
	c = namedCall(l, "coder", 3)
	c.Rule = "another"
	expect(t, "the same names under another rule", play(t, l, c), reason.Unrelated)
	c = namedCall(l, "coder", 4)
	c.Strict = true
	expect(t, "names that prove nothing", play(t, l, c), reason.NewJob)
}

// The share of a chain is even, and always the same.
func TestShare(t *testing.T) {
	l, _ := newLedger(t)
	low := 0
	for chain := range int64(1000) {
		s := bucket(l.key, chain)
		if s < 0 || s >= 1 || s != bucket(l.key, chain) {
			t.Fatalf("chain %d: %v", chain, s)
		}
		if s < 0.3 {
			low++
		}
	}
	if low < 240 || low > 360 {
		t.Errorf("%d of 1000 chains are below 0.3", low)
	}
}
