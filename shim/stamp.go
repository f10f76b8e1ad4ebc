package shim

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"time"

	"reprise/ledger/decide"
)

// stampTimeout bounds how long a tool's database is waited for. Readers wait only while a process
// changes one that has no write-ahead log. On a machine with much to do, a read may take long as well.
const stampTimeout = 2 * time.Second

// stored compares a session with the stamp that the last recorded run left. If the session cannot be
// read, it counts as changed.
func (c *call) stored(path, id string, stamp decide.Stamp) decide.StoredState {
	switch now, err := c.stamp(path, id); {
	case errors.Is(err, fs.ErrNotExist):
		return decide.StoredGone
	case err != nil || now != stamp:
		return decide.StoredChanged
	}
	return decide.StoredSame
}

// stamp returns the present stamp of a session that the tool keeps in the file at path. It fails
// with fs.ErrNotExist if the file or the session is not there.
func (c *call) stamp(path, id string) (decide.Stamp, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", fs.ErrNotExist
	}
	if query := c.tool.Descriptor().SessionQuery; query != "" {
		return rowStamp(path, query, id)
	}
	return decide.FileStamp(info), nil
}

// rowStamp returns the values of the row that a query finds for a session's ID, without writing to
// the database.
func rowStamp(path, query, id string) (decide.Stamp, error) {
	source := url.URL{Scheme: "file", Path: path, RawQuery: fmt.Sprintf("mode=ro&_busy_timeout=%d", stampTimeout.Milliseconds())}
	db, err := sql.Open("sqlite3", source.String())
	if err != nil {
		return "", err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), stampTimeout)
	defer cancel()
	rows, err := db.QueryContext(ctx, query, id)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return "", err
	}
	if !rows.Next() {
		return "", cmp.Or(rows.Err(), fs.ErrNotExist)
	}
	values, to := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		to[i] = &values[i]
	}
	if err := rows.Scan(to...); err != nil {
		return "", err
	}
	text, err := json.Marshal(values)
	return decide.Stamp(text), err
}
