package shim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/config"
	"reprise/ledger"
)

// jobsOnly is a store that only names jobs.
type jobsOnly struct{ ledger.Remote }

func (jobsOnly) Job(c *ledger.Call) string { return c.Task }

// A call waits for the work that the job's last call has left to another process: not for another
// job's, and not for work that failed long ago, also if the clock was set back since.
func TestAwaitFinished(t *testing.T) {
	state := t.TempDir()
	settings := config.Store{UploadTimeout: time.Minute}
	c := &found{asked: &asked{env: Env{Environ: []string{"XDG_STATE_HOME=" + state}}}}
	call := &ledger.Call{Record: ledger.Record{Cwd: "/w", Task: "one"}}
	b := &book{found: c, settings: settings, remote: jobsOnly{}}
	dir, err := config.StateDir(c.env.Own)
	if err != nil || !strings.HasPrefix(dir, state) {
		t.Fatal(dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	leave := func(task string) string {
		t.Helper()
		f, err := os.CreateTemp(dir,
			unfinishedOf(b.remote.Job(&ledger.Call{Record: ledger.Record{Task: task}})))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if found, err := filepath.Match(UnfinishedFiles, filepath.Base(f.Name())); err != nil ||
			!found {
			t.Errorf("%s is not cleaned up", f.Name())
		}
		return f.Name()
	}
	leave("another")
	for _, age := range []time.Duration{time.Hour, -time.Hour} {
		long := time.Now().Add(-age)
		if err := os.Chtimes(leave("one"), long, long); err != nil {
			t.Fatal(err)
		}
	}
	b.awaitFinished(call)

	own := leave("one")
	removed := make(chan time.Time, 1)
	time.AfterFunc(200*time.Millisecond, func() {
		removed <- time.Now()
		os.Remove(own)
	})
	b.awaitFinished(call)
	select {
	case <-removed:
	default:
		t.Error("it has not waited")
	}

	leave("one")
	b.settings.UploadTimeout = 100 * time.Millisecond // after which it has failed
	b.awaitFinished(call)
}
