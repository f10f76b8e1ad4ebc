package ledger

import (
	"errors"
	"fmt"
	"io/fs"
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
	if s.dir == "" {
		return errors.New("there is no spool")
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if !s.exists() {
		return fmt.Errorf("%s: not a directory", s.dir)
	}
	path := filepath.Join(s.dir, fmt.Sprintf("%016x-%d", uint64(ended), os.Getpid()))
	tmp := path + spoolTemp
	file, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(outcome)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return nil
}

// spoolTemp is the suffix of a file that is being written.
const spoolTemp = ".tmp"

// exists reports whether the spool exists and is a directory, not a symbolic link.
func (s spool) exists() bool {
	info, err := os.Lstat(s.dir)
	return err == nil && info.IsDir()
}

// list returns the files of pending outcomes, in the order of the runs' ends. It removes unfinished files that
// are so old that no process is writing them. The writer can have another PID namespace, where it cannot be
// seen.
func (s spool) list() []string {
	if !s.exists() {
		return nil
	}
	entries, err := os.ReadDir(s.dir) // sorted by name
	if err != nil {
		return nil
	}
	var paths []string
	for _, entry := range entries {
		path := filepath.Join(s.dir, entry.Name())
		if !strings.HasSuffix(entry.Name(), spoolTemp) {
			if entry.Type().IsRegular() {
				paths = append(paths, path)
			}
		} else if info, err := entry.Info(); err == nil &&
			decide.MillisOf(time.Now())-decide.MillisOf(info.ModTime()) > lostAfter {
			_ = os.Remove(path)
		}
	}
	return paths[:min(len(paths), maxSpooled)]
}
