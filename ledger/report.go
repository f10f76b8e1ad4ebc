package ledger

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"reprise/rewrite"
)

// A ChainRow is a chain for display: with its newest session and its latest invocation.
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

// A SessionRow is a session for display.
type SessionRow struct {
	ID       int64
	Chain    int64
	Tool     string
	NativeID string // "" while it is not known
	State    State
	Why      rewrite.Reason // why it is dead
	Reset    bool           // an answer or the user has ended it
	Parent   string         // the session that it began as a copy of, "" for none
	Held     bool
	Version  string
	Model    string // as it was requested
	Answered string // the model that the tool named, "" if not known
	Turns    int
	Context  rewrite.Context
	Created  Millis
	LastUsed Millis
}

// An InvocationRow is one call for display. Unknown numbers are not valid.
type InvocationRow struct {
	ID           int64
	Chain        int64 // 0 if it belongs to none
	Session      int64 // the row of its session, 0 if it has none
	Tool, Cwd    string
	Started      Millis
	Duration     sql.NullInt64 // milliseconds
	Mode         rewrite.Mode
	Reason       rewrite.Reason
	Detail       rewrite.Reason
	Rule         string // the rule that applied to it
	ResumedFrom  string // the session that it was meant to resume
	FellBack     rewrite.Reason
	Format       rewrite.Format
	NativeID     string // the session that it ended in
	Model        string
	PromptBytes  int64
	SentBytes    int64
	Input        sql.NullInt64 // tokens, in disjoint kinds
	CacheRead    sql.NullInt64
	CacheWrite   sql.NullInt64
	Output       sql.NullInt64
	Cost         sql.NullInt64 // nano-dollars, as the tool reported it
	Outcome      string        // "" while it runs
	Exit, Signal sql.NullInt64
	Caller       Caller
	Proof        Proof  // what showed that it continued a session
	Unshared     string // why its session is not shared, although there is a store
	Machine      string // that made it, "" for this one; the following too are known of a store's calls only
	From         string // the machine on which the resumed session was last used
	Lost         Lost   // why its session is not in the store
	changed      string
}

const invocationColumns = `i.id, coalesce(i.chain_id, 0), coalesce(i.session_id, 0), i.tool, i.cwd, i.started, i.duration,
	i.mode, i.reason, i.detail, i.rule, coalesce(i.resumed_from, ''), coalesce(i.fell_back, ''), i.format,
	coalesce(i.native_id, ''), coalesce(i.model, ''), i.prompt_bytes, i.sent_bytes, i.input, i.cache_read, i.cache_write,
	i.output, i.cost, coalesce(i.outcome, ''), i.exit_code, i.signal, i.caller, i.changed, i.proof, i.unshared`

// columns returns the destinations of invocationColumns.
func (i *InvocationRow) columns() []any {
	return []any{&i.ID, &i.Chain, &i.Session, &i.Tool, &i.Cwd, &i.Started, &i.Duration, &i.Mode, &i.Reason, &i.Detail, &i.Rule,
		&i.ResumedFrom, &i.FellBack, &i.Format, &i.NativeID, &i.Model, &i.PromptBytes, &i.SentBytes, &i.Input, &i.CacheRead,
		&i.CacheWrite, &i.Output, &i.Cost, &i.Outcome, &i.Exit, &i.Signal, &i.Caller, &i.changed, &i.Proof, &i.Unshared}
}

// Unshared returns why calls from a time on were not shared, although there was a store, and how many.
func (l *Ledger) Unshared(since Millis) (calls map[string]int64, err error) {
	calls = map[string]int64{}
	err = each(l.db, "SELECT unshared, count(*) FROM invocations WHERE started >= ? AND unshared <> '' GROUP BY unshared", func(rows *sql.Rows) error {
		var why string
		var n int64
		err := rows.Scan(&why, &n)
		calls[why] = n
		return err
	}, since)
	if err != nil {
		return nil, fmt.Errorf("count calls that were not shared: %w", err)
	}
	return calls, nil
}

// Changed returns the names of what had changed, if the reason says that something had.
func (i *InvocationRow) Changed() []string {
	if i.changed == "" {
		return nil
	}
	return strings.Split(i.changed, "\t")
}

// A Wanted selects the rows of a list: calls, or chains and sessions with such a call. The zero value
// selects all.
type Wanted struct {
	Filter
	Live  bool // chains that a call could continue, as far as their session's state shows
	Limit int
}

// limit returns SQL's LIMIT. A negative one means none.
func (w Wanted) limit() int {
	if w.Limit == 0 {
		return -1
	}
	return w.Limit
}

// Chains returns the chains, the most recently used first.
func (l *Ledger) Chains(w Wanted) ([]ChainRow, error) {
	of := w.Filter
	of.Chain, of.Tool = 0, ""
	condition, args := of.ofCalls("chain_id", "c.id")
	args = append([]any{w.Chain, w.Chain, w.Tool, w.Tool, w.Live, Live, Running}, append(args, w.limit())...)
	rows, err := l.db.Query(`
		SELECT c.id, c.tool, c.cwd, c.task, c.role, c.created, c.updated,
			(SELECT count(*) FROM invocations WHERE chain_id = c.id),
			(SELECT count(*) FROM invocations WHERE chain_id = c.id AND `+continued+`), `+invocationColumns+`
		FROM chains c JOIN invocations i ON i.id = (SELECT max(id) FROM invocations WHERE chain_id = c.id)
		WHERE (? = 0 OR c.id = ?) AND (? = '' OR c.tool = ?)
			AND (NOT ? OR EXISTS (SELECT 1 FROM sessions s WHERE `+sinceBegun+` AND s.state IN (?, ?) AND s.reset = 0)) AND `+condition+`
		ORDER BY c.updated DESC, c.id DESC LIMIT ?`, args...)
	if err != nil {
		return nil, fmt.Errorf("list chains: %w", err)
	}
	defer rows.Close()
	var chains []ChainRow
	for rows.Next() {
		var c ChainRow
		if err := rows.Scan(append([]any{&c.ID, &c.Tool, &c.Cwd, &c.Task, &c.Role, &c.Created, &c.Updated, &c.Calls, &c.Resumed},
			c.Last.columns()...)...); err != nil {
			return nil, fmt.Errorf("list chains: %w", err)
		}
		chains = append(chains, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list chains: %w", err)
	}
	for i := range chains {
		if chains[i].Sessions, err = l.SessionRows(Wanted{Filter: Filter{Chain: chains[i].ID}}); err != nil {
			return nil, err
		}
	}
	return chains, nil
}

// SessionRows returns the sessions: those of one chain the newest first, others the most recently
// used first.
func (l *Ledger) SessionRows(w Wanted) ([]SessionRow, error) {
	where, order := "? = 0 AND (? = '' OR tool = ?)", "last_used DESC, id DESC"
	if w.Chain != 0 {
		where, order = "chain_id = ? AND (? = '' OR tool = ?)", "id DESC"
	}
	of := w.Filter
	of.Chain, of.Tool = 0, ""
	condition, args := of.ofCalls("session_id", "sessions.id")
	args = append([]any{w.Chain, w.Tool, w.Tool}, append(args, w.limit())...)
	return l.sessionRows(where+" AND "+condition+" ORDER BY "+order+" LIMIT ?", args...)
}

// SessionsLike returns the sessions whose native ID begins with prefix, the newest first.
func (l *Ledger) SessionsLike(prefix string) ([]SessionRow, error) {
	// The range lets SQLite use its index, and no character of the prefix is a wildcard.
	return l.sessionRows("native_id >= ? AND native_id < ? ORDER BY id DESC", prefix, prefix+"\U0010FFFF")
}

func (l *Ledger) sessionRows(where string, args ...any) ([]SessionRow, error) {
	rows, err := l.db.Query(`SELECT id, chain_id, tool, coalesce(native_id, ''), state, state_why, reset, coalesce(version, ''),
		model, first_model, turns, context_used, context_limit, created, last_used,
		coalesce((SELECT p.native_id FROM sessions p WHERE p.id = sessions.parent_id), '') FROM sessions WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	defer rows.Close()
	var sessions []SessionRow
	for rows.Next() {
		var s SessionRow
		if err := rows.Scan(&s.ID, &s.Chain, &s.Tool, &s.NativeID, &s.State, &s.Why, &s.Reset, &s.Version, &s.Model, &s.Answered, &s.Turns,
			&s.Context.Used, &s.Context.Limit, &s.Created, &s.LastUsed, &s.Parent); err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		sessions = append(sessions, s)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	for i := range sessions {
		if sessions[i].Held, err = sessionHeld(l.db, sessions[i].ID); err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
	}
	return sessions, nil
}

// InvocationRows returns the calls, the latest first.
func (l *Ledger) InvocationRows(w Wanted) ([]InvocationRow, error) {
	where, args := w.selects("i.")
	return l.invocationRows(where+" ORDER BY i.id DESC LIMIT ?", append(args, w.limit())...)
}

// RunningRows returns those of the latest calls that are running, the latest first. A call without a session counts for
// an hour: no lease shows whether its process still lives.
func (l *Ledger) RunningRows(now Millis) (list []InvocationRow, err error) {
	rows, err := l.invocationRows("i.outcome IS NULL AND i.id > (SELECT max(id) FROM invocations) - ? ORDER BY i.id DESC", recentCalls)
	for _, i := range rows {
		held := i.Started > now-anHour
		if i.Session != 0 {
			if held, err = sessionHeld(l.db, i.Session); err != nil {
				return nil, fmt.Errorf("list calls: %w", err)
			}
		}
		if held {
			list = append(list, i)
		}
	}
	return list, err
}

// FindInvocation returns one call, or sql.ErrNoRows if there is none.
func (l *Ledger) FindInvocation(id int64) (InvocationRow, error) {
	rows, err := l.invocationRows("i.id = ?", id)
	if err == nil && len(rows) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return InvocationRow{}, err
	}
	return rows[0], nil
}

// recentCalls is among how many of the latest calls LastIn and RunningRows search.
const recentCalls = 1000

// LastIn returns the latest call in a directory, or sql.ErrNoRows if none of the latest calls was made there.
func (l *Ledger) LastIn(cwd string) (InvocationRow, error) {
	rows, err := l.invocationRows("i.cwd = ? AND i.id > (SELECT max(id) FROM invocations) - ? ORDER BY i.id DESC LIMIT 1", cwd, recentCalls)
	if err == nil && len(rows) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return InvocationRow{}, err
	}
	return rows[0], nil
}

// Bounded returns the time from which on there are at most that many calls: since, or when the first of the latest ones began.
func (l *Ledger) Bounded(since Millis, most int64) (Millis, error) {
	var began Millis
	err := l.db.QueryRow("SELECT coalesce(max(started), 0) FROM invocations WHERE id = (SELECT max(id) FROM invocations) - ?", most).Scan(&began)
	if err != nil {
		return 0, fmt.Errorf("list calls: %w", err)
	}
	return max(since, began+1), nil
}

// InvocationRowsSince returns the calls after the given one, and those of running that have ended
// since, the earliest first, as far as the filter selects them.
func (l *Ledger) InvocationRowsSince(id int64, running []int64, f Filter) ([]InvocationRow, error) {
	where, args := f.selects("i.")
	return l.invocationRows(`(i.id > ? OR i.id IN (SELECT value FROM json_each(?)) AND i.outcome IS NOT NULL) AND `+where+" ORDER BY i.id",
		append([]any{id, encodeJSON(append([]int64{}, running...))}, args...)...)
}

func (l *Ledger) invocationRows(where string, args ...any) ([]InvocationRow, error) {
	rows, err := l.db.Query("SELECT "+invocationColumns+", "+l.machineColumns()+" FROM invocations i WHERE "+where, args...)
	if err != nil {
		return nil, fmt.Errorf("list calls: %w", err)
	}
	defer rows.Close()
	var list []InvocationRow
	for rows.Next() {
		var i InvocationRow
		if err := rows.Scan(append(i.columns(), &i.Machine, &i.From, &i.Lost)...); err != nil {
			return nil, fmt.Errorf("list calls: %w", err)
		}
		list = append(list, i)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list calls: %w", err)
	}
	return list, nil
}

// DataVersion returns a number that changes when another process has written to the ledger.
func (l *Ledger) DataVersion() (version int64, err error) {
	if err = l.db.QueryRow("PRAGMA data_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("look at ledger: %w", err)
	}
	return version, nil
}

// Reset ends the chain's newest session: its next call begins anew. If there is no such chain it
// returns sql.ErrNoRows.
func (l *Ledger) Reset(chain int64) error {
	return l.write(func(tx *sql.Tx) error {
		if err := tx.QueryRow("SELECT id FROM chains WHERE id = ?", chain).Scan(&chain); err != nil {
			return err
		}
		_, err := tx.Exec("UPDATE sessions SET reset = 1 WHERE chain_id = ? AND reset = 0", chain)
		return err
	})
}

// Totals are sums over the whole ledger.
type Totals struct {
	Chains, Calls, Resumed int64
	Forked                 int64 // of the resumed ones, those in a copy of a session that another process has used
	Fresh, Observed        int64
	Never                  int64 // of the fresh ones, those that a rule makes independent
	PromptBytes, SentBytes int64 // of the managed calls
}

// Totals sums up the selected invocations.
func (l *Ledger) Totals(f Filter) (t Totals, err error) {
	chains, ofChains := f.ofCalls("chain_id", "chains.id")
	where, ofCalls := f.selects("")
	err = l.db.QueryRow(`SELECT (SELECT count(*) FROM chains WHERE `+chains+`), count(*),
		coalesce(sum(`+continued+`), 0), coalesce(sum(mode = ?), 0), coalesce(sum(mode = ?), 0), coalesce(sum(mode = ?), 0),
		coalesce(sum(reason = ?), 0),
		coalesce(sum(prompt_bytes), 0), coalesce(sum(sent_bytes), 0) FROM invocations WHERE `+where,
		slices.Concat(ofChains, []any{rewrite.Fork, rewrite.Fresh, rewrite.Observe, rewrite.Never}, ofCalls)...).
		Scan(&t.Chains, &t.Calls, &t.Resumed, &t.Forked, &t.Fresh, &t.Observed, &t.Never, &t.PromptBytes, &t.SentBytes)
	if err != nil {
		return Totals{}, fmt.Errorf("sum up calls: %w", err)
	}
	return t, nil
}
