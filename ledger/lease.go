package ledger

import (
	"database/sql"
	"errors"

	"reprise/ledger/decide"
	"reprise/ledger/proc"
)

type queryer interface {
	QueryRow(query string, args ...any) *sql.Row
}

// A lease says who holds a session: the shim that took it, and the tool it started, which may
// outlive it.
type lease struct{ shim, child proc.Process }

// leaseColumns selects the fields of a lease.
const leaseColumns = "SELECT l.boot, l.pid, l.pid_start, l.child, l.child_start"

func (l *lease) fields() []any {
	return []any{&l.shim.Boot, &l.shim.PID, &l.shim.Start, &l.child.PID, &l.child.Start}
}

// held reports whether one of them is alive. Both run under the first one's boot.
func (l lease) held() bool {
	l.child.Boot = l.shim.Boot
	return l.shim.Alive() || l.child.Alive()
}

// Held reports whether a live process holds the session.
func (l *Ledger) Held(session int64) (bool, error) { return sessionHeld(l.db, session) }

// sessionHeld reports whether a live process holds the session.
func sessionHeld(q queryer, session int64) (bool, error) {
	var l lease
	err := q.QueryRow(leaseColumns+" FROM leases l WHERE l.session_id = ?", session).Scan(l.fields()...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil && l.held(), err
}

func takeLease(tx *sql.Tx, session int64, p proc.Process, now decide.Millis) error {
	_, err := tx.Exec("INSERT OR REPLACE INTO leases (session_id, boot, pid, pid_start, taken) VALUES (?, ?, ?, ?, ?)",
		session, p.Boot, p.PID, p.Start, now)
	return err
}

// chainHeld reports whether a live process holds a session of the chain.
func chainHeld(tx *sql.Tx, chain int64) (held bool, err error) {
	// There are few leases, and a chain may have many sessions: CROSS JOIN has SQLite go from the leases.
	err = Each(tx, leaseColumns+" FROM leases l CROSS JOIN sessions s ON s.id = l.session_id WHERE s.chain_id = ?", func(rows *sql.Rows) error {
		var l lease
		err := rows.Scan(l.fields()...)
		held = held || err == nil && l.held()
		return err
	}, chain)
	return held, err
}
