package ledger

import (
	"database/sql"
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

// readLeases reads the leases l of sessions s that a condition selects: those that live processes
// hold, and the others. There are few leases, and a chain might have many sessions: CROSS JOIN has
// SQLite go from the leases.
func readLeases(q Queryer, where string, args ...any) (held, dead []lease, err error) {
	all, err := List(q, `SELECT l.session_id, s.chain_id, l.boot, l.namespace, l.pid, l.pid_start,
		l.child, l.child_start, l.taken FROM leases l CROSS JOIN sessions s ON s.id = l.session_id `+where, (*lease).fields, args...)
	for _, l := range all {
		if l.held() {
			held = append(held, l)
		} else {
			dead = append(dead, l)
		}
	}
	return held, dead, err
}

func (l *lease) fields() []any {
	return []any{&l.session, &l.chain, &l.shim.Boot, &l.shim.Namespace, &l.shim.PID, &l.shim.Start,
		&l.child.PID, &l.child.Start, &l.taken}
}

// held reports whether shim or tool is alive. Both run under the first one's boot and namespace.
// Processes of another namespace count as alive for a day.
func (l lease) held() bool {
	if l.shim.Hidden() {
		age := decide.MillisOf(time.Now()) - l.taken
		return max(age, -age) < day // a lease from the future is of a clock that was set back
	}
	l.child.Boot, l.child.Namespace = l.shim.Boot, l.shim.Namespace
	return l.shim.Alive() || l.child.Alive()
}

// Held reports whether a live process holds the session.
func Held(q Queryer, session int64) (bool, error) {
	held, _, err := readLeases(q, "WHERE l.session_id = ?", session)
	return len(held) > 0, err
}

// clearLeases returns the leases that live processes hold, of the sessions that a condition
// selects. It removes the others, and records their calls as killed.
func clearLeases(tx *sql.Tx, where string, args ...any) (held []lease, err error) {
	held, dead, err := readLeases(tx, where, args...)
	for _, l := range dead {
		if err == nil {
			_, err = tx.Exec(`DELETE FROM leases WHERE session_id = ?; UPDATE calls
				SET outcome = 'killed' WHERE outcome IS NULL AND chain_id = ? AND session_id = ?`,
				l.session, l.chain, l.session)
		}
	}
	return held, err
}

// LastCalls is among how many of the latest calls are searched for calls without a recorded end.
const LastCalls = 1000

// EndLost records as killed the calls without a recorded end after shim and tool are gone, or a day
// after they began if they have no session, and removes their leases. Their sessions stay as they
// are. A call that was taken for lost records the end all the same.
func (l *Ledger) EndLost(now decide.Millis) error {
	_, dead, err := readLeases(l, "")
	if err != nil {
		return err
	}
	lost, err := Column[int64](l, `SELECT id FROM calls WHERE outcome IS NULL AND session_id IS NULL
			AND started < ? AND id > (SELECT max(id) FROM calls) - ?`, now-day, LastCalls)
	if err != nil || len(dead)+len(lost) == 0 {
		return err
	}
	if err := l.RecordSpooled(); err != nil { // it might have their ends
		return err
	}
	return l.write(func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE calls SET outcome = 'killed' WHERE outcome IS NULL AND id IN "+
			"(SELECT value "+
			"FROM json_each(?))", EncodeJSON(lost))
		if err == nil {
			_, err = clearLeases(tx, "")
		}
		return err
	})
}

func takeLease(tx *sql.Tx, session int64, p proc.Process, now decide.Millis) error {
	_, err := tx.Exec("INSERT OR REPLACE INTO leases (session_id, boot, namespace, pid, "+
		"pid_start, taken) VALUES (?, ?, "+
		"?, ?, ?, ?)",
		session, p.Boot, p.Namespace, p.PID, p.Start, now)
	return err
}
