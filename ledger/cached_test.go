package ledger

import (
	"fmt"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A request has a prompt of so many tokens, and some of them were in the cache.
type request struct{ prompt, read int64 }

// callAt makes a call of a named task. Its session holds the first request and the text added until
// the end.
func callAt(t *testing.T, l *Ledger, now decide.Millis, task string, first,
	sum request, holds int64) decide.Decision {
	t.Helper()
	return callWith(t, l, now, task, first, sum, holds, func(*Call) {}, func(*Ticket) {})
}

// callWith is callAt with another call, and shows the ticket that it gets.
func callWith(t *testing.T, l *Ledger, now decide.Millis, task string, first, sum request,
	holds int64, change func(*Call), got func(*Ticket)) decide.Decision {
	t.Helper()
	c := testCall(l, fmt.Sprintf(base, now), now)
	c.Task, c.Rule, c.Scope = task, "r", "r"
	c.Limits.TTL, c.Limits.Unrelated = 24*hour, true
	change(c)
	d, ticket, err := Begin(l, c)
	if err != nil {
		t.Fatal(err)
	}
	got(ticket)
	id := d.NativeID
	if id == "" {
		id = fmt.Sprintf("00000000-0000-4000-8000-%012d", ticket.ID)
	}
	o := goodOutcome(id, "done", now)
	o.Seen.Model, o.Seen.ContextUse.Used, o.Sent = "opus", holds, len(c.Prompt.Text)
	o.Seen.Usage = rewrite.Usage{Known: true, CacheRead: sum.read,
		CacheWrite: sum.prompt - sum.read}
	if first.prompt > 0 {
		o.Seen.First = rewrite.Usage{Known: true, CacheRead: first.read,
			CacheWrite: first.prompt - first.read}
	}
	finish(t, l, ticket, o)
	return d
}

// Two resumes in a row that miss the cache, and cost more for it, are enough.
func TestMissedResumesAreSuspendedEarly(t *testing.T) {
	for name, c := range map[string]struct {
		read, sum int64 // of each resume's first request and of all its input, in tokens
		resumes   int   // before the suspension, or all of them
		want      reason.Code
	}{
		"missed and dearer":     {0, 60_000, decide.MinResumes, reason.Dearer},
		"missed, not dearer":    {0, 10_000, decide.MinResumes + 3, reason.Unrelated},
		"not missed and dearer": {10_000, 60_000, decide.MinResumes, reason.Dearer},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := newLedger(t)
			now := 100 * hour
			for i := range 5 {
				callAt(t, l, now, fmt.Sprint("task ", i), request{10_000, 0}, request{20_000, 0},
					10_000)
			}
			resume := func() reason.Code {
				now += minute
				return callAt(t, l, now, "task 0", request{10_500, c.read},
					request{c.sum, c.read}, 10_500).Reason
			}
			for i := range c.resumes {
				if got := resume(); got != reason.Unrelated {
					t.Fatalf("resume %d: %s", i+1, got)
				}
			}
			if got := resume(); got != c.want {
				t.Errorf("after %d resumes: %s, want %s", c.resumes, got, c.want)
			}
		})
	}
}

// Rounds ten minutes apart cost a chain no more than it would have without reprise, from the third
// resume on.
func TestAChainsOwnMissesAreSuspended(t *testing.T) {
	l, _ := newLedger(t)
	now := decide.Millis(100 * hour)
	round := func(pause decide.Millis, read, prompt int64, want reason.Code) {
		t.Helper()
		now += pause
		d := callAt(t, l, now, "t", request{prompt, read}, request{prompt, read}, 20_000)
		expect(t, fmt.Sprintf("at minute %d", (now-100*hour)/minute), d, want)
	}
	round(0, 0, 20_000, reason.FirstCall)
	for range decide.MinResumes {
		round(10*minute, 0, 22_000, reason.Unrelated)
	}
	round(10*minute, 0, 20_000, reason.Dearer)
	round(10*minute, 0, 20_000, reason.Dearer)
	round(minute, 20_000, 22_000, reason.Unrelated) // in time for the cache
	round(10*minute, 0, 22_000, reason.Unrelated)
	round(10*minute, 0, 22_000, reason.Unrelated)
	round(10*minute, 0, 20_000, reason.Dearer)
	round(decide.DearerPause, 0, 22_000, reason.Unrelated)
}
