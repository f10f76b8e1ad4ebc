package history

import (
	"testing"

	"reprise/ledger"
	"reprise/ledger/decide"
)

// The cost of an hour for a chain that asked for it, and the saving for a chain that did not.
func TestHourRows(t *testing.T) {
	l, _ := newLedger(t)
	const start = 100 * hour
	call := func(now decide.Millis, tool, task string, can bool) {
		play(t, l, now, func(c *ledger.Call) { c.Tool, c.Task, c.MayKeepHour = tool, task, can },
			func(_ *ledger.Ticket, o *ledger.Outcome) {
				all := request{10_000, 0}.usage()
				o.Now, o.Seen.ContextUse.Used, o.Seen.Usage, o.Seen.First = now, 10_000, all, all
			})
	}
	call(start, "claude", "one", false)
	call(start+10*minute, "claude", "one", false)
	call(start+20*minute, "claude", "one", false)
	call(start+30*minute, "claude", "two", true)
	call(start+30*minute, "codex", "one", false) // codex cannot ask for it
	call(start+40*minute, "codex", "one", false)
	rows, err := HourRows(l, Filter{})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%+v, %v", rows, err)
	}
	// Of 30 000 tokens 20 000 were written again after a pause: 1.15 times that, less 0.75 of the
	// other 10 000. The other chain has paid 0.75 more for each of its 10 000 so far.
	if want := (HourRow{"claude", 1, -7_500, 1, 15_500}); rows[0] != want {
		t.Errorf("%+v, want %+v", rows[0], want)
	}
}
