package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

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

// suffixes are the ends of the names of a ledger's files. The lock's file is not among them: another
// process can hold the lock.
var suffixes = []string{"", "-wal", "-shm", "-journal", ".spool", passthroughSuffix, oldPassthroughSuffix}

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

func tableNames(q Queryer) ([]string, error) {
	return Column[string](q, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "+
		"ORDER BY rowid")
}
