package ledger

import (
	"fmt"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// After a failed copy the same prompt again continues the copy's source, unless the cause can lie
// in that.
func TestAfterAFailure(t *testing.T) {
	failed := func(change func(*Outcome)) func(*Outcome) {
		return func(o *Outcome) { o.Exit, o.Seen.Failed, o.Seen.Synthetic = 1, true, true; change(o) }
	}
	outside := func(why reason.Code) func(*Outcome) {
		return failed(func(o *Outcome) { o.Seen.Outside = why })
	}
	signal := func(n int) func(*Outcome) {
		return func(o *Outcome) { o.Signal, o.Seen.Final = n, false }
	}
	tests := []struct {
		name   string
		end    func(*Outcome)
		detail reason.Code // of a fresh call, "" if the source is continued
	}{
		{"a limit", outside(reason.RateLimited), ""},
		{"a login", outside(reason.LoginRefused), ""},
		{"an overload", outside(reason.ServiceFailed), ""},
		{"no network", outside(reason.Unreachable), ""},
		{"a caller that hung up", outside(reason.Interrupted), ""},
		{"SIGHUP", signal(1), ""}, {"SIGINT", signal(2), ""}, {"SIGKILL", signal(9), ""},
		{"SIGTERM", signal(15), ""},
		{"a crash", signal(11), reason.Unexplained}, {"an abort", signal(6), reason.Unexplained},
		{"another error", outside(""), reason.Unexplained},
		{"no last event", func(o *Outcome) { o.Seen.Final = false }, reason.Unexplained},
		{"no id", func(o *Outcome) { o.Seen.ID = "" }, reason.Unexplained},
		{"another id", func(o *Outcome) { o.Seen.WrongID = true }, reason.Unexplained},
		{"a full context", failed(func(o *Outcome) { o.Seen.Refusal = reason.RefusedContext }),
			reason.RefusedContext},
		{"a broken transcript",
			failed(func(o *Outcome) { o.Seen.Refusal = reason.RefusedBroken }),
			reason.RefusedBroken},
		{"a full context, and told to end", failed(func(o *Outcome) {
			o.Seen.Refusal, o.Seen.Outside = reason.RefusedContext, reason.Interrupted
		}), reason.RefusedContext},
	}
	calls := map[string]func(*Ledger, string, decide.Millis) *Call{"named": namedCopyCall,
		"unnamed": copyCall}
	for _, tt := range tests {
		for name, call := range calls {
			l, _ := newLedger(t)
			prompt := fmt.Sprintf(base, 1)
			_, first := beginCall(t, l, call(l, prompt, 1000))
			finish(t, l, first, outcome(sourceID, "/source", 100, "", 2000))
			again := prompt + "\n\nMore."
			d, ticket := beginCall(t, l, call(l, again, 3000))
			wantSource(t, "the call that fails", d, sourceID)
			o := outcome(copyID, "/copy", 200, "", 4000)
			tt.end(o)
			finish(t, l, ticket, o)
			d, ticket = beginCall(t, l, call(l, again, 5000))
			if tt.detail == "" {
				wantSource(t, name+", after "+tt.name, d, sourceID)
				continue
			}
			wantSource(t, name+", after "+tt.name, d, "")
			if d.Reason != reason.PreviousFailed || d.Detail != tt.detail {
				t.Errorf("%s, after %s: %s (%s)", name, tt.name, d.Reason, d.Detail)
			}
			finish(t, l, ticket, outcome(otherID, "/other", 100, "", 6000))
			d, _ = beginCall(t, l, call(l, again+"\n\nAnd more.", 7000))
			wantSource(t, name+", after "+tt.name+" and a fresh call", d, otherID)
		}
	}
}

// A copy that was killed together with its shim says no more against the source than any kill, and
// counts as a kill.
func TestAfterAKilledShim(t *testing.T) {
	for _, named := range []bool{true, false} {
		l, _ := newLedger(t)
		call := func(prompt string, now decide.Millis) *Call {
			if named {
				return namedCopyCall(l, prompt, now)
			}
			c := copyCall(l, prompt, now)
			// the prompt shows no answer
			c.Limits.Unnamed, c.Strict, c.Task = rewrite.UnnamedEvidence, true, "task"
			return c
		}
		prompt := fmt.Sprintf(base, 1)
		_, first := beginCall(t, l, call(prompt, 1000))
		finish(t, l, first, outcome(sourceID, "/source", 100, "", 2000))
		for n := range 3 {
			d, ticket := beginCall(t, l, call(prompt+"\n\nMore.", decide.Millis(3000+1000*n)))
			wantSource(t, fmt.Sprintf("named %t, after %d kills", named, n), d, sourceID)
			if _, err := l.db.Exec("DELETE FROM leases WHERE session_id = ?",
				ticket.Session); err != nil {
				t.Fatal(err)
			}
		}
		d, ticket := beginCall(t, l, call(prompt+"\n\nMore.", 9000))
		if wantSource(t, "after three kills", d, ""); d.Reason != reason.ErrorLimit {
			t.Errorf("named %t: %s", named, d.Reason)
		}
		finish(t, l, ticket, outcome(otherID, "/other", 100, "", 9500))
	}
}

// Where a session was continued well and in a copy that is lost, it is no end.
func TestLostBesideAnother(t *testing.T) {
	l, _ := newLedger(t)
	call := func(prompt string, now decide.Millis) *Call {
		c := copyCall(l, prompt, now)
		c.Limits.Unnamed, c.Strict, c.Task = rewrite.UnnamedEvidence, true, "task"
		return c
	}
	prompt := fmt.Sprintf(base, 1)
	_, first := beginCall(t, l, call(prompt, 1000))
	finish(t, l, first, outcome(sourceID, "/source", 100, "", 2000))
	_, lost := beginCall(t, l, call(prompt+"\n\nOn the left.", 3000))
	_, good := beginCall(t, l, call(prompt+"\n\nOn the right.", 3000))
	finish(t, l, good, outcome(copyID, "/copy", 200, "", 4000))
	if _, err := l.db.Exec("DELETE FROM leases WHERE session_id = ?", lost.Session); err != nil {
		t.Fatal(err)
	}
	d, _ := beginCall(t, l, call(prompt+"\n\nIn the middle.", 5000))
	wantSource(t, "without its answer", d, "")
}
