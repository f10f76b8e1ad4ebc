package session

import (
	"bytes"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"reprise/ledger/decide"
	"reprise/rewrite"
)

// A rowTool keeps its sessions as rows.
type rowTool struct {
	rewrite.Tool
	query string
}

func (r rowTool) Descriptor() *rewrite.Descriptor {
	return &rewrite.Descriptor{SessionQuery: r.query}
}

const sessionQuery = "SELECT json_array(updated, " +
	"(SELECT count(*) FROM message WHERE session = session.id), title) FROM session WHERE id = ?"

// newRows makes a database with a tool's sessions "one" and "two".
func newRows(t *testing.T, path, journal string) *sql.DB {
	t.Helper()
	source := url.URL{Scheme: "file", Path: path, RawQuery: "_journal_mode=" + journal}
	db, err := sql.Open("sqlite3", source.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	change(t, db, `CREATE TABLE session (id TEXT PRIMARY KEY, updated INTEGER, title TEXT); CREATE TABLE message (session TEXT);
		INSERT INTO session VALUES ('one', 1, NULL), ('two', 1, NULL); INSERT INTO message VALUES ('one')`)
	return db
}

func change(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

// A change of a session's row, and nothing else, changes the stamp.
func TestStampOfARow(t *testing.T) {
	for _, journal := range []string{"WAL", "DELETE"} {
		for query, want := range map[string]decide.StoredState{
			"":                                                decide.StoredSame,
			"UPDATE session SET updated = 2":                  decide.StoredChanged,
			"UPDATE session SET title = ''":                   decide.StoredChanged,
			"INSERT INTO message VALUES ('one')":              decide.StoredChanged,
			"INSERT INTO message VALUES ('two')":              decide.StoredSame,
			"DELETE FROM session WHERE id = 'two'":            decide.StoredSame,
			"DELETE FROM session WHERE id = 'one'":            decide.StoredGone,
			"DROP TABLE message":                              decide.StoredChanged,
			"BEGIN EXCLUSIVE; UPDATE session SET title = 'x'": map[string]decide.StoredState{"WAL": decide.StoredSame, "DELETE": decide.StoredChanged}[journal],
		} {
			path := filepath.Join(t.TempDir(), "a?b#c%20d e.db")
			db := newRows(t, path, journal)
			c := Files{Tool: rowTool{query: sessionQuery}}
			stamp, err := c.stamp(path, "one")
			if err != nil || stamp != "[1,1,null]" {
				t.Fatalf("%s: stamp %q, %v", journal, stamp, err)
			}
			change(t, db, query)
			if got := c.Stored(path, "one", stamp); got != want {
				t.Errorf("%s: after %q it is %d, want %d", journal, query, got, want)
			}
		}
	}
}

// A database that a process is changing is waited for.
func TestStampWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	db := newRows(t, path, "DELETE")
	change(t, db, "BEGIN EXCLUSIVE")
	time.AfterFunc(500*time.Millisecond, func() { _, _ = db.Exec("COMMIT") })
	c := Files{Tool: rowTool{query: sessionQuery}}
	if stamp, err := c.stamp(path, "one"); err != nil || stamp != "[1,1,null]" {
		t.Errorf("stamp %q, %v", stamp, err)
	}
}

// A database is only read, and none is made.
func TestStampWritesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.db")
	if err := newRows(t, path, "WAL").Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := Files{Tool: rowTool{query: sessionQuery}}
	if got := c.Stored(path, "one", "[1,1,null]"); got != decide.StoredSame {
		t.Errorf("it is %d", got)
	}
	c.Tool = rowTool{query: "UPDATE session SET updated = 2 WHERE id = ? RETURNING json_array(updated)"}
	if stamp, err := c.stamp(path, "one"); err == nil {
		t.Errorf("a query that writes returns %q", stamp)
	}
	c.Tool = rowTool{query: sessionQuery}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the database was written to, %v", err)
	}
	for name, want := range map[string]decide.StoredState{"none": decide.StoredGone,
		"": decide.StoredGone, "text": decide.StoredChanged} {
		path := filepath.Join(dir, name)
		if name == "text" {
			if err := os.WriteFile(path, []byte("no database"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := c.Stored(path, "one", ""); got != want {
			t.Errorf("%q is %d, want %d", name, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("a database was made")
	}
}

func TestStampOfAFile(t *testing.T) {
	tool, _ := rewrite.Lookup("claude")
	c := Files{Tool: tool}
	path := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for stamp, want := range map[decide.Stamp]decide.StoredState{"5": decide.StoredSame,
		"4": decide.StoredChanged, "": decide.StoredChanged} {
		if got := c.Stored(path, "", stamp); got != want {
			t.Errorf("%q: it is %d, want %d", stamp, got, want)
		}
	}
	for _, path := range []string{"", filepath.Dir(path), path + ".none"} {
		if got := c.Stored(path, "", "5"); got != decide.StoredGone {
			t.Errorf("%q is %d", path, got)
		}
	}
}
