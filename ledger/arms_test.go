package ledger

import (
	"fmt"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite/reason"
)

// Which chains are sent whole prompts is noted where some are, holds for all of a chain's calls, and is spread evenly.
func TestDeltaArmOfAnInvocation(t *testing.T) {
	l, _ := newLedger(t)
	whole := 0
	for n := range 60 {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
		c := testCall(l, fmt.Sprintf(base, n), decide.Millis(1000+n))
		c.Limits.WholeOut = 0.5
		_, ticket := beginCall(t, l, c)
		want := DeltaPrompt
		if c.Limits.SendsWhole(bucket(l.key, ticket.Chain)) {
			whole, want = whole+1, WholePrompt
		}
		finish(t, l, ticket, goodOutcome(id, "done", decide.Millis(2000+n)))
		c = testCall(l, fmt.Sprintf(base, n)+"\n\nMore.", 3000)
		c.Limits.WholeOut = 0.5
		d, again := beginCall(t, l, c)
		if !d.Mode.Continues() || (d.Whole == reason.DeltaOff) != (want == WholePrompt) {
			t.Errorf("%s: %s (%s), whole %q", want, d.Mode, d.Reason, d.Whole)
		}
		for _, call := range []*Ticket{ticket, again} {
			wantRow(t, "half", row(t, l, "invocations", call.Invocation), map[string]any{"delta_arm": want})
		}
		finish(t, l, again, goodOutcome(id, "done", decide.Millis(4000+n)))
	}
	if whole < 15 || whole > 45 {
		t.Errorf("%d of 60 are sent whole prompts", whole)
	}
	for _, limits := range []decide.Limits{{}, {WholeOut: 1}, {WholeOut: 0.5, WholePrompt: true}} {
		c := testCall(l, "Alone.", 9000)
		c.Limits = limits
		_, ticket := beginCall(t, l, c)
		wantRow(t, "all alike", row(t, l, "invocations", ticket.Invocation), map[string]any{"delta_arm": ""})
	}
}
