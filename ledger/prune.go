package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A SessionFile is a session with a file that the ledger knows, for prune and forget. The ledger
// has rows only for sessions that a fresh or forked run of ours began.
type SessionFile struct {
	ID    int64  `db:"id"`
	Chain int64  `db:"chain_id"`
	Tool  string `db:"tool"`
	Home  string `db:"c.home"`
	decide.SessionRecord
	Held     bool // a live process holds the lease
	Current  bool // the chain has not begun anew since: a call can continue it
	Observed bool // the caller itself has named it in some call
	// when a copy that continues it was last used, 0 if it can still be needed
	Superseded decide.Millis
	Copied     bool // a copy of it, or a copy of one, has the files
}

var fileRows = newTable[SessionFile]("sessions")

// SessionFiles returns the sessions of a chain, or with chain 0 of all, with files that have not
// been pruned.
func (l *Ledger) SessionFiles(chain int64) ([]SessionFile, error) {
	files, err := List(l, "SELECT "+fileRows.columns("s")+`,
			coalesce(s.id >= coalesce(c.since, c.session_id), 0), s.callers_own OR coalesce(s.native_id IN (SELECT native_id FROM calls WHERE mode = ?
			AND native_id IS NOT NULL), 0), `+superseded+`, `+copiesHaveFiles+`
		FROM sessions s JOIN chains c ON c.id = s.chain_id
		WHERE s.file IS NOT NULL AND (? = 0 OR s.chain_id = ?) ORDER BY s.id`, func(f *SessionFile) []any {
		return append(fileRows.fields(f), &f.Current, &f.Observed, &f.Superseded, &f.Copied)
	}, rewrite.Observe, chain, chain)
	held, _, failed := readLeases(l, "")
	for i := range files {
		isIts := func(l lease) bool { return l.session == files[i].ID }
		files[i].Held = slices.ContainsFunc(held, isIts)
	}
	return files, Wrap("list session files", errors.Join(err, failed))
}

// superseded is SQL for when a copy that continues a session was last used. It is 0 for the end of
// a chain, for a session with a copy that runs or has failed, since that session can be continued
// again, and for a session that machines share.
const superseded = `CASE WHEN s.state = 'live' AND s.shared = '' AND NOT EXISTS (SELECT 1 FROM sessions k
			WHERE k.parent_id = s.id AND k.chain_id = s.chain_id AND k.state NOT IN ('live', 'dead'))
		THEN coalesce((SELECT max(k.last_used) FROM sessions k WHERE k.parent_id = s.id AND k.chain_id = s.chain_id
		AND k.state = 'live' AND k.file IS NOT NULL), 0) ELSE 0 END`

// copiesHaveFiles is SQL that reports whether files are left of a session's copies and of theirs.
const copiesHaveFiles = `EXISTS (WITH RECURSIVE copies (id, file) AS (SELECT id, file FROM sessions
	WHERE parent_id = s.id
			UNION ALL SELECT k.id, k.file FROM sessions k JOIN copies ON k.parent_id = copies.id)
		SELECT 1 FROM copies WHERE file IS NOT NULL)`

// HasSuperseded reports whether there are sessions that copies continued, all before a time.
func (l *Ledger) HasSuperseded(before decide.Millis) (bool, error) {
	return l.exists("FROM sessions s WHERE s.file IS NOT NULL AND s.last_used < ?1 AND "+superseded+
		" BETWEEN 1 AND ?1", before)
}

// Retire records that a session's file is about to be removed: no call resumes it any more. ok is
// false if a live process holds the session, or it has been used or continued since it was listed.
func (l *Ledger) Retire(f SessionFile) (ok bool, err error) {
	err = l.write(func(tx *sql.Tx) error {
		busy, err := Held(tx, f.ID)
		if err != nil || busy {
			return err
		}
		n, err := changed(tx.Exec(`UPDATE sessions AS s SET state = ?, state_why = ? WHERE id = ? AND last_used = ?
			AND file = ?
			AND (? = 0 OR NOT EXISTS (SELECT 1 FROM sessions k WHERE k.parent_id = s.id AND k.state = ?))`,
			decide.Dead, reason.Pruned, f.ID, f.LastUsed, f.File, f.Superseded, decide.Running))
		ok = n == 1
		return err
	})
	return ok, Wrap("retire session", err)
}

// Pruned records that a session's file is gone.
func (l *Ledger) Pruned(session int64) error {
	return Wrap("note pruned session",
		l.exec("UPDATE sessions SET file = NULL, stamp = NULL WHERE id = ?", session))
}

// Reset ends the chain's sessions: the next call begins anew.
func (l *Ledger) Reset(chain int64) error {
	return l.exec("UPDATE sessions SET reset = 1 WHERE chain_id = ?", chain)
}

// dropAtOnce is how many calls are removed in one transaction, so that no other call waits long for
// it.
const dropAtOnce = 200

// DropBefore removes everything last used before a time: chains where no live process holds a
// session, with their sessions and calls, and calls that belong to no chain. A call without an
// outcome can still run and is kept for a day longer. Between the short transactions other calls
// write. Each chain is removed in one transaction, unless it has dropAtOnce calls or more: then it
// loses these first. With dry it only counts.
func (l *Ledger) DropBefore(before decide.Millis, dry bool) (chains, calls int64, err error) {
	if dry {
		held, err := heldChains(l)
		if err == nil {
			err = l.db.QueryRow(`SELECT (SELECT count(*) FROM chains WHERE `+oldChains+`),
				(SELECT count(*) FROM calls WHERE `+oldUnchained+`
				OR chain_id IN (SELECT id FROM chains WHERE `+oldChains+`))`,
				before, day, held).Scan(&chains, &calls)
		}
		return chains, calls, Wrap("remove old chains", err)
	}
	for more := true; more && err == nil; {
		var d Removal
		var start time.Time
		err = l.insist(func() error {
			start = time.Now()
			return l.transact(func(tx *sql.Tx) (err error) {
				d, more, err = dropSome(tx, before)
				return err
			})
		})
		chains, calls = chains+d.Chains, calls+d.Calls
		if err == nil {
			pause := max(time.Since(start), lockPause)
			err = l.Fold()
			time.Sleep(pause) // other calls have the ledger as long as this one had it
		}
	}
	if err == nil {
		err = l.exec("DELETE FROM passed WHERE last < ?", before)
	}
	return chains, calls, Wrap("remove old chains", err)
}

// The rows that DropBefore removes: chains that no process holds, and calls without a chain.
const (
	oldChains    = "updated < ?1 AND id NOT IN (SELECT value FROM json_each(?3))"
	oldUnchained = "chain_id IS NULL AND started < ?1 AND (outcome IS NOT NULL OR started < ?1 - " +
		"?2)"
)

// dropSome removes some old chains, or some of the calls of one, or else some calls without a
// chain. more reports that there can be more.
func dropSome(tx *sql.Tx, before decide.Millis) (d Removal, more bool, err error) {
	held, err := heldChains(tx)
	if err != nil {
		return d, false, err
	}
	old, err := Column[int64](tx, fmt.Sprint("SELECT id FROM chains WHERE ", oldChains,
		" ORDER BY updated, id LIMIT ", dropAtOnce), before, day, held)
	for _, chain := range old {
		if err == nil && d.Calls < dropAtOnce {
			err = d.dropChain(tx, chain, dropAtOnce)
		}
	}
	if err == nil && len(old) == 0 {
		d.Calls, err = dropCalls(tx, oldUnchained, dropAtOnce, before, day)
	}
	return d, len(old) > 0 || d.Calls == dropAtOnce, err
}

// heldChains returns the chains with sessions that live processes hold, as JSON.
func heldChains(q Queryer) (string, error) {
	held, _, err := readLeases(q, "")
	chains := make([]int64, len(held)) // nil would be null
	for i := range held {
		chains[i] = held[i].chain
	}
	return EncodeJSON(chains), err
}

// A Removal counts the removed rows.
type Removal struct{ Chains, Calls int64 }

// dropChain removes a chain with its sessions and calls, or at most limit of the calls if there are
// that many, -1 for all.
func (d *Removal) dropChain(tx *sql.Tx, chain, limit int64) error {
	calls, err := dropCalls(tx, "chain_id = ?", limit, chain)
	d.Calls += calls
	if err != nil || calls == limit {
		return err
	}
	chains, err := changed(tx.Exec("DELETE FROM chains WHERE id = ?", chain)) // and its sessions
	d.Chains += chains
	return err
}

// dropCalls removes the calls that a condition selects, at most limit of them, and returns how many
// there were.
func dropCalls(tx *sql.Tx, which string, limit int64, args ...any) (int64, error) {
	return changed(tx.Exec(fmt.Sprintf("DELETE FROM calls WHERE id IN (SELECT id FROM calls WHERE "+
		"%s LIMIT %d)", which, limit), args...))
}

const day = decide.Millis(24 * 3_600_000)

// The tasks that shims do at most once a day.
const (
	PruneAll        = "prune"
	PruneSuperseded = "prune_superseded"
)

// ClaimDaily reports whether the last claim to do something is a day old, and claims it. A claim
// from the future does not count.
func (l *Ledger) ClaimDaily(what string, now decide.Millis) (due bool, err error) {
	claimed, err := l.exists("FROM meta WHERE name = ? AND value BETWEEN ? AND ?", what, now-day,
		now)
	if err == nil && !claimed { // the query takes no lock: most calls end here
		err = l.write(func(tx *sql.Tx) error {
			n, err := changed(tx.Exec(`INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE
				SET value = excluded.value
				WHERE value NOT BETWEEN ?2 - ?3 AND ?2`, what, now, day))
			due = n == 1
			return err
		})
	}
	return due && err == nil, Wrap("claim the day's "+what, err)
}
