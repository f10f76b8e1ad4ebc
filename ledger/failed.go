package ledger

import (
	"database/sql"

	"reprise/ledger/decide"
	"reprise/rewrite/reason"
)

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
