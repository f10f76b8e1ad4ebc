package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckCreatable reports why no ledger can be made at path, nil if one can. It leaves nothing
// behind: it writes to the nearest directory that exists.
func CheckCreatable(path string) error {
	dir := filepath.Dir(path)
	for missing(dir) {
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".check-*")
	if err != nil {
		return fmt.Errorf("create ledger: %w", err)
	}
	_, err = f.Write(make([]byte, emptyLedger))
	return Wrap("create ledger", errors.Join(err, f.Close(), os.Remove(f.Name())))
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// emptyLedger is about as large as a new ledger.
const emptyLedger = 128 << 10
