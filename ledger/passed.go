package ledger

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"reprise/ledger/decide"
	"reprise/rewrite/reason"
)

// Passed is a headless call that was passed through. Such calls are only counted: the tool has
// replaced the shim before they end.
type Passed struct {
	Tool   string
	Cwd    string
	Reason reason.Code
	When   decide.Millis
	Detail string `json:",omitempty"` // where the configuration had a mistake, or what failed
}

// Passed calls are appended as lines to a file beside the ledger, which needs neither a lock nor
// SQLite. A file of maxPassed bytes replaces the old one, so that both are bounded.
const (
	passedSuffix    = ".passed"
	oldPassedSuffix = ".passed.old"
	maxPassed       = 64 << 10
)

// NotePassed notes a passed call beside the ledger at path, which need not exist.
func NotePassed(path string, p Passed) error {
	f, err := openPassed(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			f, err = openPassed(path)
		}
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, fs.ErrInvalid)
	}
	if _, err := f.WriteString(EncodeJSON(p) + "\n"); err != nil || info.Size() < maxPassed {
		return err
	}
	return os.Rename(path+passedSuffix, path+oldPassedSuffix)
}

func openPassed(path string) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_APPEND | os.O_CREATE | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	return os.OpenFile(path+passedSuffix, flags, 0o600)
}

// ReadPassed returns the calls that are noted beside the ledger at path.
func ReadPassed(path string) []Passed {
	return append(readPassed(path+oldPassedSuffix), readPassed(path+passedSuffix)...)
}

// readPassed ignores incomplete lines, which a full disk can leave.
func readPassed(path string) (all []Passed) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(text) {
		var p Passed
		if json.Unmarshal(line, &p) == nil && p.Reason != "" {
			all = append(all, p)
		}
	}
	return all
}

// CountPassed moves the calls that are noted beside the ledger into it. A call that is noted
// meanwhile, or moved by a process that dies, can be lost: the count is then too low.
func (l *Ledger) CountPassed() error {
	path, onDisk := strings.CutSuffix(l.lock.path, ".lock")
	if !onDisk || len(ReadPassed(path)) == 0 {
		return nil
	}
	return Wrap("count passed calls", l.write(func(tx *sql.Tx) error {
		passed := ReadPassed(path)
		for _, suffix := range []string{oldPassedSuffix, passedSuffix} {
			if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return addPassed(tx, passed)
	}))
}

// AddPassed counts calls.
func (l *Ledger) AddPassed(passed []Passed) error {
	return l.write(func(tx *sql.Tx) error { return addPassed(tx, passed) })
}

func addPassed(tx *sql.Tx, passed []Passed) error {
	for _, p := range passed {
		if _, err := tx.Exec(`INSERT INTO passed VALUES (?1, ?2, ?3, ?4 / 86400000, 1, ?4, ?5) ON CONFLICT
			DO UPDATE SET calls = calls + 1, last = max(last, excluded.last), detail = iif(last <= excluded.last,
			excluded.detail, detail)`,
			p.Tool, p.Cwd, p.Reason, p.When, p.Detail); err != nil {
			return err
		}
	}
	return nil
}
