package ledger

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"
)

// Many first calls at once make one ledger, and it is whole. None finds it locked.
func TestOpenAtOnce(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "state", "ledger.db")
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				l, err := Open(path)
				if err != nil {
					t.Error(err)
					return
				}
				l.Close()
			})
		}
		wg.Wait()
		l, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.Check(), l.CheckWritable(), l.Close()); err != nil {
			t.Error(err)
		}
	}
}
