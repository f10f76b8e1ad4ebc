package ledger

import (
	"cmp"
	"database/sql"
	"slices"
	"syscall"

	"reprise/ledger/decide"
	"reprise/rewrite/reason"
)

// endings are the signals by which callers, users and systems end a run. Another one is the tool's own crash.
var endings = []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL}

// against returns what a failed run says against the session that its own is a copy of, "" for nothing.
func (o *Outcome) against() reason.Code {
	s := &o.Seen
	if s.Refusal == reason.ControlRequest { // the caller has changed the copy
		return ""
	}
	if s.Refusal == "" && (s.Outside != "" || slices.Contains(endings, syscall.Signal(o.Signal))) {
		return ""
	}
	return cmp.Or(s.Refusal, reason.Unexplained)
}

// spareSource records with the session that a failed copy was made of that it is continued again, though not
// forever, or what speaks against that. Another role's session is not judged by it.
func spareSource(tx *sql.Tx, failed int64, against reason.Code) error {
	_, err := tx.Exec(`UPDATE sessions SET errors = errors + 1, state_why = CASE WHEN ?1 <> '' AND state = ?2 THEN ?1 ELSE state_why END
		WHERE id = (SELECT parent_id FROM sessions WHERE id = ?3) AND chain_id = (SELECT chain_id FROM sessions WHERE id = ?3)`, against, decide.Live, failed)
	return err
}

// onlyLost reports whether a session was continued only in copies that are lost, so that it is still an end.
func (l *Ledger) onlyLost(f *decide.Facts, session int64) bool {
	lost, copies := f.Lost(session), 0
	if lost == 0 {
		return false
	}
	err := l.db.QueryRow("SELECT count(*) FROM sessions k JOIN sessions s ON s.id = k.parent_id AND s.chain_id = k.chain_id WHERE s.id = ? AND k.state IN ('live', 'running')", session).Scan(&copies)
	return err == nil && copies == lost
}
