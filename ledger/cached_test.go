package ledger

import (
	"fmt"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A request is one whose prompt has so many tokens, of which the cache had some.
type request struct{ prompt, read int64 }

// callAt makes a call of a named task. Its session holds its first request and what was added until its end.
func callAt(t *testing.T, l *Ledger, now decide.Millis, task string, first, sum request, holds int64) decide.Decision {
	t.Helper()
	return callWith(t, l, now, task, first, sum, holds, func(*Call) {}, func(*Ticket) {})
}

// callWith is callAt with another call, and shows the ticket that it gets.
func callWith(t *testing.T, l *Ledger, now decide.Millis, task string, first, sum request, holds int64, change func(*Call), got func(*Ticket)) decide.Decision {
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
		id = fmt.Sprintf("00000000-0000-4000-8000-%012d", ticket.Invocation)
	}
	o := goodOutcome(id, "done", now)
	o.Seen.Model, o.Seen.ContextUse.Used, o.Sent = "opus", holds, len(c.Prompt.Text)
	o.Seen.Usage = rewrite.Usage{Known: true, CacheRead: sum.read, CacheWrite: sum.prompt - sum.read}
	if first.prompt > 0 {
		o.Seen.First = rewrite.Usage{Known: true, CacheRead: first.read, CacheWrite: first.prompt - first.read}
	}
	finish(t, l, ticket, o)
	return d
}

func TestCacheRows(t *testing.T) {
	l, _ := newLedger(t)
	const start = 100 * hour
	none := request{}
	callAt(t, l, start, "t", request{10_000, 0}, request{30_000, 20_000}, 10_000)
	callAt(t, l, start+minute, "t", request{11_000, 7_500}, request{22_000, 20_000}, 12_000)             // a hit
	callAt(t, l, start+2*minute, "t", request{12_500, 8_999}, request{60_000, 50_000}, 13_000)           // a miss that the sum hides
	callAt(t, l, start+7*minute, "t", none, request{13_500, 1_000}, 14_000)                              // a miss, by the sum alone
	callAt(t, l, start+7*minute+briefIdle, "t", none, request{45_000, 31_000}, 15_000)                   // unclear: not a miss
	callAt(t, l, start+7*minute+briefIdle+hourIdle, "t", request{15_500, 0}, request{15_500, 0}, 16_000) // an hour later
	callAt(t, l, start, "short", request{3_000, 0}, request{3_000, 0}, 3_000)
	callAt(t, l, start+1, "short", request{3_100, 0}, request{3_100, 0}, 3_100) // too short for any cache

	rows, err := l.CacheRows(Filter{})
	if err != nil {
		t.Fatal(err)
	}
	want := []CacheRow{
		{"claude", "opus", "", Briefly, 3, 11_000 + 12_500 + 3_100, 7_500 + 8_999, 3, 10_000 + 12_000 + 3_000, 11_000 + 12_500 + 3_100, 2, 1, 0},
		{"claude", "opus", "", Within, 2, 13_500 + 45_000, 32_000, 0, 0, 0, 2, 1, 0},
		{"claude", "opus", "", Longer, 1, 15_500, 0, 1, 15_000, 15_500, 1, 1, 1},
	}
	if fmt.Sprint(rows) != fmt.Sprint(want) {
		t.Errorf("cache rows %+v, want %+v", rows, want)
	}
	if rows, err = l.CacheRows(Filter{Period: Period{start + 7*minute + briefIdle + 1, Always.Until}}); err != nil || len(rows) != 1 || rows[0].Idle != Longer {
		t.Errorf("the last hour: %+v %v", rows, err)
	}
}

// Two resumes in a row that miss the cache, and cost more for it, are enough.
func TestMissedResumesAreSuspendedEarly(t *testing.T) {
	for name, c := range map[string]struct {
		read, sum int64 // of each resume's first request and of all its input, in tokens
		resumes   int   // before the suspension, or all of them
		want      reason.Code
	}{
		"missed and dearer":     {0, 60_000, decide.MinMissed, reason.Dearer},
		"missed, not dearer":    {0, 10_000, decide.MinRuns + 2, reason.Unrelated},
		"not missed and dearer": {10_000, 60_000, decide.MinRuns, reason.Dearer},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := newLedger(t)
			now := 100 * hour
			for i := range decide.MinRuns {
				callAt(t, l, now, fmt.Sprint("task ", i), request{10_000, 0}, request{20_000, 0}, 10_000)
			}
			resume := func() reason.Code {
				now += minute
				return callAt(t, l, now, "task 0", request{10_500, c.read}, request{c.sum, c.read}, 10_500).Reason
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

// A hit in between shows that the cost has another cause.
func TestMissedResumesCountInARow(t *testing.T) {
	var m decide.Meter
	for _, missed := range []bool{true, false, true} {
		m.Add(rewrite.Usage{}, 0, 1)
		m.NoteCache(missed)
	}
	if m.Missed != 1 || m.Counts(1) {
		t.Errorf("%+v", m)
	}
}

// What is in front of a prompt counts if the first request did not find it, and is large enough to be cached; a resume within
// five minutes would have found it.
func TestSlicesKnowWhatWasCold(t *testing.T) {
	l, _ := newLedger(t)
	const start = 100 * hour
	bytes := int64(len(fmt.Sprintf(base, decide.Millis(start))))
	callAt(t, l, start, "t", request{10_000, 0}, request{30_000, 20_000}, 10_000)
	callAt(t, l, start+minute, "t", request{11_000, 10_000}, request{11_000, 10_000}, 12_000)
	callAt(t, l, start+20*minute, "t", request{13_000, 0}, request{13_000, 0}, 13_000)
	callAt(t, l, start, "partly", request{10_000, 6_000}, request{10_000, 6_000}, 10_000)
	callAt(t, l, start, "short", request{4_000, 0}, request{4_000, 0}, 4_000)
	list, err := l.Slices(Filter{}, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	var cold, warm int64
	for _, s := range list {
		if s.Mode == rewrite.Fresh {
			cold += s.Cold
		}
		warm += s.Warm
	}
	if want := 10_000 - bytes/4 + 4_000 - bytes/4; cold != want || warm != 1 {
		t.Errorf("cold %d, warm %d; want %d and 1", cold, warm, want)
	}
}
