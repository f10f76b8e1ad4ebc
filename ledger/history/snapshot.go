package history

import (
	"cmp"
	"database/sql"
	"slices"

	"reprise/ledger"
)

// A Snapshot is the content of a report, all from one moment.
type Snapshot struct {
	Slices []Slice // by directory and task too
	Peers  []Slice // the calls with which these can be compared, nil if these are all
	Arms   []ChainSums
	Chains []ChainCalls // the most recently used first
}

// ChainCalls are a chain and its calls in the period.
type ChainCalls struct {
	ChainRow              // without its sessions and its latest invocation
	Latest   []Invocation // the earliest first
}

// SnapshotLimits bounds the size of a snapshot, however large the ledger is.
type SnapshotLimits struct {
	Chains int // of the recently used ones, those with the most calls
	Calls  int // of each of them, the latest
	Keys   int // directories and tasks
}

// recently is how many recently used chains the displayed ones are chosen from.
const recently = 500

// ReadSnapshot reads the selected calls. It counts runs whose prompts together had more than
// longPrompt tokens separately. It blocks no writer.
func ReadSnapshot(l *ledger.Ledger, f Filter, longPrompt int64, most SnapshotLimits) (s Snapshot, err error) {
	err = l.InOneMoment(func(q ledger.Queryer) (err error) {
		if s.Slices, err = readFineSlices(q, f, longPrompt, most.Keys); err != nil {
			return ledger.Wrap("sum up days", err)
		}
		if s.Peers, err = Peers(q, f, longPrompt); err != nil {
			return err
		}
		if slices.ContainsFunc(s.Slices, func(s Slice) bool { return s.Arm != "" }) { // for a million calls it takes a second
			if s.Arms, err = Arms(q, f); err != nil {
				return err
			}
		}
		s.Chains, err = chainCalls(l, q, f, most)
		return ledger.Wrap("list chains", err)
	})
	return s, err
}

func chainCalls(l *ledger.Ledger, q ledger.Queryer, f Filter, most SnapshotLimits) (chains []ChainCalls, err error) {
	p := f.Times()
	of := f
	of.Period = Period{}
	condition, args := of.ofCalls("chain_id", "c.id")
	chains, err = ledger.List(q, `SELECT id, tool, cwd, task, role, created, updated FROM (
			SELECT *, (SELECT count(*) FROM invocations WHERE chain_id = c.id) AS calls FROM chains c
			WHERE updated >= ? AND created < ? AND `+condition+` ORDER BY updated DESC, id DESC LIMIT ?)
		ORDER BY calls DESC, updated DESC, id DESC LIMIT ?`,
		func(c *ChainCalls) []any {
			return []any{&c.ID, &c.Tool, &c.Cwd, &c.Task, &c.Role, &c.Created, &c.Updated}
		}, slices.Concat([]any{p.Since, p.Until}, args, []any{recently, most.Chains})...)
	if err != nil {
		return nil, err
	}
	for i := range chains {
		if err := chains[i].read(l, q, f, most.Calls); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(chains, func(a, b ChainCalls) int {
		return cmp.Or(cmp.Compare(b.Updated, a.Updated), cmp.Compare(b.ID, a.ID))
	})
	return slices.DeleteFunc(chains, func(c ChainCalls) bool { return c.Calls == 0 }), nil
}

func (c *ChainCalls) read(l *ledger.Ledger, q ledger.Queryer, f Filter, most int) error {
	among, args := f.among("i.")
	args = append([]any{c.ID}, args...)
	if err := ledger.Each(q, "SELECT count(*), coalesce(sum("+continued+"), 0) FROM invocations i WHERE chain_id = ? AND "+among,
		func(rows *sql.Rows) error { return rows.Scan(&c.Calls, &c.Resumed) }, args...); err != nil {
		return err
	}
	var err error
	c.Latest, err = invocationsIn(l, q, "i.chain_id = ? AND "+among+" ORDER BY i.id DESC LIMIT ?", append(args, most)...)
	slices.Reverse(c.Latest)
	return err
}
