package ledger

import (
	"database/sql"
	"errors"
	"fmt"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A SessionFile is a session whose file the ledger knows, for prune and forget. The ledger has rows
// only for sessions that a fresh or forked run of ours began.
type SessionFile struct {
	ID, Chain         int64
	Tool, Home        string
	NativeID          string
	State             decide.State
	Created, LastUsed decide.Millis
	File              string
	Stamp             decide.Stamp  // when our last run ended
	Held              bool          // a live process holds its lease
	Current           bool          // its chain has not begun anew since: a call may continue it
	Reset             bool          // an answer has ended it
	Observed          bool          // the caller itself has named it in some call
	Superseded        decide.Millis // when a copy that continues it was last used, 0 if it may still be needed
	Copied            bool          // a copy of it, or a copy of one, has its files
}

// SessionFiles returns the sessions of a chain, or with chain 0 of all, whose files have not been
// pruned.
func (l *Ledger) SessionFiles(chain int64) ([]SessionFile, error) {
	rows, err := l.db.Query(`
		SELECT s.id, s.chain_id, s.tool, c.home, coalesce(s.native_id, ''), s.state, s.created, s.last_used,
			s.file, coalesce(s.stamp, ''), coalesce(s.id >= coalesce(c.since, c.session_id), 0), s.reset,
			s.callers_own OR coalesce(s.native_id IN (SELECT native_id FROM invocations WHERE mode = ? AND native_id IS NOT NULL), 0), `+superseded+`, `+copiesHaveFiles+`
		FROM sessions s JOIN chains c ON c.id = s.chain_id
		WHERE s.file IS NOT NULL AND (? = 0 OR s.chain_id = ?) ORDER BY s.id`, rewrite.Observe, chain, chain)
	if err != nil {
		return nil, fmt.Errorf("list session files: %w", err)
	}
	defer rows.Close()
	var files []SessionFile
	for rows.Next() {
		var f SessionFile
		if err := rows.Scan(&f.ID, &f.Chain, &f.Tool, &f.Home, &f.NativeID, &f.State, &f.Created, &f.LastUsed,
			&f.File, &f.Stamp, &f.Current, &f.Reset, &f.Observed, &f.Superseded, &f.Copied); err != nil {
			return nil, fmt.Errorf("list session files: %w", err)
		}
		files = append(files, f)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list session files: %w", err)
	}
	for i := range files {
		if files[i].Held, err = sessionHeld(l.db, files[i].ID); err != nil {
			return nil, fmt.Errorf("read leases: %w", err)
		}
	}
	return files, nil
}

// superseded is SQL for when a copy that continues a session was last used. It is 0 for the end of a chain, for a session
// of which a copy runs or has failed, since that may be continued again, and for one that machines share.
const superseded = `CASE WHEN s.state = 'live' AND s.shared = '' AND NOT EXISTS (SELECT 1 FROM sessions k
			WHERE k.parent_id = s.id AND k.chain_id = s.chain_id AND k.state NOT IN ('live', 'dead'))
		THEN coalesce((SELECT max(k.last_used) FROM sessions k WHERE k.parent_id = s.id AND k.chain_id = s.chain_id AND k.state = 'live' AND k.file IS NOT NULL), 0) ELSE 0 END`

// copiesHaveFiles is SQL that reports whether files are left of a session's copies and of theirs.
const copiesHaveFiles = `EXISTS (WITH RECURSIVE copies (id, file) AS (SELECT id, file FROM sessions WHERE parent_id = s.id
			UNION ALL SELECT k.id, k.file FROM sessions k JOIN copies ON k.parent_id = copies.id)
		SELECT 1 FROM copies WHERE file IS NOT NULL)`

// HasSuperseded reports whether there are sessions that copies continued, all before a time.
func (l *Ledger) HasSuperseded(before decide.Millis) (has bool, err error) {
	err = l.db.QueryRow("SELECT EXISTS (SELECT 1 FROM sessions s WHERE s.file IS NOT NULL AND s.last_used < ?1 AND "+
		superseded+" BETWEEN 1 AND ?1)", before).Scan(&has)
	return has, err
}

// Retire records that a session's file is about to be removed: no call resumes it any more. ok is
// false if a live process holds the session, or it has been used or continued since it was listed.
func (l *Ledger) Retire(f SessionFile) (ok bool, err error) {
	err = l.write(func(tx *sql.Tx) error {
		busy, err := sessionHeld(tx, f.ID)
		if err != nil || busy {
			return err
		}
		result, err := tx.Exec(`UPDATE sessions AS s SET state = ?, state_why = ? WHERE id = ? AND last_used = ? AND file = ?
			AND (? = 0 OR NOT EXISTS (SELECT 1 FROM sessions k WHERE k.parent_id = s.id AND k.state = ?))`,
			decide.Dead, reason.Pruned, f.ID, f.LastUsed, f.File, f.Superseded, decide.Running)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		ok = n == 1
		return err
	})
	if err != nil {
		return false, fmt.Errorf("retire session: %w", err)
	}
	return ok, nil
}

// Pruned records that a session's file is gone.
func (l *Ledger) Pruned(session int64) error {
	err := l.write(func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE sessions SET file = NULL, stamp = NULL WHERE id = ?", session)
		return err
	})
	if err != nil {
		return fmt.Errorf("note pruned session: %w", err)
	}
	return nil
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

// DropBefore removes what was last used before a time: chains of which no live process holds a
// session, with their sessions and calls, and calls that belong to no chain. A call without an
// outcome may still run and is kept for a day longer. With dry it only counts.
func (l *Ledger) DropBefore(before decide.Millis, dry bool) (chains, calls int64, err error) {
	err = l.write(func(tx *sql.Tx) error {
		old, err := oldChains(tx, before)
		if err != nil {
			return err
		}
		// Each removed session is searched for among all calls.
		if _, err := tx.Exec("CREATE INDEX dropping ON invocations (session_id)"); err != nil {
			return err
		}
		for _, chain := range old {
			n, err := dropChain(tx, chain)
			if err != nil {
				return err
			}
			chains, calls = chains+1, calls+n
		}
		n, err := changed(tx.Exec(`DELETE FROM invocations WHERE chain_id IS NULL AND started < ?1
			AND (outcome IS NOT NULL OR started < ?1 - ?2)`, before, day))
		calls += n
		if err == nil {
			_, err = tx.Exec("DELETE FROM passed WHERE last < ?", before)
		}
		if err == nil {
			_, err = tx.Exec("DROP INDEX dropping")
		}
		if err == nil && dry {
			return errDry
		}
		return err
	})
	if err != nil && !errors.Is(err, errDry) {
		return 0, 0, fmt.Errorf("remove old chains: %w", err)
	}
	return chains, calls, nil
}

// errDry rolls a write back.
var errDry = errors.New("dry run")

func oldChains(tx *sql.Tx, before decide.Millis) (free []int64, err error) {
	var chains []int64
	err = Each(tx, "SELECT id FROM chains WHERE updated < ?", func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		chains = append(chains, id)
		return err
	}, before)
	if err != nil {
		return nil, err
	}
	for _, chain := range chains {
		busy, err := chainHeld(tx, chain)
		if err != nil {
			return nil, err
		}
		if !busy {
			free = append(free, chain)
		}
	}
	return free, nil
}

func dropChain(tx *sql.Tx, chain int64) (calls int64, err error) {
	if calls, err = changed(tx.Exec("DELETE FROM invocations WHERE chain_id = ?", chain)); err != nil {
		return 0, err
	}
	_, err = tx.Exec("DELETE FROM chains WHERE id = ?", chain)
	return calls, err
}
