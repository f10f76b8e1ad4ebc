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

// A Passthrough is a headless call that was passed through. Such calls are only counted: the tool
// has replaced the shim before they end.
type Passthrough struct {
	Tool   string
	Cwd    string
	Reason reason.Code
	When   decide.Millis
	// the place of a mistake in the configuration, or the step that failed
	Detail string `json:",omitempty"`
}

// They are appended as lines to a file beside the ledger, which needs neither a lock nor
// SQLite. A file of maxPassthroughBytes bytes replaces the old one, so that both are bounded.
const (
	passthroughSuffix    = ".passed"
	oldPassthroughSuffix = ".passed.old"
	maxPassthroughBytes  = 64 << 10
)

// NotePassthrough notes a call beside the ledger at path, which need not exist.
func NotePassthrough(path string, p Passthrough) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	const flags = os.O_WRONLY | os.O_APPEND | os.O_CREATE | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	f, err := os.OpenFile(path+passthroughSuffix, flags, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, fs.ErrInvalid)
	}
	if _, err := f.WriteString(EncodeJSON(p) + "\n"); err != nil ||
		info.Size() < maxPassthroughBytes {
		return err
	}
	return os.Rename(path+passthroughSuffix, path+oldPassthroughSuffix)
}

// ReadPassthroughs returns the calls that are noted beside the ledger at path.
func ReadPassthroughs(path string) (all []Passthrough) {
	for _, suffix := range []string{oldPassthroughSuffix, passthroughSuffix} {
		info, err := os.Lstat(path + suffix)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		text, _ := os.ReadFile(path + suffix)
		for line := range bytes.Lines(text) {
			var p Passthrough // a full disk can leave incomplete lines
			if json.Unmarshal(line, &p) == nil && p.Reason != "" {
				all = append(all, p)
			}
		}
	}
	return all
}

// CountPassthroughs moves the calls that are noted beside the ledger into it. A call that is noted
// meanwhile, or moved by a process that dies, can be lost: the count is then too low.
func (l *Ledger) CountPassthroughs() error {
	path, onDisk := strings.CutSuffix(l.lock.path, ".lock")
	if !onDisk || len(ReadPassthroughs(path)) == 0 {
		return nil
	}
	return Wrap("count calls that were passed through", l.write(func(tx *sql.Tx) error {
		passed := ReadPassthroughs(path)
		for _, suffix := range []string{oldPassthroughSuffix, passthroughSuffix} {
			if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return addPassthroughs(tx, passed)
	}))
}

// AddPassthroughs counts calls.
func (l *Ledger) AddPassthroughs(passed []Passthrough) error {
	return l.write(func(tx *sql.Tx) error { return addPassthroughs(tx, passed) })
}

func addPassthroughs(tx *sql.Tx, passed []Passthrough) error {
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
