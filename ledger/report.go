package ledger

import (
	"database/sql"
	"fmt"

	"reprise/rewrite"
)

// A ChainRow is a chain as it is shown: with its newest session and its latest
// invocation.
type ChainRow struct {
	ID               int64
	Tool, Cwd        string
	Task, Role       string
	Created, Updated Millis
	Calls            int
	Resumed          int
	Sessions         []SessionRow // the newest first
	Last             InvocationRow
}

// A SessionRow is a session as it is shown.
type SessionRow struct {
	ID       int64
	NativeID string // "" while it is not known
	State    State
	Why      rewrite.Reason // why it is dead
	Held     bool
	Version  string
	Model    string
	Turns    int
	Context  rewrite.Context
	Created  Millis
	LastUsed Millis
}

// An InvocationRow is one call as it is shown. Numbers that are not known are not
// valid.
type InvocationRow struct {
	ID          int64
	Started     Millis
	Duration    sql.NullInt64 // milliseconds
	Mode        rewrite.Mode
	Reason      rewrite.Reason
	Detail      rewrite.Reason
	Rule        string // the rule that held for it
	FellBack    rewrite.Reason
	Outcome     string // "" while it runs
	PromptBytes int64
	SentBytes   int64
	Cost        sql.NullInt64 // nano-dollars
}

// Chains lists the chains, the most recently used first, at most limit of them.
func (l *Ledger) Chains(limit int) ([]ChainRow, error) {
	rows, err := l.db.Query(`
		SELECT c.id, c.tool, c.cwd, c.task, c.role, c.created, c.updated,
			(SELECT count(*) FROM invocations WHERE chain_id = c.id),
			(SELECT count(*) FROM invocations WHERE chain_id = c.id AND mode = ?),
			i.id, i.started, i.duration, i.mode, i.reason, i.detail, i.rule, coalesce(i.fell_back, ''), coalesce(i.outcome, ''),
			i.prompt_bytes, i.sent_bytes, i.cost
		FROM chains c JOIN invocations i ON i.id = (SELECT max(id) FROM invocations WHERE chain_id = c.id)
		ORDER BY c.updated DESC, c.id DESC LIMIT ?`, rewrite.Resume, limit)
	if err != nil {
		return nil, fmt.Errorf("list chains: %w", err)
	}
	defer rows.Close()
	var chains []ChainRow
	for rows.Next() {
		var c ChainRow
		i := &c.Last
		if err := rows.Scan(&c.ID, &c.Tool, &c.Cwd, &c.Task, &c.Role, &c.Created, &c.Updated, &c.Calls, &c.Resumed,
			&i.ID, &i.Started, &i.Duration, &i.Mode, &i.Reason, &i.Detail, &i.Rule, &i.FellBack, &i.Outcome,
			&i.PromptBytes, &i.SentBytes, &i.Cost); err != nil {
			return nil, fmt.Errorf("list chains: %w", err)
		}
		chains = append(chains, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list chains: %w", err)
	}
	for i := range chains {
		if chains[i].Sessions, err = l.sessions(chains[i].ID); err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
	}
	return chains, nil
}

func (l *Ledger) sessions(chain int64) ([]SessionRow, error) {
	rows, err := l.db.Query(`SELECT id, coalesce(native_id, ''), state, state_why, coalesce(version, ''), model, turns,
		context_used, context_limit, created, last_used FROM sessions WHERE chain_id = ? ORDER BY id DESC`, chain)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var sessions []SessionRow
	for rows.Next() {
		var s SessionRow
		if err := rows.Scan(&s.ID, &s.NativeID, &s.State, &s.Why, &s.Version, &s.Model, &s.Turns,
			&s.Context.Used, &s.Context.Limit, &s.Created, &s.LastUsed); err != nil {
			return nil, err
		}
		sessions = append(sessions, s)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i := range sessions {
		if sessions[i].Held, err = held(l.db, sessions[i].ID); err != nil {
			return nil, err
		}
	}
	return sessions, nil
}

// Totals counts all that the ledger holds.
type Totals struct {
	Chains, Calls, Resumed, Fresh, Observed int64
	Never                                   int64 // of the fresh ones, those that a rule has stand alone
	PromptBytes, SentBytes                  int64 // of the managed calls
}

// Totals sums the invocations up.
func (l *Ledger) Totals() (t Totals, err error) {
	err = l.db.QueryRow(`SELECT (SELECT count(*) FROM chains), count(*),
		coalesce(sum(mode = ?), 0), coalesce(sum(mode = ?), 0), coalesce(sum(mode = ?), 0),
		coalesce(sum(reason = ?), 0),
		coalesce(sum(prompt_bytes), 0), coalesce(sum(sent_bytes), 0) FROM invocations`,
		rewrite.Resume, rewrite.Fresh, rewrite.Observe, rewrite.Never).
		Scan(&t.Chains, &t.Calls, &t.Resumed, &t.Fresh, &t.Observed, &t.Never, &t.PromptBytes, &t.SentBytes)
	if err != nil {
		return Totals{}, fmt.Errorf("sum up calls: %w", err)
	}
	return t, nil
}
