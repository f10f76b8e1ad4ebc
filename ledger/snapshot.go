package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"

	"reprise/rewrite"
)

// A Period is from Since on and before Until.
type Period struct{ Since, Until Millis }

// Always is the period that holds every call.
var Always = Period{math.MinInt64, math.MaxInt64}

// holds is a condition on the period's two ends. All calls are not looked up in the
// index: to read the table through is faster.
func (p Period) holds() string {
	if p == Always {
		return "+started >= ? AND +started < ?"
	}
	return "started >= ? AND started < ?"
}

// A Snapshot is what a report shows, all of one moment.
type Snapshot struct {
	Slices []Slice
	Arms   []ChainSums
	Chains []ChainCalls // the most recently used first
}

// A Slice sums up the calls of one day that are alike.
type Slice struct {
	Day               Millis // its beginning, in UTC
	Tool, Rule, Model string // Model as it answered
	Mode              rewrite.Mode
	Reason, FellBack  rewrite.Reason
	Arm               string
	Well              bool // they ended well
	Counted, Priced   bool // the tool told their tokens, and their cost
	Long              bool // some prompt may have been longer than the bound: all of a run's together are
	Sums
}

// Spending is what the price of the calls depends on.
func (s Slice) Spending() Spending {
	return Spending{Day: s.Day, Tool: s.Tool, Model: s.Model, Mode: s.Mode, Counted: s.Counted, Priced: s.Priced, Long: s.Long,
		Calls: s.Calls, Input: s.Input, CacheRead: s.CacheRead, CacheWrite: s.CacheWrite, Output: s.Output, Cost: s.Cost}
}

// Side is what the calls are counted as.
func (s Slice) Side() Side { return SideOf(s.Mode, s.Reason, s.FellBack) }

// ChainCalls are a chain and its calls in the period.
type ChainCalls struct {
	ID             int64
	Tool, Cwd      string
	Task, Role     string
	Updated        Millis
	Calls, Resumed int64
	Latest         []InvocationRow // the earliest first
}

// MostOf bounds what a snapshot holds, however large the ledger is.
type MostOf struct {
	Chains int // those with the most calls of the recently used ones
	Calls  int // of each of them, the latest
}

// recently is how many chains those that are shown are picked from.
const recently = 500

// Snapshot reads the calls of the period; runs whose prompts together had more than
// longPrompt tokens are counted apart. It keeps nobody from writing.
func (l *Ledger) Snapshot(p Period, longPrompt int64, most MostOf) (s Snapshot, err error) {
	err = l.inOneMoment(func(q rowsQueryer) (err error) {
		if s.Slices, err = slicesOf(q, p, longPrompt); err != nil {
			return fmt.Errorf("sum up days: %w", err)
		}
		if slices.ContainsFunc(s.Slices, func(s Slice) bool { return s.Arm != "" }) { // it takes a second of a million calls
			if s.Arms, err = arms(q, p); err != nil {
				return fmt.Errorf("sum up chains: %w", err)
			}
		}
		if s.Chains, err = chainCalls(q, p, most); err != nil {
			return fmt.Errorf("list chains: %w", err)
		}
		return nil
	})
	return s, err
}

// inOneMoment runs queries that see nothing of what is written meanwhile. A transaction
// of database/sql would take the writer's lock.
func (l *Ledger) inOneMoment(read func(rowsQueryer) error) error {
	ctx := context.Background()
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("read ledger: %w", err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return fmt.Errorf("read ledger: %w", err)
	}
	defer conn.ExecContext(ctx, "ROLLBACK")
	return read(onConn{conn})
}

// onConn has the queries run on one connection.
type onConn struct{ conn *sql.Conn }

func (c onConn) Query(query string, args ...any) (*sql.Rows, error) {
	return c.conn.QueryContext(context.Background(), query, args...)
}

func slicesOf(q rowsQueryer, p Period, longPrompt int64) (list []Slice, err error) {
	err = each(q, `SELECT started / 86400000 * 86400000, tool, rule, coalesce(model, ''), mode, reason, coalesce(fell_back, ''), arm,
		coalesce(outcome = 'ok', 0), input IS NOT NULL, cost IS NOT NULL,
		coalesce(input + cache_read + cache_write > ?, 0), `+sumColumns+`
		FROM invocations WHERE `+p.holds()+` GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12`,
		func(rows *sql.Rows) error {
			var s Slice
			err := rows.Scan(append([]any{&s.Day, &s.Tool, &s.Rule, &s.Model, &s.Mode, &s.Reason, &s.FellBack, &s.Arm,
				&s.Well, &s.Counted, &s.Priced, &s.Long}, s.columns()...)...)
			list = append(list, s)
			return err
		}, longPrompt, p.Since, p.Until)
	return list, err
}

func chainCalls(q rowsQueryer, p Period, most MostOf) (chains []ChainCalls, err error) {
	err = each(q, `SELECT id, tool, cwd, task, role, updated FROM (
			SELECT *, (SELECT count(*) FROM invocations WHERE chain_id = c.id) AS calls FROM chains c
			WHERE updated >= ? AND created < ? ORDER BY updated DESC, id DESC LIMIT ?)
		ORDER BY calls DESC, updated DESC, id DESC LIMIT ?`,
		func(rows *sql.Rows) error {
			var c ChainCalls
			err := rows.Scan(&c.ID, &c.Tool, &c.Cwd, &c.Task, &c.Role, &c.Updated)
			chains = append(chains, c)
			return err
		}, p.Since, p.Until, recently, most.Chains)
	if err != nil {
		return nil, err
	}
	for i := range chains {
		if err := chains[i].read(q, p, most.Calls); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(chains, func(a, b ChainCalls) int {
		return cmp.Or(cmp.Compare(b.Updated, a.Updated), cmp.Compare(b.ID, a.ID))
	})
	return slices.DeleteFunc(chains, func(c ChainCalls) bool { return c.Calls == 0 }), nil
}

func (c *ChainCalls) read(q rowsQueryer, p Period, most int) error {
	if err := each(q, "SELECT count(*), coalesce(sum("+continued+"), 0) FROM invocations WHERE chain_id = ? AND +started >= ? AND +started < ?",
		func(rows *sql.Rows) error { return rows.Scan(&c.Calls, &c.Resumed) }, c.ID, p.Since, p.Until); err != nil {
		return err
	}
	err := each(q, "SELECT "+invocationColumns+" FROM invocations i WHERE chain_id = ? AND +started >= ? AND +started < ? ORDER BY id DESC LIMIT ?",
		func(rows *sql.Rows) error {
			var i InvocationRow
			err := rows.Scan(i.columns()...)
			c.Latest = append(c.Latest, i)
			return err
		}, c.ID, p.Since, p.Until, most)
	slices.Reverse(c.Latest)
	return err
}
