package shim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/config"
	"reprise/fleet"
	"reprise/ledger"
)

// A call waits for what the job's last call has left to another process: not for another job's, and not for
// what has failed long ago.
func TestAwaitFinished(t *testing.T) {
	state := t.TempDir()
	settings := config.Store{UploadTimeout: time.Minute}
	book := &fleet.Book{Project: "org/repo"}
	c := &call{env: Env{Environ: []string{"XDG_STATE_HOME=" + state}}, shared: &sharing{settings: settings, book: book},
		record: &ledger.Call{Cwd: "/w", Task: "one"}}
	dir, err := config.StateDir(c.env.Own)
	if err != nil || !strings.HasPrefix(dir, state) {
		t.Fatal(dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	leave := func(task string) string {
		t.Helper()
		f, err := os.CreateTemp(dir, unfinishedOf(book.Mark(&ledger.Call{Cwd: "/w", Task: task})))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if found, err := filepath.Match(UnfinishedFiles, filepath.Base(f.Name())); err != nil || !found {
			t.Errorf("%s is not cleaned up", f.Name())
		}
		return f.Name()
	}
	leave("another")
	failed := leave("one")
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(failed, long, long); err != nil {
		t.Fatal(err)
	}
	c.awaitFinished()

	own := leave("one")
	removed := make(chan time.Time, 1)
	time.AfterFunc(200*time.Millisecond, func() {
		removed <- time.Now()
		os.Remove(own)
	})
	c.awaitFinished()
	select {
	case <-removed:
	default:
		t.Error("it has not waited")
	}

	leave("one")
	c.shared.settings.UploadTimeout = 100 * time.Millisecond // after which it has failed
	c.awaitFinished()
}
