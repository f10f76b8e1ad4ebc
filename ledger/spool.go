package ledger

import (
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"reprise/ledger/proc"
	"reprise/rewrite"
	"reprise/rewrite/reason"

	"github.com/mattn/go-sqlite3"
)

// A spool is a directory beside the ledger for outcomes that could not be written in time: the end
// of a run must not be delayed. The next process that writes to the ledger records them first. A
// file of the spool contains only what the ledger would.
type spool struct{ dir string }

// maxSpooled is how many outcomes are recorded at once.
const maxSpooled = 256

// An Ending is everything that is recorded at the end of a run. It names its ledger, which
// another one may have replaced by the time it is recorded.
type Ending struct {
	Ledger      string
	Invocation  int64
	Session     int64 // 0 if there is none
	Chain       int64
	Cwd, Task   string
	Project     string
	FellBack    reason.Code // why its resume was given up, if that is not recorded yet
	Transcript  bool
	Opening     int // of the prompt's footprint
	Bytes       int
	Blocks      []byte
	Lines       []byte
	Shape       []byte
	Things      []byte // of the run's traces
	AnswerLines []byte
	AnswerFiles []byte
	Answer      []byte
	Said        []byte
	Outcome     Outcome // without what the model said
	Later       []pendingTurn
	Finished    bool // the call has its outcome: only the later turns are news, or the state of the session
}

// A pendingTurn is a later turn of a run. Its invocation gets a number when it is recorded.
type pendingTurn struct {
	Turn
	Tool, Rule string
	Format     rewrite.Format
}

// put stores an outcome atomically.
func (s spool) put(e *Ending) error {
	if s.dir == "" {
		return errors.New("there is no spool")
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if !s.exists() {
		return fmt.Errorf("%s: not a directory", s.dir)
	}
	path := filepath.Join(s.dir, fmt.Sprintf("%016x-%d", uint64(e.Outcome.Now), os.Getpid()))
	tmp := path + spoolTemp
	file, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(encodeJSON(e))
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

// list returns the files of pending outcomes, in the order in which the runs ended. It removes
// unfinished files of dead processes.
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
		name, unfinished := strings.CutSuffix(entry.Name(), spoolTemp)
		switch _, writer, _ := strings.Cut(name, "-"); {
		case unfinished && !running(writer):
			_ = os.Remove(path)
		case !unfinished && entry.Type().IsRegular():
			paths = append(paths, path)
		}
	}
	return paths[:min(len(paths), maxSpooled)]
}

func running(pid string) bool {
	n, err := strconv.Atoi(pid)
	return err == nil && proc.ByPID(n).Alive()
}

// read returns an outcome. ok is false if it does not belong to this ledger.
func (s spool) read(path, ledger string) (e Ending, ok bool) {
	text, err := os.ReadFile(path)
	return e, err == nil && decodeJSON(text, &e) == nil && e.Ledger == ledger
}

// Settle records the outcomes in the spool, each exactly once: an outcome that was recorded by a
// process that died before it could remove the file is recognized by its invocation. One that
// cannot be recorded although the ledger can be written is dropped, so that the others are recorded.
func (l *Ledger) Settle() error {
	if len(l.spool.list()) == 0 {
		return nil
	}
	var settled []string
	err := l.write(func(tx *sql.Tx) error {
		settled = l.spool.list()
		for _, path := range settled {
			e, ok := l.spool.read(path, l.name())
			if !ok {
				continue
			}
			if err := alone(tx, e.record); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("record outcomes: %w", err)
	}
	for _, path := range settled {
		_ = os.Remove(path) // harmless
	}
	return nil
}

// alone runs a part of a transaction, and takes back only that if it fails for a reason of its own.
// It returns the error if the whole transaction has failed.
func alone(tx *sql.Tx, part func(*sql.Tx) error) error {
	if _, err := tx.Exec("SAVEPOINT part"); err != nil {
		return err
	}
	err := part(tx)
	if err == nil {
		_, err = tx.Exec("RELEASE part")
		return err
	}
	var failed sqlite3.Error
	if errors.As(err, &failed) && failed.Code != sqlite3.ErrConstraint && failed.Code != sqlite3.ErrTooBig && failed.Code != sqlite3.ErrMismatch {
		return err // the ledger is busy, the disk full or broken
	}
	_, err = tx.Exec("ROLLBACK TO part; RELEASE part")
	return err
}

// name distinguishes this ledger from others.
func (l *Ledger) name() string {
	d := l.key.Digester()("name of the ledger")
	return hex.EncodeToString(d[:])
}
