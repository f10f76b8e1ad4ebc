package ledger

import (
	"database/sql"
	"strconv"

	"reprise/ledger/decide"
	"reprise/rewrite/reason"
)

// ClaimTold returns those of the budgets that a call's job has passed of which the user has not been told in the budget's
// period, and notes that he is now. chain is the job's, why the reason of the decision on the call.
func (l *Ledger) ClaimTold(c *Call, chain int64, why reason.Code, passed []decide.Passed) (due []decide.Passed, err error) {
	job := strconv.FormatInt(chain, 10)
	if chain == 0 || why == reason.Identical && c.Task == "" {
		job = l.key.Name("repeated prompts\x00" + c.Tool + "\x00" + c.Cwd)
	}
	known, err := l.told(job, passed, c.Now)
	if err != nil || known {
		return nil, err
	}
	err = l.write(func(tx *sql.Tx) error {
		due = nil
		for _, p := range passed {
			n, err := changed(tx.Exec(`INSERT INTO told VALUES (?1, ?2, ?3) ON CONFLICT (job, budget) DO UPDATE SET told = excluded.told
				WHERE told NOT BETWEEN ?3 - ?4 AND ?3`, job, p.Key, c.Now, p.Within(c.Now)))
			if err != nil {
				return err
			}
			if n == 1 {
				due = append(due, p)
			}
		}
		_, err := tx.Exec("DELETE FROM told WHERE told < ? AND job NOT IN (SELECT CAST(id AS TEXT) FROM chains)", c.Now-2*day)
		return err
	})
	return due, Wrap("note budgets", err)
}

// told reports whether the user has been told of all of the budgets. It takes no lock: most calls of such a job end here.
func (l *Ledger) told(job string, passed []decide.Passed, now decide.Millis) (all bool, err error) {
	for _, p := range passed {
		err := l.db.QueryRow("SELECT EXISTS (SELECT 1 FROM told WHERE job = ? AND budget = ? AND told BETWEEN ? AND ?)",
			job, p.Key, now-p.Within(now), now).Scan(&all)
		if err != nil || !all {
			return false, Wrap("read budgets", err)
		}
	}
	return true, nil
}

// day is how often the shims do at most what they do once a day.
const day = decide.Millis(24 * 3_600_000)

// What the shims do at most once a day.
const (
	PruneAll        = "prune"
	PruneSuperseded = "prune_superseded"
	NoteResumed     = "note"
)

// ClaimDaily reports whether the last claim to do something is a day old, and claims it. A time in the
// future does not count.
func (l *Ledger) ClaimDaily(what string, now decide.Millis) (due bool, err error) {
	const last = "(SELECT value FROM meta WHERE name = ?3)"
	if err := l.db.QueryRow("SELECT coalesce("+last+" NOT BETWEEN ?1 - ?2 AND ?1, 1)", now, day, what).Scan(&due); err != nil || !due {
		return false, err
	}
	err = l.write(func(tx *sql.Tx) error {
		n, err := changed(tx.Exec(`INSERT INTO meta VALUES (?3, ?1) ON CONFLICT (name) DO UPDATE SET value = excluded.value
			WHERE value NOT BETWEEN ?1 - ?2 AND ?1`, now, day, what))
		due = n == 1
		return err
	})
	return due && err == nil, err
}
