package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
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

// Of very many first calls at once some wait in vain for the others: they find the ledger that one of them has made.
func TestOpenWhatOthersMake(t *testing.T) {
	t.Parallel()
	_, made := newLedger(t)
	path := filepath.Join(t.TempDir(), "ledger.db")
	release, ok := fileLock{path + ".lock"}.take(0)
	if !ok {
		t.Fatal("the lock is taken")
	}
	defer release()
	done := make(chan error)
	go func() {
		l, err := Open(path)
		if err == nil {
			err = l.db.Close()
		}
		done <- err
	}()
	time.Sleep(50 * lockPause) // it waits for the lock by then
	for _, suffix := range []string{"-wal", ""} {
		if err := os.Rename(made+suffix, path+suffix); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A later version brings a ledger up to date and keeps what it holds. Only then the earlier version leaves it alone.
func TestMigrate(t *testing.T) {
	l, path := newLedger(t)
	play(t, l, namedCall(l, "coder", 1))
	released := migrations
	defer func() { migrations = released }()
	migrations = append(slices.Clone(released), "ALTER TABLE chains ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'")
	later, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer later.Close()
	var role, colour string
	if err := later.db.QueryRow("SELECT role, colour FROM chains").Scan(&role, &colour); err != nil || role != "coder" || colour != "red" {
		t.Errorf("%s, %s, %v", role, colour, err)
	}
	if err := later.Check(); err != nil {
		t.Error(err)
	}
	migrations = released
	if _, err := Open(path); !errors.Is(err, ErrNewer) {
		t.Errorf("the earlier version: %v", err)
	}
}
