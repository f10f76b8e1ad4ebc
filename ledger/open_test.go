package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
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

// Of very many first calls at once some wait in vain for the others: they find the ledger that one
// of them has made.
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

// A ledger of an older version is set aside, once, and a new one begins.
func TestOlderIsSetAside(t *testing.T) {
	l, path := newLedger(t)
	play(t, l, namedCall(l, "coder", 1))
	if _, err := l.db.Exec(fmt.Sprint("PRAGMA user_version = ", schemaVersion-1)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var aside atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			anew, err := Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			if anew.Aside != "" {
				aside.Add(1)
			}
			var chains int
			if err := anew.db.QueryRow("SELECT count(*) FROM chains").Scan(&chains); err != nil ||
				chains != 0 {
				t.Errorf("%d chains, %v", chains, err)
			}
			if err := errors.Join(anew.Check(), anew.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := os.Stat(fmt.Sprint(path, olderSuffix, schemaVersion-1)); err != nil ||
		aside.Load() != 1 {
		t.Errorf("set aside %d times, %v", aside.Load(), err)
	}
}

// An older version's numbers are not given again, however it kept them.
func TestOlderNumbersAreNotGivenAgain(t *testing.T) {
	l, path := newLedger(t)
	if _, err := l.db.Exec(`DROP TABLE calls; DELETE FROM sqlite_sequence;
		CREATE TABLE calls (id INTEGER PRIMARY KEY); INSERT INTO calls VALUES (41);
		PRAGMA user_version = 1`); err != nil {
		t.Fatal(err)
	}
	anew, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer anew.Close()
	if _, ticket := begin(t, anew, fmt.Sprintf(base, 1), 1000); ticket.ID != 42 {
		t.Errorf("call %d", ticket.ID)
	}
}

// A call that runs while its ledger is set aside ends nowhere: not as a call of the new ledger.
func TestACallRunsWhileTheLedgerIsSetAside(t *testing.T) {
	l, path := newLedger(t)
	_, running := begin(t, l, fmt.Sprintf(base, 1), 1000)
	if _, err := l.db.Exec("PRAGMA user_version = 1"); err != nil {
		t.Fatal(err)
	}
	anew, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer anew.Close()
	_, other := begin(t, anew, fmt.Sprintf(base, 2), 2000)
	before := row(t, anew, "sessions", other.Session)
	finish(t, l, running, goodOutcome(someID, "done", 3000))
	wantRow(t, "the other call", row(t, anew, "calls", other.ID),
		map[string]any{"outcome": nil, "native_id": nil})
	wantRow(t, "its session", row(t, anew, "sessions", other.Session), before)
}
