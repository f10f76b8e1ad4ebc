package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckCreatable reports why no ledger can be made at path, nil if one can. It leaves nothing
// behind.
func CheckCreatable(path string) (err error) {
	dir := filepath.Dir(path)
	missing := missingDirs(dir)
	defer func() {
		for _, made := range missing {
			_ = os.Remove(made) // another process can use it by now
		}
	}()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create ledger: %w", err)
	}
	f, err := os.CreateTemp(dir, ".check-*")
	if err != nil {
		return fmt.Errorf("create ledger: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(make([]byte, emptyLedger))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("create ledger: %w", err)
	}
	return nil
}

// emptyLedger is about as large as a new ledger.
const emptyLedger = 128 << 10

// missingDirs returns a directory and those above it that do not exist, the deepest first.
func missingDirs(dir string) (missing []string) {
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, dir)
	}
	return missing
}
