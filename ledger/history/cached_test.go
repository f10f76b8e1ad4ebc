package history

import (
	"fmt"
	"testing"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
)

// A request has a prompt of so many tokens, and some of them were in the cache.
type request struct{ prompt, read int64 }

func (r request) usage() rewrite.Usage {
	return rewrite.Usage{Known: true, CacheRead: r.read, CacheWrite: r.prompt - r.read}
}

// callAt makes a call of a named task. The session holds the first request and the text added until
// the end.
func callAt(t *testing.T, l *ledger.Ledger, now decide.Millis, task string, first,
	sum request, holds int64) {
	t.Helper()
	play(t, l, now, func(c *ledger.Call) { c.Task = task },
		func(_ *ledger.Ticket, o *ledger.Outcome) {
			o.Now, o.Seen.Model, o.Seen.ContextUse.Used, o.Seen.Usage = now, "opus", holds,
				sum.usage()
			if first.prompt > 0 {
				o.Seen.First = first.usage()
			}
		})
}

func TestCacheRows(t *testing.T) {
	l, _ := newLedger(t)
	const start = 100 * hour
	none := request{}
	// dearer than any resume
	callAt(t, l, start, "t", request{10_000, 0}, request{30_000, 0}, 10_000)
	// a hit
	callAt(t, l, start+minute, "t", request{11_000, 7_500}, request{22_000, 20_000}, 12_000)
	// a miss that the sum hides
	callAt(t, l, start+2*minute, "t", request{12_500, 8_999}, request{60_000, 50_000}, 13_000)
	// a miss, by the sum alone
	callAt(t, l, start+7*minute, "t", none, request{13_500, 1_000}, 14_000)
	// unclear: not a miss
	callAt(t, l, start+7*minute+decide.BriefIdle, "t", none, request{45_000, 31_000}, 15_000)
	// an hour later
	callAt(t, l, start+7*minute+decide.BriefIdle+decide.HourIdle, "t", request{15_500, 0},
		request{15_500, 0}, 16_000)
	callAt(t, l, start, "short", request{3_000, 0}, request{3_000, 0}, 3_000)
	// too short for any cache
	callAt(t, l, start+1, "short", request{3_100, 0}, request{3_100, 0}, 3_100)

	rows, err := CacheRows(l, Filter{})
	if err != nil {
		t.Fatal(err)
	}
	want := []CacheRow{
		{"claude", "opus", "", Briefly, 3, 11_000 + 12_500 + 3_100, 7_500 + 8_999, 10_000 +
			12_000 + 3_000, 11_000 + 12_500 + 3_100, 2, 1, 0},
		{"claude", "opus", "", Within, 2, 13_500 + 45_000, 32_000, 0, 0, 2, 1, 0},
		{"claude", "opus", "", Longer, 1, 15_500, 0, 15_000, 15_500, 1, 1, 1},
	}
	if fmt.Sprint(rows) != fmt.Sprint(want) {
		t.Errorf("cache rows %+v, want %+v", rows, want)
	}
	if rows, err = CacheRows(l, Filter{Since: start + 7*minute + decide.BriefIdle +
		1}); err != nil || len(rows) != 1 || rows[0].Idle != Longer {
		t.Errorf("the last hour: %+v %v", rows, err)
	}
}

// The text in front of a prompt counts if it is large enough to be cached. A resume within five
// minutes has found it, unless it shows that it has not.
func TestSlicesKnowWhatWasCold(t *testing.T) {
	l, _ := newLedger(t)
	const start = 100 * hour
	bytes := int64(len(fmt.Sprintf(base, decide.Millis(start))))
	callAt(t, l, start, "t", request{10_000, 0}, request{30_000, 20_000}, 10_000)
	callAt(t, l, start+minute, "t", request{11_000, 10_000}, request{11_000, 10_000}, 12_000)
	callAt(t, l, start+20*minute, "t", request{13_000, 0}, request{13_000, 0}, 13_000)
	// in vain
	callAt(t, l, start+21*minute, "t", request{14_000, 500}, request{14_000, 500}, 14_000)
	callAt(t, l, start, "partly", request{10_000, 6_000}, request{10_000, 6_000}, 10_000)
	callAt(t, l, start, "short", request{4_000, 0}, request{4_000, 0}, 4_000)
	list, err := Slices(l, Filter{}, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	var fresh, resumed Front
	for _, s := range list {
		if s.Mode == rewrite.Fresh {
			fresh.Add(s.Front)
		} else {
			resumed.Add(s.Front)
		}
	}
	if want := (Front{Firsts: 2, Ahead: 2 * (10_000 - bytes/4),
		Read: 6_000, Most: 6_000}); fresh != want {
		t.Errorf("fresh calls %+v, want %+v", fresh, want)
	}
	if resumed.Warm != 1 {
		t.Errorf("resumed calls %+v, want one that was warm", resumed)
	}
}
