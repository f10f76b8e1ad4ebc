package history

import (
	"reprise/ledger"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A Tally counts the calls with the same tool, mode, reasons and outcome.
type Tally struct {
	Tool             string
	Mode             rewrite.Mode
	Reason, FellBack reason.Code
	Outcome          string // "" for running calls
	Calls            int64
}

// Tallies counts the selected calls.
func Tallies(l *ledger.Ledger, f Filter) ([]Tally, error) {
	where, args := f.selects("")
	all, err := ledger.List(l, `SELECT tool, mode, reason, coalesce(fell_back, ''), coalesce(outcome, ''), count(*)
		FROM calls WHERE `+where+` GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`, func(t *Tally) []any {
		return []any{&t.Tool, &t.Mode, &t.Reason, &t.FellBack, &t.Outcome, &t.Calls}
	}, args...)
	return all, ledger.Wrap("count calls", err)
}
