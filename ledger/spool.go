package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

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
	err := s.write(path, outcome)
	if errors.Is(err, fs.ErrNotExist) { // another process removed it while it was not locked
		err = s.write(path, outcome)
	}
	return err
}

// write makes a file of the spool. While it is not finished, it has another name and is locked.
func (s spool) write(path, outcome string) error {
	tmp := path + spoolTemp
	file, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	lockFile(file, syscall.LOCK_NB)
	_, err = file.WriteString(outcome)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, os.Remove(tmp))
	}
	return err
}

// spoolTemp is the suffix of a file that is being written.
const spoolTemp = ".tmp"

// exists reports whether the spool exists and is a directory, not a symbolic link.
func (s spool) exists() bool {
	info, err := os.Lstat(s.dir)
	return err == nil && info.IsDir()
}

// list returns the files of pending outcomes, in the order of the runs' ends. It removes unfinished files that no
// process is writing.
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
		switch {
		case !entry.Type().IsRegular():
		case !strings.HasSuffix(entry.Name(), spoolTemp):
			paths = append(paths, path)
		case isAbandoned(path):
			_ = os.Remove(path)
		}
	}
	return paths[:min(len(paths), maxSpooled)]
}

// isAbandoned reports whether no process, in any PID namespace, has a file locked.
func isAbandoned(path string) bool {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	return lockFile(file, syscall.LOCK_NB)
}
