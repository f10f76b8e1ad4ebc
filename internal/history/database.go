package history

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver
	"reprise/rewrite"
)

// databaseTimeout bounds how long a database is waited for that its tool is writing to.
const databaseTimeout = time.Second

// readDatabase returns the sessions of a tool that keeps them in a database. It reads all of them each
// time, and does not write to the database.
func readDatabase(tool rewrite.Tool, env func(string) string) (sessions []Session, err error) {
	d := tool.Descriptor()
	path := filepath.Join(d.Home(env), d.Database)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("read sessions of %s: %w", d.Name, err)
		}
	}()
	source := url.URL{Scheme: "file", Path: path, RawQuery: fmt.Sprintf("mode=ro&_busy_timeout=%d", databaseTimeout.Milliseconds())}
	db, err := sql.Open("sqlite3", source.String())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.Query(d.HistoryQuery)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		s := Session{Tool: d.Name, Counted: true}
		var model sql.NullString
		var started, updated int64
		if err := rows.Scan(&s.ID, &s.Cwd, &model, &s.Version, &started, &updated, &s.Turns, &s.Input, &s.CacheRead, &s.CacheWrite, &s.Output); err != nil {
			return nil, err
		}
		s.Model, s.Started, s.Updated = model.String, time.UnixMilli(started).UTC(), time.UnixMilli(updated).UTC()
		if s.valid() {
			sessions = append(sessions, s)
		}
	}
	return sessions, rows.Err()
}
