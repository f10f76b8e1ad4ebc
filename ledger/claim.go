package ledger

import (
	"database/sql"

	"reprise/ledger/decide"
)

// day is the shortest time between two claims to do the same.
const day = decide.Millis(24 * 3_600_000)

// The tasks that shims do at most once a day.
const (
	PruneAll        = "prune"
	PruneSuperseded = "prune_superseded"
)

// ClaimDaily reports whether the last claim to do something is a day old, and claims it. A claim from the
// future does not count.
func (l *Ledger) ClaimDaily(what string, now decide.Millis) (due bool, err error) {
	claimed, err := l.exists("FROM daily WHERE what = ? AND claimed BETWEEN ? AND ?", what, now-day, now)
	if err == nil && !claimed { // the query takes no lock: most calls end here
		err = l.write(func(tx *sql.Tx) error {
			n, err := changed(tx.Exec(`INSERT INTO daily VALUES (?1, ?2) ON CONFLICT (what) DO UPDATE
				SET claimed = excluded.claimed
				WHERE claimed NOT BETWEEN ?2 - ?3 AND ?2`, what, now, day))
			due = n == 1
			return err
		})
	}
	return due && err == nil, Wrap("claim the day's "+what, err)
}
