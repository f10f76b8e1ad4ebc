package ledger

import (
	"database/sql"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"reprise/rewrite"
)

// Time returns the point in time in UTC.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// OrNull returns a number for JSON: nil if it is not known.
func OrNull(n sql.NullInt64) *int64 {
	if !n.Valid {
		return nil
	}
	return &n.Int64
}

// An Invocation is everything that the ledger stores about one call, for export. Unknown numbers
// are not valid, unknown words are "".
type Invocation struct {
	ID, Chain      int64 // Chain is 0 if it belongs to none
	Tool, Cwd      string
	Task, Role     string
	Rule           string
	Started        Millis
	Duration       sql.NullInt64 // milliseconds
	Mode           rewrite.Mode
	Reason, Detail rewrite.Reason
	Arm            string // Control or Treated, "" if no chain was held out
	ResumedFrom    string
	FellBack       rewrite.Reason
	Format         rewrite.Format
	NativeID       string
	Asked          string // the model that was requested
	Model          string // the model that answered
	PromptBytes    int64
	SentBytes      int64
	Input          sql.NullInt64 // neither read from nor written to the cache
	CacheRead      sql.NullInt64
	CacheWrite     sql.NullInt64
	Output         sql.NullInt64
	Cost           sql.NullInt64 // nano-dollars
	Outcome        string        // "" while it runs
	Exit, Signal   sql.NullInt64
	Machine, From  string // as those of an InvocationRow
	Lost           Lost
}

// batch is how many invocations are in memory at a time. Between two batches the ledger is free, so
// that its log can be folded.
const batch = 1000

// Invocations yields the selected calls in the order of their numbers. It ends with the first error.
func (l *Ledger) Invocations(f Filter) iter.Seq2[Invocation, error] {
	return func(yield func(Invocation, error) bool) {
		var after int64
		err := l.db.QueryRow("SELECT coalesce(min(id), ?) - 1 FROM invocations WHERE started >= ?", int64(math.MaxInt64), f.Times().Since).Scan(&after)
		for err == nil {
			var some []Invocation
			if some, err = l.invocations(after, f); err != nil || len(some) == 0 {
				break
			}
			for _, i := range some {
				if !yield(i, nil) {
					return
				}
			}
			after = some[len(some)-1].ID
		}
		if err != nil {
			yield(Invocation{}, fmt.Errorf("read calls: %w", err))
		}
	}
}

func (l *Ledger) invocations(after int64, f Filter) ([]Invocation, error) {
	among, args := f.among("i.")
	args = slices.Concat([]any{after}, args, []any{batch})
	rows, err := l.db.Query(`
		SELECT i.id, coalesce(i.chain_id, 0), i.tool, i.cwd, coalesce(c.task, ''), coalesce(c.role, ''), i.rule,
			i.started, i.duration, i.mode, i.reason, i.detail, i.arm, coalesce(i.resumed_from, ''), coalesce(i.fell_back, ''),
			i.format, coalesce(i.native_id, ''), coalesce(s.model, ''), coalesce(i.model, ''), i.prompt_bytes, i.sent_bytes,
			i.input, i.cache_read, i.cache_write, i.output, i.cost, coalesce(i.outcome, ''), i.exit_code, i.signal, `+l.machineColumns()+`
		FROM invocations i LEFT JOIN chains c ON c.id = i.chain_id LEFT JOIN sessions s ON s.id = i.session_id
		WHERE i.id > ? AND `+among+` ORDER BY i.id LIMIT ?`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	some := make([]Invocation, 0, batch)
	for rows.Next() {
		var i Invocation
		if err := rows.Scan(&i.ID, &i.Chain, &i.Tool, &i.Cwd, &i.Task, &i.Role, &i.Rule,
			&i.Started, &i.Duration, &i.Mode, &i.Reason, &i.Detail, &i.Arm, &i.ResumedFrom, &i.FellBack,
			&i.Format, &i.NativeID, &i.Asked, &i.Model, &i.PromptBytes, &i.SentBytes,
			&i.Input, &i.CacheRead, &i.CacheWrite, &i.Output, &i.Cost, &i.Outcome, &i.Exit, &i.Signal, &i.Machine, &i.From, &i.Lost); err != nil {
			return nil, err
		}
		some = append(some, i)
	}
	return some, rows.Err()
}

// A Tally counts the calls with the same tool, mode, reasons and outcome.
type Tally struct {
	Tool                                 string
	Mode                                 rewrite.Mode
	Reason, FellBack                     rewrite.Reason
	Outcome                              string // "" for running calls
	Calls                                int64
	Millis                               int64 // of all together
	PromptBytes, SentBytes               int64
	Metered                              int64 // calls whose tokens are known
	Input, CacheRead, CacheWrite, Output int64
	Priced                               int64 // calls whose cost is known
	Cost                                 int64 // nano-dollars
}

// Tallies counts all calls.
func (l *Ledger) Tallies() ([]Tally, error) {
	rows, err := l.db.Query(`
		SELECT tool, mode, reason, coalesce(fell_back, ''), coalesce(outcome, ''), count(*), coalesce(sum(duration), 0),
			sum(prompt_bytes), sum(sent_bytes), count(input), coalesce(sum(input), 0), coalesce(sum(cache_read), 0),
			coalesce(sum(cache_write), 0), coalesce(sum(output), 0), count(cost), coalesce(sum(cost), 0)
		FROM invocations GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`)
	if err != nil {
		return nil, fmt.Errorf("count calls: %w", err)
	}
	defer rows.Close()
	var all []Tally
	for rows.Next() {
		var t Tally
		if err := rows.Scan(&t.Tool, &t.Mode, &t.Reason, &t.FellBack, &t.Outcome, &t.Calls, &t.Millis, &t.PromptBytes, &t.SentBytes,
			&t.Metered, &t.Input, &t.CacheRead, &t.CacheWrite, &t.Output, &t.Priced, &t.Cost); err != nil {
			return nil, fmt.Errorf("count calls: %w", err)
		}
		all = append(all, t)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count calls: %w", err)
	}
	return all, nil
}

// A Census counts the sessions of one tool in one state.
type Census struct {
	Tool     string
	State    State
	Sessions int64
}

// Sessions counts all sessions.
func (l *Ledger) Sessions() ([]Census, error) {
	rows, err := l.db.Query("SELECT tool, state, count(*) FROM sessions GROUP BY 1, 2 ORDER BY 1, 2")
	if err != nil {
		return nil, fmt.Errorf("count sessions: %w", err)
	}
	defer rows.Close()
	var all []Census
	for rows.Next() {
		var c Census
		if err := rows.Scan(&c.Tool, &c.State, &c.Sessions); err != nil {
			return nil, fmt.Errorf("count sessions: %w", err)
		}
		all = append(all, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count sessions: %w", err)
	}
	return all, nil
}
