package ledger

import (
	"database/sql"
	"errors"
	"slices"
	"time"

	"reprise/ledger/decide"
	"reprise/ledger/proc"
)

// A lease says who holds a session: the shim that took it, and the tool it started, which can
// outlive it.
type lease struct {
	session, chain int64
	shim, child    proc.Process
	taken          decide.Millis
}

// readLeases reads the leases l of sessions s that a condition selects. There are few leases, and a
// chain might have many sessions: CROSS JOIN has SQLite go from the leases.
func readLeases(q Queryer, where string, args ...any) ([]lease, error) {
	return List(q, `SELECT l.session_id, s.chain_id, l.boot, l.namespace, l.pid, l.pid_start, l.child,
		l.child_start, l.taken
		FROM leases l CROSS JOIN sessions s ON s.id = l.session_id `+where, (*lease).fields, args...)
}

func (l *lease) fields() []any {
	return []any{&l.session, &l.chain, &l.shim.Boot, &l.shim.Namespace, &l.shim.PID, &l.shim.Start,
		&l.child.PID, &l.child.Start, &l.taken}
}

// held reports whether shim or tool is alive. Both run under the first one's boot and namespace.
// Processes of another namespace count as alive for a day.
func (l lease) held() bool {
	if l.shim.Hidden() {
		return decide.MillisOf(time.Now())-l.taken < lostAfter
	}
	l.child.Boot, l.child.Namespace = l.shim.Boot, l.shim.Namespace
	return l.shim.Alive() || l.child.Alive()
}

// Held reports whether a live process holds the session.
func (l *Ledger) Held(session int64) (bool, error) { return sessionHeld(l.db, session) }

// sessionHeld reports whether a live process holds the session.
func sessionHeld(q Queryer, session int64) (bool, error) {
	leases, err := readLeases(q, "WHERE l.session_id = ?", session)
	return slices.ContainsFunc(leases, lease.held), err
}

// heldIn returns the sessions of a chain that live processes hold. It removes the leases of
// processes that are gone.
func heldIn(tx *sql.Tx, chain int64) (sessions []int64, err error) {
	leases, err := readLeases(tx, "WHERE s.chain_id = ?", chain)
	for _, l := range leases {
		if l.held() {
			sessions = append(sessions, l.session)
		}
	}
	return sessions, errors.Join(err, dropDead(tx, leases))
}

// dropDead removes the leases that no process holds any more.
func dropDead(tx *sql.Tx, leases []lease) error {
	dead := []int64{} // nil would be null
	for _, l := range leases {
		if !l.held() {
			dead = append(dead, l.session)
		}
	}
	if len(dead) == 0 {
		return nil
	}
	_, err := tx.Exec("DELETE FROM leases WHERE session_id IN (SELECT value FROM json_each(?))", EncodeJSON(dead))
	return err
}

// lostAfter is when a call is taken for lost if nothing shows whether the process lives: it has no session, or
// runs in another namespace.
const lostAfter decide.Millis = 24 * 3_600_000

// lastCalls is among how many of the latest calls EndLost searches for these.
const lastCalls = 1000

// EndLost records as killed the calls without a recorded end after shim and tool are gone, and removes their
// leases. Their sessions stay as they are. A call that was taken for lost records the end all the same.
func (l *Ledger) EndLost(now decide.Millis) error {
	lost, err := l.lost(now)
	if err != nil || len(lost) == 0 {
		return err
	}
	if err := l.Settle(); err != nil { // it might have their ends
		return err
	}
	return l.write(func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE calls SET outcome = 'killed' WHERE outcome IS NULL AND id IN (SELECT value "+
			"FROM json_each(?))", EncodeJSON(lost))
		if err != nil {
			return err
		}
		leases, err := readLeases(tx, "")
		if err != nil {
			return err
		}
		return dropDead(tx, leases)
	})
}

// lost returns the calls without an outcome of processes that are gone.
func (l *Ledger) lost(now decide.Millis) (calls []int64, err error) {
	leases, err := readLeases(l, "")
	for _, held := range leases {
		if err != nil || held.held() {
			continue
		}
		var of []int64
		of, err = Column[int64](l, `SELECT id FROM calls WHERE chain_id = ? AND session_id = ?
			AND outcome IS NULL`, held.chain, held.session)
		calls = append(calls, of...)
	}
	if err != nil {
		return nil, err
	}
	without, err := Column[int64](l, `SELECT id FROM calls WHERE outcome IS NULL AND session_id IS NULL
		AND started < ? AND id > (SELECT max(id) FROM calls) - ?`, now-lostAfter, lastCalls)
	return append(calls, without...), err
}

func takeLease(tx *sql.Tx, session int64, p proc.Process, now decide.Millis) error {
	_, err := tx.Exec("INSERT OR REPLACE INTO leases (session_id, boot, namespace, pid, pid_start, taken) VALUES (?, ?, "+
		"?, ?, ?, ?)",
		session, p.Boot, p.Namespace, p.PID, p.Start, now)
	return err
}
