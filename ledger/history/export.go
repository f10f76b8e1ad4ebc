package history

import (
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A Tally counts the calls with the same tool, mode, reasons and outcome.
type Tally struct {
	Tool                                 string
	Mode                                 rewrite.Mode
	Reason, FellBack                     reason.Code
	Outcome                              string // "" for running calls
	Calls                                int64
	Millis                               int64 // of all together
	PromptBytes, SentBytes               int64
	Metered                              int64 // calls whose tokens are known
	Input, CacheRead, CacheWrite, Output int64
	Priced                               int64 // calls whose cost is known
	Cost                                 int64 // nano-dollars
}

// Tallies counts the selected calls.
func Tallies(l *ledger.Ledger, f Filter) ([]Tally, error) {
	where, args := f.selects("")
	all, err := ledger.List(l, `
		SELECT tool, mode, reason, coalesce(fell_back, ''), coalesce(outcome, ''), count(*), coalesce(sum(duration), 0),
			sum(prompt_bytes), sum(sent_bytes), count(input), coalesce(sum(input), 0), coalesce(sum(cache_read), 0),
			coalesce(sum(cache_write), 0), coalesce(sum(output), 0), count(cost), coalesce(sum(cost), 0)
		FROM invocations WHERE `+where+` GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`, func(t *Tally) []any {
		return []any{&t.Tool, &t.Mode, &t.Reason, &t.FellBack, &t.Outcome, &t.Calls, &t.Millis, &t.PromptBytes, &t.SentBytes,
			&t.Metered, &t.Input, &t.CacheRead, &t.CacheWrite, &t.Output, &t.Priced, &t.Cost}
	}, args...)
	return all, ledger.Wrap("count calls", err)
}

// A Census counts the sessions of one tool in one state.
type Census struct {
	Tool     string
	State    decide.State
	Sessions int64
}

// Sessions counts all sessions. One whose run was lost counts as killed.
func Sessions(l *ledger.Ledger) ([]Census, error) {
	all, err := ledger.List(l, `SELECT tool, iif(state = 'running' AND NOT EXISTS (SELECT 1 FROM invocations i
		WHERE i.chain_id = s.chain_id AND i.session_id = s.id AND i.outcome IS NULL), 'killed', state), count(*) FROM sessions s GROUP BY 1, 2 ORDER BY 1, 2`,
		func(c *Census) []any { return []any{&c.Tool, &c.State, &c.Sessions} })
	return all, ledger.Wrap("count sessions", err)
}
