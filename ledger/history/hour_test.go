package history

import (
	"testing"

	"reprise/ledger"
	"reprise/ledger/decide"
)

// What an hour costs a chain that asked for it, and what it would have saved one that did not.
func TestHourRows(t *testing.T) {
	l, _ := newLedger(t)
	const start = 100 * hour
	call := func(now decide.Millis, task string, may bool) {
		play(t, l, now, func(c *ledger.Call) { c.Task, c.MayKeepHour = task, may }, func(_ *ledger.Ticket, o *ledger.Outcome) {
			all := request{10_000, 0}.usage()
			o.Now, o.Seen.ContextUse.Used, o.Seen.Usage, o.Seen.First = now, 10_000, all, all
		})
	}
	call(start, "one", false)
	call(start+10*minute, "one", false)
	call(start+20*minute, "one", false)
	call(start+30*minute, "two", true)
	rows, err := HourRows(l, Wanted{})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%+v, %v", rows, err)
	}
	// Of 30 000 tokens 20 000 were written again after a pause: 1.15 times that, less 0.75 of the other 10 000. The other chain
	// has paid 0.75 more for each of its 10 000 so far.
	if want := (HourRow{"claude", 1, -7_500, 1, 15_500}); rows[0] != want {
		t.Errorf("%+v, want %+v", rows[0], want)
	}
}
