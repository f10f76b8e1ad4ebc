package harness

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// Until waits until so is true, and reports whether that was in time.
func Until(patience time.Duration, so func() bool) bool {
	for deadline := time.Now().Add(patience); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// OpenLedger opens an existing ledger as another program would, in one connection.
func OpenLedger(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=rw&_busy_timeout=5000")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// Exposed returns which of the shim's files another user can read or change, and which have a word
// of a prompt or an answer.
func (w *World) Exposed(words *regexp.Regexp) (found []string) {
	err := filepath.WalkDir(w.State(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			found = append(found, fmt.Sprintf("%s has mode %v", d.Name(), info.Mode()))
		}
		if d.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		if word := words.Find(text); word != nil {
			found = append(found, fmt.Sprintf("%q stands in %s", word, d.Name()))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		found = append(found, err.Error())
	}
	return found
}
