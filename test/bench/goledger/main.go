// Command goledger does the kind of work of a managed call the way a plain Go program does it: in a
// ledger of the same layout, after a configuration file, it reads the directory's sessions, the
// project's latest answers and the processes above it, and records the call, runs the next
// executable of its name on PATH, folds a long log meanwhile, copies its output while it searches
// for the session's ID, and records how the run ended. It exists for comparison: it decides
// nothing, and resumes nothing.
package main

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/BurntSushi/toml"
	_ "github.com/mattn/go-sqlite3"
)

func main() {
	status, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(126)
	}
	os.Exit(status)
}

func run() (status int, err error) {
	directory, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	var settings map[string]any
	if _, err := toml.DecodeFile(filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "reprise/config.toml"),
		&settings); err != nil {
		return 0, err
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(os.Getenv("XDG_STATE_HOME"),
		"reprise/ledger.db")+
		"?_journal_mode=WAL&_synchronous=NORMAL&_foreign_keys=on&_txlock=immediate&_busy_timeout=5000")
	if err != nil {
		return 0, err
	}
	db.SetMaxOpenConns(1)
	var last sql.NullString
	err = db.QueryRow(`SELECT s.native_id FROM chains c JOIN sessions s ON s.id = c.session_id
		WHERE c.tool = 'claude' AND c.cwd = ? AND c.home = '' AND c.rule = '' AND c.task = '' AND c.role = '' ORDER BY c.updated DESC LIMIT 1`, directory).Scan(&last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	if err := errors.Join(answers(db, directory), callers()); err != nil {
		return 0, err
	}
	started := time.Now()
	ids, err := begin(db, directory, started.UnixMilli())
	if err != nil {
		return 0, err
	}
	status, session, err := supervise(db)
	if err != nil {
		return 0, err
	}
	return status, finish(db, ids, session, status, time.Since(started))
}

// answers reads the latest answers that the project's calls have given.
func answers(db *sql.DB, directory string) error {
	found, err := db.Query("SELECT call, session, ended, lines FROM answers WHERE project "+
		"= ? AND ended >= ? ORDER BY ended DESC LIMIT 256",
		directory, time.Now().AddDate(0, 0, -1).UnixMilli())
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var call, session, ended int64
		var lines sql.RawBytes
		if err := found.Scan(&call, &session, &ended, &lines); err != nil {
			return err
		}
	}
	return found.Err()
}

// callers reads the processes above this one from Linux.
func callers() error {
	parent := os.Getppid()
	for range 7 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", parent))
		if err != nil {
			return nil // there is no further one
		}
		if _, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", parent)); err != nil {
			return nil
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if _, err := fmt.Sscanf(rest, "%1s %d", new(string), &parent); err != nil {
			return err
		}
	}
	return nil
}

// rows are the rows of one call.
type rows struct{ chain, session, call int64 }

// begin records a call, which has a chain and a session of its own.
func begin(db *sql.DB, directory string, now int64) (r rows, err error) {
	tx, err := db.Begin()
	if err != nil {
		return r, err
	}
	defer tx.Rollback()
	for _, insert := range []struct {
		id   *int64
		text string
		args []any
	}{
		{&r.chain,
			`INSERT INTO chains (tool, cwd, home, task, role, created, updated) VALUES ('claude', ?, '', '', '', ?, ?)`,
			[]any{directory, now, now}},
		{&r.session, `INSERT INTO sessions (chain_id, tool, state, created, last_used, settings, model, runtime, auth, base, base_opening, base_bytes)
			VALUES (?, 'claude', 'running', ?, ?, '', '', '', '', ?, 1, 300)`, []any{&r.chain, now, now, make([]byte, 64)}},
		{&r.call, `INSERT INTO calls (chain_id, session_id, tool, cwd, started, mode, reason, format, prompt_bytes, sent_bytes)
			VALUES (?, ?, 'claude', ?, ?, 'fresh', 'first_call', 'stream-json', 300, 300)`, []any{&r.chain, &r.session, directory, now}},
	} {
		result, err := tx.Exec(insert.text, insert.args...)
		if err != nil {
			return r, err
		}
		if *insert.id, err = result.LastInsertId(); err != nil {
			return r, err
		}
	}
	if _, err := tx.Exec("UPDATE chains SET session_id = ? WHERE id = ?", r.session,
		r.chain); err != nil {
		return r, err
	}
	return r, tx.Commit()
}

// finish records how the run ended.
func finish(db *sql.DB, r rows, session string, status int, took time.Duration) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	now := time.Now().UnixMilli()
	for text, args := range map[string][]any{
		"UPDATE chains SET updated = ? WHERE id = ?":                                               {now, r.chain},
		"UPDATE sessions SET native_id = ?, state = 'live', last_used = ?, turns = 1 WHERE id = ?": {session, now, r.session},
		"UPDATE calls SET native_id = ?, duration = ?, outcome = 'ok', exit_code = ? " +
			"WHERE id = ?": {session, took.Milliseconds(), status, r.call},
	} {
		if _, err := tx.Exec(text, args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// supervise runs the tool, and returns the session ID in its output.
func supervise(db *sql.DB) (status int, session string, err error) {
	path, err := next()
	if err != nil {
		return 0, "", err
	}
	cmd := exec.Command(path, os.Args[1:]...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, "", err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	if err := cmd.Start(); err != nil {
		return 0, "", err
	}
	go fold(db)
	go func() {
		for sig := range signals {
			_ = cmd.Process.Signal(sig)
		}
	}()
	lines := bufio.NewReaderSize(out, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if _, err := os.Stdout.Write(line); err != nil {
			return 0, "", err
		}
		var event struct {
			Session string `json:"session_id"`
		}
		if session == "" && json.Unmarshal(line, &event) == nil {
			session = event.Session
		}
		if err != nil {
			break
		}
	}
	var failed *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &failed) {
		return 0, "", err
	}
	return cmd.ProcessState.ExitCode(), session, nil
}

// fold merges a long log into the ledger's file, as ledger.Fold does. If it fails, the next call
// does it.
func fold(db *sql.DB) {
	var busy, log, folded int
	if db.QueryRow("PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &log, &folded) == nil &&
		log-folded > 100 {
		_, _ = db.Exec("PRAGMA wal_checkpoint(PASSIVE)")
	}
}

// next returns the next executable of this program's name on PATH that is not itself.
func next() (string, error) {
	own, err := os.Stat("/proc/self/exe")
	if err != nil {
		return "", err
	}
	for _, dir := range strings.Split(os.Getenv("PATH"), ":") {
		path := filepath.Join(dir, filepath.Base(os.Args[0]))
		if info, err := os.Stat(path); err == nil && !os.SameFile(info, own) &&
			info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", errors.New("there is no tool on PATH")
}
