// Command goledger does the kind of work that a managed call takes, as a plain Go program does it:
// it reads what it knows of the directory, notes the call, runs the next executable of its name on
// PATH, copies its output while it looks for the session's id, and notes how the run ended. It is
// there to be measured: it decides nothing, and resumes nothing.
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

const schema = `CREATE TABLE IF NOT EXISTS calls (id INTEGER PRIMARY KEY, directory TEXT NOT NULL, started INTEGER NOT NULL,
	session TEXT, ended INTEGER, status INTEGER);
CREATE INDEX IF NOT EXISTS calls_by_directory ON calls (directory)`

func run() (status int, err error) {
	directory, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	state := filepath.Join(os.Getenv("XDG_STATE_HOME"), "goledger")
	if err := os.MkdirAll(state, 0o700); err != nil {
		return 0, err
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(state, "ledger.db")+
		"?_journal_mode=WAL&_synchronous=NORMAL&_txlock=immediate&_busy_timeout=5000")
	if err != nil {
		return 0, err
	}
	if _, err := db.Exec(schema); err != nil {
		return 0, err
	}
	var last sql.NullString
	err = db.QueryRow("SELECT session FROM calls WHERE directory = ? ORDER BY id DESC LIMIT 1", directory).Scan(&last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	result, err := db.Exec("INSERT INTO calls (directory, started) VALUES (?, ?)", directory, time.Now().UnixMilli())
	if err != nil {
		return 0, err
	}
	id, err := result.LastInsertId()
	if err != nil {
		return 0, err
	}
	status, session, err := supervise()
	if err != nil {
		return 0, err
	}
	_, err = db.Exec("UPDATE calls SET session = ?, ended = ?, status = ? WHERE id = ?", session, time.Now().UnixMilli(), status, id)
	return status, err
}

// supervise runs the tool, and returns the session's id that it shows.
func supervise() (status int, session string, err error) {
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

// next returns the next executable of this program's name on PATH that is not itself.
func next() (string, error) {
	own, err := os.Stat("/proc/self/exe")
	if err != nil {
		return "", err
	}
	for _, dir := range strings.Split(os.Getenv("PATH"), ":") {
		path := filepath.Join(dir, filepath.Base(os.Args[0]))
		if info, err := os.Stat(path); err == nil && !os.SameFile(info, own) && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", errors.New("there is no tool on PATH")
}
