package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"reprise/ledger/decide"
)

// A spool is a directory beside the ledger for outcomes that could not be written in time: the end
// of a run must not be delayed. The next process that writes to the ledger records them first. A
// file of the spool contains no more than the ledger would.
type spool struct{ dir string }

// maxSpooled is how many outcomes are recorded at once.
const maxSpooled = 256

// put stores an outcome of a run that ended then, atomically.
func (s spool) put(ended decide.Millis, outcome string) error {
	if err := os.Mkdir(s.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if !s.exists() {
		return fmt.Errorf("%s: %w", s.dir, syscall.ENOTDIR)
	}
	// A process of another PID namespace can have this one's PID, and end in the same moment.
	path := filepath.Join(s.dir, fmt.Sprintf("%016x-%016x", uint64(ended), rand.Uint64()))
	tmp := path + spoolTemp
	err := os.WriteFile(tmp, []byte(outcome), 0o600)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(tmp))
	}
	return err
}

// exists reports whether there is a spool. A symbolic link is none.
func (s spool) exists() bool {
	info, err := os.Lstat(s.dir)
	return err == nil && info.IsDir()
}

// spoolTemp is the suffix of a file that is being written, which takes far less than spoolWrite.
const (
	spoolTemp  = ".tmp"
	spoolWrite = time.Hour
)

// list returns the files of pending outcomes, in the order of the runs' ends. It removes unfinished
// files that are too old for a process, in any PID namespace, to be still writing them.
func (s spool) list() (paths []string) {
	if !s.exists() {
		return nil
	}
	entries, _ := os.ReadDir(s.dir) // sorted by name
	for _, entry := range entries {
		path := filepath.Join(s.dir, entry.Name())
		switch {
		case !entry.Type().IsRegular():
		case !strings.HasSuffix(path, spoolTemp):
			paths = append(paths, path)
		default:
			info, err := entry.Info()
			if err == nil && time.Since(info.ModTime()) > spoolWrite {
				_ = os.Remove(path)
			}
		}
	}
	return paths[:min(len(paths), maxSpooled)]
}
