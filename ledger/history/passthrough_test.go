package history

import (
	"slices"
	"testing"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite/reason"
)

func TestPassedRows(t *testing.T) {
	l, _ := newLedger(t)
	passed := func(cwd string, when decide.Millis) ledger.Passthrough {
		return ledger.Passthrough{Tool: "claude", Cwd: cwd, Reason: reason.OptedOut, When: when}
	}
	if err := l.AddPassthroughs([]ledger.Passthrough{passed("/a", 1), passed("/a", 2),
		passed("/b", 3), passed("/a", day)}); err != nil {
		t.Fatal(err)
	}
	rows, err := PassthroughRows(l, Filter{})
	want := []PassthroughRow{{passed("/a", day), 3}, {passed("/b", 3), 1}}
	if err != nil || !slices.Equal(rows, want) {
		t.Errorf("%+v, %v; want %+v", rows, err, want)
	}
	if rows, err := PassthroughRows(l, Filter{Since: day}); err != nil || len(rows) != 1 ||
		rows[0].Calls != 1 {
		t.Errorf("since the second day: %+v, %v", rows, err)
	}
}
