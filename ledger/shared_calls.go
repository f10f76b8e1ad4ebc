package ledger

import (
	"database/sql"
	"fmt"

	"reprise/rewrite"
)

// Groupings of a ledger that FromLog returns.
const (
	ByProject By = "project"
	ByMachine By = "machine"
)

// SharedBys are the groupings that only calls of several machines have.
var SharedBys = []By{ByProject, ByMachine}

// FromLog returns a ledger in memory with the calls of a store's log, so that the calls of all machines are
// summed up as those of one are.
func FromLog(calls []SharedCall) (*Ledger, error) {
	l, err := OpenMemory()
	if err != nil {
		return nil, err
	}
	err = l.transact(func(tx *sql.Tx) error {
		for _, column := range []string{"project", "machine", "from_machine", "lost"} {
			if _, err := tx.Exec("ALTER TABLE invocations ADD COLUMN " + column + " TEXT NOT NULL DEFAULT ''"); err != nil {
				return err
			}
		}
		chains := map[SharedCall]int64{}
		for _, c := range calls {
			if err := c.insert(tx, chains); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("read the store's log: %w", err)
	}
	return l, nil
}

// insert writes a call, and its chain if the call is the first of it.
func (n SharedCall) insert(tx *sql.Tx, chains map[SharedCall]int64) error {
	key := SharedCall{Project: n.Project, Cwd: n.Cwd, Chain: n.Chain, Tool: n.Tool, Task: n.Task, Role: n.Role}
	chain, err := chains[key], error(nil)
	if chain == 0 {
		err = insert(tx, &chain, "INSERT INTO chains (tool, cwd, home, task, role, created, updated) VALUES (?, ?, ?, ?, ?, ?, ?)",
			n.Tool, n.Cwd, n.Project, n.Task, n.Role, n.When, n.When)
	} else {
		_, err = tx.Exec("UPDATE chains SET created = min(created, ?1), updated = max(updated, ?1) WHERE id = ?2", n.When, chain)
	}
	if err != nil {
		return err
	}
	chains[key] = chain
	mode, u := n.Mode, n.Usage
	if n.FellBack != "" {
		mode = rewrite.Fresh
	}
	_, err = tx.Exec(`INSERT INTO invocations (chain_id, rule, tool, cwd, started, duration, mode, reason, resumed_from, fell_back, format,
			native_id, model, prompt_bytes, sent_bytes, input, cache_read, cache_write, output, cost, outcome, arm, project, machine, from_machine, lost)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), nullif(?, ''), '', nullif(?, ''), nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		chain, n.Rule, n.Tool, n.Cwd, n.When, max(0, n.Duration), mode, n.Reason, n.Resumed, n.FellBack,
		n.Session, n.Model, n.Prompt, n.Sent, known(u.Known, plausible(u.Input)), known(u.Known, plausible(u.CacheRead)),
		known(u.Known, plausible(u.CacheWrite)), known(u.Known, plausible(u.Output)), known(u.CostKnown, plausible(u.CostNano)),
		n.Outcome, n.Arm, n.Project, n.Host, n.From, n.Lost)
	return err
}

// A Fleet is what several machines did with a store.
type Fleet struct {
	Machines, Calls, Resumed int64
	Elsewhere                int64 // of Resumed, those whose session was last used on another machine
	// Why sessions are not in the store, and why calls could not go on with those that are.
	Fenced, NoAnswer, TooLarge, Failed, Differs int64
}

// Fleet sums up the selected calls of a ledger that FromLog returned.
func (l *Ledger) Fleet(f Filter) (out Fleet, err error) {
	where, args := f.selects("")
	lost := func(why Lost) string { return fmt.Sprintf("coalesce(sum(lost = '%s'), 0)", why) }
	err = l.db.QueryRow(fmt.Sprintf(`SELECT count(DISTINCT machine), count(*), coalesce(sum(%s), 0),
			coalesce(sum(%[1]s AND from_machine NOT IN ('', machine)), 0), %s, %s, %s, %s, coalesce(sum(reason = '%s'), 0)
		FROM invocations WHERE %s`, continued, lost(LostFenced), lost(LostUnknown), lost(LostTooLarge), lost(LostFailed),
		rewrite.CheckoutDiffers, where), args...).
		Scan(&out.Machines, &out.Calls, &out.Resumed, &out.Elsewhere, &out.Fenced, &out.NoAnswer, &out.TooLarge, &out.Failed, &out.Differs)
	if err != nil {
		return Fleet{}, fmt.Errorf("sum up calls: %w", err)
	}
	return out, nil
}
