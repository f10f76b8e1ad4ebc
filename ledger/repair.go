package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"reprise/ledger/decide"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"

	"github.com/mattn/go-sqlite3"
)

// ErrSound reports that there is nothing to repair.
var ErrSound = errors.New("nothing is wrong with it")

// A Repaired is the result of repairing a damaged ledger.
type Repaired struct {
	Aside                   string // where the damaged file is now
	Chains, Sessions, Calls int64  // that were recovered
}

// Reset replaces whatever is at path by an empty ledger. It moves the old file and the files that
// belong to it aside, by appending suffix to their names. Nothing is deleted. If there is nothing,
// aside is "".
func Reset(path, suffix string) (aside string, err error) {
	release, ok := fileLock{path + ".lock"}.take(callsTimeout)
	if !ok {
		return "", fmt.Errorf("reset ledger: %w", Explain(errBusy))
	}
	aside, err = moveAside(path, suffix)
	release()
	if err != nil {
		return "", fmt.Errorf("reset ledger: %w", Explain(err))
	}
	l, err := Open(path)
	if err != nil {
		return aside, err
	}
	return aside, l.Close()
}

// Repair copies the readable part of a damaged ledger, with its key, into a new one that replaces
// it. It moves the damaged one aside as Reset does. A session's last runs may be among the losses,
// so no recovered session is resumed. A ledger whose key cannot be read is left as it is.
func Repair(path, suffix string) (r Repaired, err error) {
	if err := checkAt(path); err == nil {
		return r, fmt.Errorf("repair ledger: %w", ErrSound)
	} else if !errors.Is(err, ErrDamaged) {
		return r, err
	}
	release, ok := fileLock{path + ".lock"}.take(callsTimeout)
	if !ok {
		return r, fmt.Errorf("repair ledger: %w", Explain(errBusy))
	}
	defer release()
	fresh := path + suffix + ".new"
	defer removeFiles(fresh)
	if r, err = recoverInto(fresh, path); err == nil {
		r.Aside, err = moveAside(path, suffix)
	}
	if err == nil {
		err = os.Rename(fresh, path)
	}
	return r, Wrap("repair ledger", Explain(err))
}

// checkAt lets SQLite check the ledger at path.
func checkAt(path string) error {
	l, err := OpenExisting(path)
	if err != nil {
		return err
	}
	return errors.Join(l.Check(), l.Close())
}

// suffixes are the ends of the names of a ledger's files. The lock's file is not among them: another
// process may hold the lock.
var suffixes = []string{"", "-wal", "-shm", "-journal", ".spool", passedSuffix, oldPassedSuffix}

func moveAside(path, suffix string) (aside string, err error) {
	for _, part := range suffixes {
		to := path + suffix + part
		if _, err := os.Lstat(to); err == nil {
			return "", fmt.Errorf("move %s aside: %w", path, fs.ErrExist)
		}
		err := os.Rename(path+part, to)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("move %s aside: %w", path+part, err)
		}
		if err == nil && part == "" {
			aside = to
		}
	}
	return aside, nil
}

func removeFiles(path string) {
	for _, part := range suffixes {
		_ = os.Remove(path + part) // most do not exist
	}
}

// recoverInto creates a ledger at fresh from what can be read at damaged.
func recoverInto(fresh, damaged string) (r Repaired, err error) {
	old, err := sql.Open("sqlite3", fmt.Sprintf("file:%s?mode=rw&_query_only=1", url.PathEscape(damaged)))
	if err != nil {
		return r, err
	}
	defer old.Close()
	old.SetMaxOpenConns(1)
	var key prompt.Key
	if err := old.QueryRow("SELECT value FROM meta WHERE name = 'key'").Scan(&key); err != nil {
		return r, fmt.Errorf("read its key: %w", Explain(err))
	}
	removeFiles(fresh)
	l, err := Open(fresh)
	if err != nil {
		return r, err
	}
	defer func() {
		err = errors.Join(err, l.Close())
		_ = os.Remove(l.lock.path)
	}()
	err = l.withoutKeys(func() error {
		return l.write(func(tx *sql.Tx) error { return copyTables(tx, old) })
	})
	if err != nil {
		return r, err
	}
	err = l.db.QueryRow(`SELECT (SELECT count(*) FROM chains), (SELECT count(*) FROM sessions), (SELECT count(*) FROM invocations)`).
		Scan(&r.Chains, &r.Sessions, &r.Calls)
	return r, errors.Join(err, l.Check())
}

func copyTables(tx *sql.Tx, old *sql.DB) error {
	tables, err := tableNames(tx)
	if err != nil {
		return err
	}
	for _, table := range tables {
		if !hasTable(old, table) {
			continue
		}
		if err := copyTable(tx, old, table); err != nil {
			return fmt.Errorf("copy %s: %w", table, err)
		}
	}
	_, err = tx.Exec(mend, decide.Running, reason.Repaired, decide.Live)
	return err
}

// mend makes recovered rows consistent, and lets no session be continued.
const mend = `
UPDATE sessions SET state = ?, state_why = ? WHERE state = ?;
DELETE FROM sessions WHERE chain_id NOT IN (SELECT id FROM chains);
DELETE FROM leases WHERE session_id NOT IN (SELECT id FROM sessions);
UPDATE chains SET session_id = NULL WHERE session_id NOT IN (SELECT id FROM sessions);
DELETE FROM invocations WHERE chain_id NOT IN (SELECT id FROM chains) OR session_id NOT IN (SELECT id FROM sessions);
DELETE FROM answers WHERE invocation NOT IN (SELECT id FROM invocations);
`

// copyTable copies the readable rows of a table: from its start up to the damage, and from its end
// back to it.
func copyTable(to *sql.Tx, from *sql.DB, table string) error {
	for _, order := range []string{"ASC", "DESC"} {
		err := copyRows(to, from, table, order)
		if err == nil {
			return nil
		}
		if !errors.Is(Explain(err), ErrDamaged) {
			return err
		}
	}
	return nil
}

func tableNames(q Queryer) ([]string, error) {
	return Column[string](q, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
}

func hasTable(db *sql.DB, table string) bool {
	var n int
	err := db.QueryRow("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", table).Scan(&n)
	return err == nil
}

func copyRows(to *sql.Tx, from *sql.DB, table, order string) error {
	rows, err := from.Query(fmt.Sprintf("SELECT * FROM %s NOT INDEXED ORDER BY 1 %s", table, order))
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	insert := fmt.Sprintf("INSERT OR REPLACE INTO %s (%s) VALUES (?%s)",
		table, strings.Join(columns, ", "), strings.Repeat(", ?", len(columns)-1))
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if _, err := to.Exec(insert, values...); err != nil {
			var e sqlite3.Error
			if errors.As(err, &e) && e.Code == sqlite3.ErrConstraint {
				continue // a damaged row
			}
			return err
		}
	}
	return rows.Err()
}
