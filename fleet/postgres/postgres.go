// Package postgres is a store in two tables of a PostgreSQL database.
//
// It has one connection, made when it is first needed and again when it is lost, and repeats no write.
// It assumes a server that does not take commits back: not an asynchronous replica. Its invariants:
// no version is used twice, and a write fails with an error other than store.ErrUnknown only if it
// was not made.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"reprise/fleet/store"

	"github.com/jackc/pgx/v5/pgconn"
)

// A Store is the tables of one schema.
type Store struct {
	config *pgconn.Config
	turn   chan struct{} // holds an element while the connection is used
	conn   *pgconn.PgConn
	used   time.Time // when conn was last used
}

var _ store.Store = (*Store)(nil)

// Open returns the store of a URL as libpq takes it. The parameter search_path names the schema. It does not
// connect, and its errors contain nothing of the URL.
func Open(u *url.URL) (*Store, error) {
	config, err := pgconn.ParseConfig(u.String())
	if err != nil { // its text may contain the password
		return nil, errors.New("the postgres URL is not one that libpq understands")
	}
	return &Store{config: config, turn: make(chan struct{}, 1)}, nil
}

// Connect makes the connection before it is needed.
func (s *Store) Connect(ctx context.Context) error {
	s.turn <- struct{}{} // whoever has it has a time limit
	defer func() { <-s.turn }()
	_, err := s.connect(ctx)
	return err
}

// committed makes a statement's commit wait for the disk, whatever is the default.
const committed = "set_config('synchronous_commit', 'on', true)"

// Read implements store.Store.
func (s *Store) Read(ctx context.Context, most int64, names ...string) (map[string]store.Entry, error) {
	what := "fetch"
	if len(names) == 1 {
		what = "read " + names[0]
	}
	rows, err := s.run(ctx, statement{what: what,
		text: `SELECT key, version, substring(value, 1, $2) FROM reprise_register WHERE key = ANY($1::text[])
			UNION ALL SELECT name, NULL, substring(body, 1, $2) FROM reprise_blob WHERE name = ANY($1::text[])`,
		values: [][]byte{array(names), strconv.AppendInt(nil, most, 10)}, formats: []int16{text, text}, results: []int16{text, text, binary}})
	entries := map[string]store.Entry{}
	for _, row := range rows {
		entries[string(row[0])] = store.Entry{Content: row[2], Version: string(row[1])}
	}
	return entries, err
}

// Swap implements store.Store.
func (s *Store) Swap(ctx context.Context, key, old string, value []byte) (string, error) {
	swap := statement{what: "swap " + key, write: true, values: [][]byte{[]byte(key), value, []byte(old)}, formats: []int16{text, binary, text}, results: []int16{text, text}}
	if old == "" {
		swap.text = "INSERT INTO reprise_register (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING RETURNING version, " + committed
		swap.values, swap.formats = swap.values[:2], swap.formats[:2]
	} else if _, err := strconv.ParseInt(old, 10, 64); err != nil { // of no register here
		return "", fmt.Errorf("swap %s: %w", key, store.ErrMoved)
	} else {
		swap.text = "UPDATE reprise_register SET value = $2, version = DEFAULT, updated = now() WHERE key = $1 AND version = $3 RETURNING version, " + committed
	}
	rows, err := s.run(ctx, swap)
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "", fmt.Errorf("swap %s: %w", key, store.ErrMoved)
	}
	return string(rows[0][0]), nil
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix string) ([]string, error) {
	rows, err := s.run(ctx, statement{what: "list " + prefix,
		text:   "SELECT key FROM reprise_register WHERE key ^@ $1 UNION ALL SELECT name FROM reprise_blob WHERE name ^@ $1 ORDER BY 1",
		values: [][]byte{[]byte(prefix)}, formats: []int16{text}, results: []int16{text}})
	var keys []string
	for _, row := range rows {
		keys = append(keys, string(row[0]))
	}
	return keys, err
}

// Put implements store.Store.
func (s *Store) Put(ctx context.Context, name string, content []byte) error {
	if content == nil {
		content = []byte{} // nil is NULL
	}
	rows, err := s.run(ctx, statement{what: "put " + name, write: true,
		text:   "INSERT INTO reprise_blob (name, body) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING name, " + committed,
		values: [][]byte{[]byte(name), content}, formats: []int16{text, binary}, results: []int16{text, text}})
	if err == nil && len(rows) == 0 {
		return fmt.Errorf("put %s: %w", name, store.ErrMoved)
	}
	return err
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, names ...string) error {
	_, err := s.run(ctx, statement{what: "delete", write: true,
		text:   `WITH gone AS (DELETE FROM reprise_register WHERE key = ANY($1::text[])) DELETE FROM reprise_blob WHERE name = ANY($1::text[])`,
		values: [][]byte{array(names)}, formats: []int16{text}, results: []int16{}})
	return err
}

// swept is the register that says when Sweep last removed something.
const swept = "swept"

// Sweep removes what has not been written for a while, at most once a day of all who call it. It
// returns how many registers and objects it has removed.
func (s *Store) Sweep(ctx context.Context, idle time.Duration) (removed int, err error) {
	seconds := strconv.FormatFloat(idle.Seconds(), 'f', -1, 64)
	rows, err := s.run(ctx, statement{what: "sweep", write: true, text: `WITH
		claim AS (INSERT INTO reprise_register (key, value) VALUES ($1, '') ON CONFLICT (key)
			DO UPDATE SET updated = now() WHERE reprise_register.updated < now() - interval '1 day' RETURNING key),
		registers AS (DELETE FROM reprise_register WHERE updated < now() - make_interval(secs => $2::float8)
			AND key <> $1 AND EXISTS (SELECT FROM claim) RETURNING key),
		objects AS (DELETE FROM reprise_blob WHERE created < now() - make_interval(secs => $2::float8)
			AND EXISTS (SELECT FROM claim) RETURNING name)
		SELECT (SELECT count(*) FROM registers) + (SELECT count(*) FROM objects)`,
		values: [][]byte{[]byte(swept), []byte(seconds)}, formats: []int16{text, text}, results: []int16{text}})
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(rows[0][0]))
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if s.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx) // a server that is gone need not be told
	s.conn = nil
	return nil
}
