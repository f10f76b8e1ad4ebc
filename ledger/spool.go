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
	path := filepath.Join(s.dir, fmt.Sprintf("%016x-%d", uint64(ended), os.Getpid()))
	err := s.write(path, outcome)
	for n := 1; n < spoolTries && errors.Is(err, fs.ErrNotExist); n++ { // removed while it was not locked
		err = s.write(path, outcome)
	}
	return err
}

// write makes a file of the spool. While it is not finished, it has another name, and the directory
// is locked together with other writers.
func (s spool) write(path, outcome string) error {
	writing, err := s.open()
	if err != nil {
		return err
	}
	defer writing.Close()
	_ = retry(func() (error, bool) {
		err := syscall.Flock(int(writing.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
		return err, err == syscall.EWOULDBLOCK
	}) // without locks an unfinished file can be removed, and is written again
	tmp := path + spoolTemp
	file, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(outcome)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, os.Remove(tmp))
	}
	return err
}

// open fails if the spool is a symbolic link.
func (s spool) open() (*os.File, error) {
	return os.OpenFile(s.dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
}

// spoolTries is how often an outcome is written at most. Where others look all the time, a writer can
// miss the lock, and lose the file, several times in a row.
const spoolTries = 20

// spoolTemp is the suffix of a file that is being written.
const spoolTemp = ".tmp"

// list returns the files of pending outcomes, in the order of the runs' ends. It removes
// unfinished files if no process, in any PID namespace, is writing one.
func (s spool) list() []string {
	dir, err := s.open()
	if err != nil {
		return nil
	}
	defer dir.Close()
	unwritten := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
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
		case unwritten:
			_ = os.Remove(path)
		}
	}
	return paths[:min(len(paths), maxSpooled)]
}
