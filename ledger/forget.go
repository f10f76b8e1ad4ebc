package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"reprise/rewrite"
)

// A ChainName identifies a chain.
type ChainName struct {
	ID         int64
	Tool, Cwd  string
	Task, Role string
	NativeIDs  []string // of the sessions, also if only calls have reported them; the newest last
}

// MinPrefix is the least length of a native ID's prefix.
const MinPrefix = 4

// FindChains returns the chains that name can mean: the chain with that number behind a c,
// otherwise the chains of that task, otherwise the chains of sessions with a native ID of that
// prefix.
func (l *Ledger) FindChains(name string) ([]ChainName, error) {
	conditions := []string{"'c' || id = ?", "task <> '' AND task = ?"}
	if len(name) >= MinPrefix {
		conditions = append(conditions,
			"id IN (SELECT chain_id FROM sessions WHERE substr(native_id, 1, length(?1)) = ?1)")
	}
	for _, condition := range conditions {
		chains, err := List(l, `SELECT id, tool, cwd, task, role, (
			SELECT json_group_array(native_id) FROM (SELECT native_id FROM (SELECT id, native_id FROM sessions WHERE chain_id = chains.id
				UNION ALL SELECT session_id, native_id FROM calls WHERE chain_id = chains.id
				UNION ALL SELECT session_id, resumed_from FROM calls WHERE chain_id = chains.id)
			WHERE native_id IS NOT NULL GROUP BY native_id ORDER BY max(id)))
			FROM chains WHERE `+condition+" ORDER BY id", func(c *ChainName) []any {
			return []any{&c.ID, &c.Tool, &c.Cwd, &c.Task, &c.Role, jsonColumn{&c.NativeIDs}}
		}, name)
		if err != nil || len(chains) > 0 {
			return chains, Wrap("find chain", err)
		}
	}
	return nil, nil
}

// ErrInUse reports that a live process still needs a chain.
var ErrInUse = errors.New("a live process holds a session of it")

// Forget removes a chain entirely: the sessions, the calls, the calls where the caller itself
// named the sessions, and the measured costs of the rules unless other calls have the rule too. The
// removed data is overwritten. A dry run only counts.
func (l *Ledger) Forget(c ChainName, dry bool) (f Removal, err error) {
	defer func() { err = Wrap(fmt.Sprintf("forget chain c%d", c.ID), err) }()
	if err := l.RecordSpooled(); err != nil { // no outcome of the chain must remain in the spool
		return f, err
	}
	if _, err := l.db.Exec("PRAGMA secure_delete = ON"); err != nil {
		return f, err
	}
	err = l.write(func(tx *sql.Tx) (err error) {
		if f, err = dropNamed(tx, c); err == nil && dry {
			return errTakenBack
		}
		return err
	})
	if errors.Is(err, errTakenBack) {
		return f, nil
	}
	if err == nil {
		err = Wrap("it is removed, but traces of it may be left", l.scrub())
	}
	return f, err
}

func dropNamed(tx *sql.Tx, c ChainName) (f Removal, err error) {
	busy, err := clearLeases(tx, "WHERE s.chain_id = ?", c.ID)
	if err != nil {
		return f, err
	}
	if len(busy) > 0 {
		return f, ErrInUse
	}
	if err := f.dropChain(tx, c.ID, -1); err != nil {
		return f, err
	}
	observed, err := dropCalls(tx, "mode = ? AND native_id IN (SELECT value FROM json_each(?))", -1,
		rewrite.Observe, EncodeJSON(c.NativeIDs))
	if err != nil {
		return f, err
	}
	f.Calls += observed
	// Passed calls belong to no chain. The rest of the directory's last chain would still name it.
	_, err = tx.Exec("DELETE FROM passed WHERE cwd = ?1 AND NOT EXISTS (SELECT 1 FROM chains "+
		"WHERE cwd = ?1)", c.Cwd)
	return f, err
}

// scrubTime is how long other processes can delay a scrub.
const scrubTime = 10 * time.Second

// scrub rewrites the ledger without the removed rows, and empties the log. Meanwhile no
// other process can write.
func (l *Ledger) scrub() error {
	// VACUUM does not need secure_delete, but rows that moved before it was on might have left
	// traces in their old pages.
	err := l.insist(func() error {
		_, err := l.db.Exec("VACUUM")
		return err
	})
	if err != nil {
		return fmt.Errorf("rewrite ledger: %w", err)
	}
	return Wrap("empty the ledger's log", l.insist(func() error {
		var busy, frames, moved int
		err := l.db.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
		if err == nil && busy != 0 {
			err = errBusy
		}
		return err
	}))
}

// insist retries for longer than a call could take.
func (l *Ledger) insist(try func() error) error {
	return retry(scrubTime, func() (error, bool) {
		err := l.withLock(callsTimeout, try)
		return err, IsLocked(err)
	})
}
