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
	due, err = l.claim(job, passed, c.Now)
	return due, Wrap("note budgets", err)
}

// claim returns those of the budgets that have not been claimed for a job in their period, and claims them. A time in the future does
// not count.
func (l *Ledger) claim(job string, budgets []decide.Passed, now decide.Millis) (due []decide.Passed, err error) {
	if known, err := l.told(job, budgets, now); err != nil || known {
		return nil, err
	}
	err = l.write(func(tx *sql.Tx) error {
		due = nil
		for _, p := range budgets {
			n, err := changed(tx.Exec(`INSERT INTO told VALUES (?1, ?2, ?3) ON CONFLICT (job, budget) DO UPDATE SET told = excluded.told
				WHERE told NOT BETWEEN ?3 - ?4 AND ?3`, job, p.Key, now, p.Within(now)))
			if err != nil {
				return err
			}
			if n == 1 {
				due = append(due, p)
			}
		}
		_, err := tx.Exec("DELETE FROM told WHERE told < ? AND job <> '' AND job NOT IN (SELECT CAST(id AS TEXT) FROM chains)", now-2*day)
		return err
	})
	return due, err
}

// told reports whether all of the budgets are claimed. It takes no lock: most calls of such a job end here.
func (l *Ledger) told(job string, budgets []decide.Passed, now decide.Millis) (all bool, err error) {
	for _, p := range budgets {
		err := l.db.QueryRow("SELECT EXISTS (SELECT 1 FROM told WHERE job = ? AND budget = ? AND told BETWEEN ? AND ?)",
			job, p.Key, now-p.Within(now), now).Scan(&all)
		if err != nil || !all {
			return false, err
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

// ClaimDaily reports whether the last claim to do something is a day old, and claims it, as a budget of no job.
func (l *Ledger) ClaimDaily(what string, now decide.Millis) (due bool, err error) {
	claimed, err := l.claim("", []decide.Passed{{Key: what, Period: day}}, now)
	return len(claimed) == 1 && err == nil, err
}
