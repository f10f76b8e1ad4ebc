package ledger

import (
	"path/filepath"
	"sync"
	"testing"
)

// Many first calls at once make one ledger.
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
	}
}
