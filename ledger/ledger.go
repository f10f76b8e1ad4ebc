package ledger

import (
	"crypto/rand"
	"database/sql"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"

	"github.com/mattn/go-sqlite3"
)

// A Ledger is an open ledger file. It is safe for concurrent use.
type Ledger struct {
	db    *sql.DB
	key   prompt.Key
	lock  fileLock
	spool spool

	// the ledger of an older version that was set aside when this one was opened, "" for none
	Aside string
}

// Errors of a ledger file.
var (
	ErrForeign = errors.New("it is not a reprise ledger, or one from before the first release")
	ErrNewer   = errors.New("it was written by a newer reprise")
	ErrDamaged = errors.New("it is damaged")
	ErrLocked  = errors.New("another process keeps it locked")
)

// Explain translates SQLite's error into one of ours.
func Explain(err error) error {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	case sqlite3.ErrBusy, sqlite3.ErrProtocol:
		return fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return err
}

// IsLocked reports whether an error says that another process kept the ledger locked.
func IsLocked(err error) bool { return errors.Is(Explain(err), ErrLocked) }

// Open opens the ledger at path and creates it, with its directory, if there is none. Directory and
// file are made private to the user, existing ones too.
func Open(path string) (*Ledger, error) {
	if err := makePrivate(path); err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	return open(path, "rwc")
}

// OpenExisting opens a ledger to read it. If there is none it returns fs.ErrNotExist.
func OpenExisting(path string) (*Ledger, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	return open(path, "rw")
}

// OpenMemory returns an empty ledger that is gone when it is closed.
func OpenMemory() (*Ledger, error) { return open(":memory:", inMemory) }

const inMemory = "memory"

func open(path, mode string) (*Ledger, error) {
	// Without SQLite's mutex: database/sql lets one goroutine at a time use a connection.
	db, err := sql.Open("sqlite3", fmt.Sprintf("file:%s?mode=%s&_mutex=no&_txlock=immediate&"+
		"_busy_timeout=0&_synchronous=NORMAL&_foreign_keys=on", url.PathEscape(path), mode))
	if err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	l := &Ledger{db: db}
	if mode != inMemory {
		l.lock, l.spool = fileLock{path + ".lock"}, spool{path + ".spool"}
	}
	err = errOutdated
	// readers would prevent making a new one
	if info, failed := os.Stat(path); failed == nil && info.Size() > 0 {
		err = l.prepare()
	}
	if err != nil { // or another process is just creating it
		err = l.withLock(callsTimeout, func() error { return l.prepareLocked(path) })
	}
	if IsLocked(err) { // by many calls; the first has made it
		err = l.prepare()
	}
	if err != nil {
		l.db.Close()
		return nil, fmt.Errorf("open ledger %s: %w", path, Explain(err))
	}
	return l, nil
}

// prepareLocked is prepare with the file lock. It fills an empty file. It sets a ledger of an older
// version aside and begins anew.
func (l *Ledger) prepareLocked(path string) error {
	err := l.prepare()
	if !errors.Is(err, errOutdated) {
		return err
	}
	if l.Aside, err = l.copyAside(path); err != nil {
		return err
	}
	if err := l.create(); err != nil {
		return err
	}
	return l.prepare()
}

// copyAside copies a ledger of an older version to another name, and moves the outcomes that wait
// for it there too. The file itself stays in place: SQLite's processes share memory by the file's
// name, and a process that was just opening a renamed file would share its successor's.
func (l *Ledger) copyAside(path string) (aside string, err error) {
	var version int
	if err := l.db.QueryRow("PRAGMA user_version").Scan(&version); err != nil || version == 0 {
		return "", err
	}
	aside = fmt.Sprint(path, olderSuffix, version)
	if _, err := os.Lstat(aside); err == nil {
		return "", fmt.Errorf("copy %s aside: %w", path, fs.ErrExist)
	}
	part := aside + ".new"
	// of a process that was killed
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.WriteFile(part, nil, 0o600); err != nil {
		return "", err
	}
	if _, err := l.db.Exec("VACUUM INTO ?", part); err != nil {
		return "", err
	}
	if err := os.Rename(l.spool.dir, aside+".spool"); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return aside, os.Rename(part, aside)
}

// olderSuffix and its version end the name of a ledger of an older version.
const olderSuffix = ".version-"

// errOutdated reports that there is no ledger of this version.
var errOutdated = errors.New("it was written by an older reprise")

// prepare checks whether this is a ledger and reads the key.
func (l *Ledger) prepare() error {
	var app, version int
	if err := l.db.QueryRow("PRAGMA application_id").Scan(&app); err != nil {
		return err
	}
	if err := l.db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	switch {
	case app != applicationID && (app != 0 || version != 0):
		return ErrForeign
	case version < 0:
		return ErrDamaged
	case version > schemaVersion:
		return ErrNewer
	case version < schemaVersion:
		return errOutdated
	}
	return l.db.QueryRow("SELECT value FROM meta WHERE name = 'key'").Scan(&l.key)
}

// create makes the tables in one transaction, in place of an older version's tables. It reads the
// version again inside, since another process might have been faster.
func (l *Ledger) create() error {
	// A new ledger has nothing to lose, and on a slow disk each wait for it delays the tool.
	if _, err := l.db.Exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	err := l.transact(func(tx *sql.Tx) error {
		var version int
		if err := tx.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		if version == schemaVersion {
			return nil
		}
		older, err := Column[string](tx, `SELECT name FROM sqlite_schema
			WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid DESC`) // by their keys
		switch {
		case err != nil:
			return err
		case version == 0 && len(older) > 0:
			return ErrForeign
		}
		var last int64
		for _, numbers := range []string{"seq) FROM sqlite_sequence", "id) FROM chains",
			"id) FROM sessions", "id) FROM calls"} { // it might have no such table
			var highest int64
			_ = tx.QueryRow("SELECT max(" + numbers).Scan(&highest)
			last = max(last, highest)
		}
		drop := ""
		for _, name := range older {
			drop += "DROP TABLE " + name + ";"
		}
		key := make([]byte, 32)
		rand.Read(key)
		// A call that began in an older version's tables and still runs must not end as another.
		_, err = tx.Exec(drop+schema()+fmt.Sprintf(`
			INSERT INTO sqlite_sequence VALUES ('chains', ?1), ('sessions', ?1), ('calls', ?1);
			INSERT INTO meta VALUES ('key', ?);
			PRAGMA application_id = %d; PRAGMA user_version = %d`, applicationID, schemaVersion),
			last, key)
		return Wrap("create tables", err)
	})
	_, failed := l.db.Exec("PRAGMA synchronous = NORMAL")
	return errors.Join(err, failed)
}

// withLock calls try with the file lock, and waits at most that long for it; with 0 neither for
// that lock nor for SQLite's. Meanwhile no other call writes.
func (l *Ledger) withLock(wait time.Duration, try func() error) error {
	return retry(LockTimeout, func() (err error, again bool) {
		release, ok := l.lock.take(wait)
		if !ok {
			return errBusy, false
		}
		defer release()
		err = try()
		return err, wait > 0 && IsLocked(err)
	})
}

// write runs f in one immediate transaction, with the file lock.
func (l *Ledger) write(f func(*sql.Tx) error) error { return l.writeWithin(callsTimeout, f) }

// exec runs one statement as write does.
func (l *Ledger) exec(query string, args ...any) error {
	return l.write(func(tx *sql.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
}

func (l *Ledger) writeWithin(wait time.Duration, f func(*sql.Tx) error) error {
	return l.withLock(wait, func() error { return l.transact(f) })
}

func (l *Ledger) transact(f func(*sql.Tx) error) error {
	tx, err := l.db.Begin()
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Key returns the ledger's key for digests.
func (l *Ledger) Key() prompt.Key { return l.key }

// name distinguishes this ledger from others.
func (l *Ledger) name() string {
	d := l.key.Digester()("name of the ledger")
	return hex.EncodeToString(d[:])
}

// Close closes the ledger. A process about to exit need not call it: closing makes SQLite fold the
// log into the file, which takes milliseconds. It takes the file lock, since no other process can
// open the ledger meanwhile.
func (l *Ledger) Close() error {
	release, _ := l.lock.take(callsTimeout)
	defer release()
	return l.db.Close()
}

// Check checks the whole file: that it is intact, that the indexes agree with their tables, and
// that it contains the tables.
func (l *Ledger) Check() error {
	var result string
	if err := l.db.QueryRow("PRAGMA integrity_check(1)").Scan(&result); err != nil {
		return fmt.Errorf("check ledger: %w", Explain(err))
	}
	if result != "ok" {
		return fmt.Errorf("check ledger: %w: %s", ErrDamaged,
			strings.Join(strings.Fields(result), " "))
	}
	model, err := OpenMemory()
	if err != nil {
		return err
	}
	defer model.Close()
	want, err := model.schema()
	if err != nil {
		return fmt.Errorf("check ledger: %w", err)
	}
	if got, err := l.schema(); err != nil || got != want {
		return errors.Join(err,
			fmt.Errorf("check ledger: %w: its tables are not as they should be", ErrDamaged))
	}
	return nil
}

func (l *Ledger) schema() (text string, err error) {
	err = l.db.QueryRow("SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema WHERE " +
		"sql <> '' " +
		"ORDER BY name)").Scan(&text)
	return text, err
}

// A Binary is the facts about one build of a tool's program.
type Binary struct {
	Path, Version string
	Probed        bool // Probe is known
	Probe         rewrite.Probe
	Accepts       bool // a run has accepted the shim's additions to a call
	Refuses       bool // a run has failed with that, and not without it
	Unread        bool // the output was not understood
	Forgot        int  // how many resumes in a row it has not made, though it ended well
	NoResume      bool // it does not resume, as a run has shown
}

// Binary returns the facts about the tool's binary with that fingerprint.
func (l *Ledger) Binary(tool, fingerprint string) (Binary, error) {
	return readBinary(l, tool+" "+fingerprint)
}

func readBinary(q Queryer, key string) (b Binary, err error) {
	err = Each(q, "SELECT probe FROM runtimes WHERE fingerprint = ?",
		func(rows *sql.Rows) error { return rows.Scan(jsonColumn{&b}) }, key)
	return b, err
}

// A Runtime is a tool's binary, with the values that identify it.
type Runtime struct {
	Tool, Fingerprint string
	Binary
}

// Runtimes returns the facts about all binaries, the latest first.
func (l *Ledger) Runtimes() ([]Runtime, error) {
	list, err := List(l, `SELECT substr(fingerprint, 1, instr(fingerprint, ' ') - 1),
		substr(fingerprint, instr(fingerprint, ' ') + 1), probe
		FROM runtimes ORDER BY probed DESC, fingerprint`, func(r *Runtime) []any {
		return []any{&r.Tool, &r.Fingerprint, jsonColumn{&r.Binary}}
	})
	return list, Wrap("list binaries", err)
}

// LearnBinary adds to the facts about a tool's binary.
func (l *Ledger) LearnBinary(tool, fingerprint string, now decide.Millis, add func(*Binary)) error {
	key := tool + " " + fingerprint
	return l.write(func(tx *sql.Tx) error {
		b, err := readBinary(tx, key)
		if add(&b); err == nil {
			_, err = tx.Exec("INSERT OR REPLACE INTO runtimes VALUES (?, ?, ?)", key,
				EncodeJSON(b), now)
		}
		return err
	})
}

// errTakenBack rolls a write back.
var errTakenBack = errors.New("taken back")

// CheckWritable makes a write and rolls it back.
func (l *Ledger) CheckWritable() error {
	err := l.write(func(tx *sql.Tx) error {
		if _, err := tx.Exec("INSERT OR REPLACE INTO meta VALUES ('check', x'')"); err != nil {
			return err
		}
		return errTakenBack
	})
	if errors.Is(err, errTakenBack) {
		return nil
	}
	return Wrap("write ledger", Explain(err))
}

// longLog is the length of SQLite's log, in pages, at which it is folded into the ledger's file.
// A process that opens the ledger alone reads all of the log. At 1000 pages SQLite folds it itself
// while a caller waits.
const longLog = 100

// Fold merges a long log into the ledger's file. It takes as long as the disk does, so it is called
// when no caller waits.
func (l *Ledger) Fold() error {
	var busy, log, folded int
	err := l.db.QueryRow("PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &log, &folded)
	if err == nil && log-folded > longLog {
		_, err = l.db.Exec("PRAGMA wal_checkpoint(PASSIVE)")
	}
	return Wrap("fold log", Explain(err))
}

// otherTables makes the tables without a struct for their rows, and all indexes.
//
//go:embed schema.sql
var otherTables string

func schema() string {
	return chains.plan().create + sessions.plan().create + records.plan().create + otherTables
}

// applicationID marks a SQLite file as a ledger ("rpr1").
const applicationID = 0x72707231

// schemaVersion numbers the tables. A ledger of an older version is set aside.
const schemaVersion = 21

// Format numbers the values that sessions are compared by: the digests of prompts and answers, the
// names of settings, roles that nothing names. A session of another format is never continued, and
// the reason says so. TestFormat sees when it must rise.
const Format = 1
