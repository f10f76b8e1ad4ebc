package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func makePrivate(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := restrictMode(dir, fs.ModeDir|0o700); err != nil {
		return err
	}
	err := restrictMode(path, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600); err == nil {
			err = f.Close()
		}
	}
	for _, part := range []string{"-wal", "-shm"} {
		if failed := restrictMode(path+part, 0o600); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// restrictMode removes permissions beyond most from a file's mode. It leaves a file of another type
// than most alone: a device's mode affects every user, and a directory in place of a file can be
// any user's home.
func restrictMode(path string, most fs.FileMode) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Type() != most.Type() || info.Mode().Perm()&^most == 0 {
		return err
	}
	return os.Chmod(path, info.Mode().Perm()&most)
}

// Reset replaces the file at path by an empty ledger. It moves the old file and the files that
// belong to it aside, by appending suffix to their names. Nothing is deleted. If there is nothing,
// aside is "".
func Reset(path, suffix string) (aside string, err error) {
	release, ok := fileLock{path + ".lock"}.take(callsTimeout)
	if !ok {
		return "", fmt.Errorf("reset ledger: %w", Explain(errBusy))
	}
	aside, err = moveAside(path, suffix)
	release()
	if err != nil {
		return "", fmt.Errorf("reset ledger: %w", Explain(err))
	}
	l, err := Open(path)
	if err != nil {
		return aside, err
	}
	return aside, l.Close()
}

// suffixes are the ends of the names of a ledger's files. The lock's file is not among them:
// another process can hold the lock.
var suffixes = []string{"", "-wal", "-shm", "-journal", ".spool", passthroughSuffix,
	oldPassthroughSuffix}

func moveAside(path, suffix string) (aside string, err error) {
	for _, part := range suffixes {
		to := path + suffix + part
		if _, err := os.Lstat(to); err == nil {
			return "", fmt.Errorf("move %s aside: %w", path, fs.ErrExist)
		}
		err := os.Rename(path+part, to)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("move %s aside: %w", path+part, err)
		}
		if err == nil && part == "" {
			aside = to
		}
	}
	return aside, nil
}

// CheckCreatable reports why no ledger can be made at path, nil if one can. It leaves nothing
// behind: it writes to the nearest directory that exists.
func CheckCreatable(path string) error {
	dir := filepath.Dir(path)
	for _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist); _, err = os.Lstat(dir) {
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".check-*")
	if err != nil {
		return fmt.Errorf("create ledger: %w", err)
	}
	_, err = f.Write(make([]byte, 128<<10)) // about as much as a new ledger has
	return Wrap("create ledger", errors.Join(err, f.Close(), os.Remove(f.Name())))
}
