package ctl

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/test/sample"
)

// A limited store fails, and notes how long it was waited for at most.
type limited struct {
	ledger.Remote
	limit time.Duration
}

func (s *limited) note(ctx context.Context) error {
	until, _ := ctx.Deadline()
	s.limit = time.Until(until)
	return errors.New("no answer")
}

func (s *limited) Reset(ctx context.Context, _ ledger.ChainName, _ decide.Millis) (int64, error) {
	return 0, s.note(ctx)
}

func (s *limited) Forget(ctx context.Context,
	_ ledger.ChainName, _ decide.Millis, _ bool) (int64, error) {
	return 0, s.note(ctx)
}

func (s *limited) Close() {}

// A store that does not answer is waited for half a minute, or for its configured time.
func TestStoreHasALimit(t *testing.T) {
	path := sample.Ledger(t, 30, false)
	db, err := sql.Open("sqlite3", path)
	if err == nil {
		_, err = db.Exec("UPDATE sessions SET shared = 'task'")
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"reset c1 --yes", "prune c1 --yes"} {
		var out, errs strings.Builder
		var s limited
		a := &app.App{Stdin: os.Stdin, Stdout: view.Screen{Writer: &out},
			Stderr: view.Screen{Writer: &errs}, Now: sample.Now,
			OpenRemote: func(ledger.RemoteOptions) (ledger.Remote, error) { return &s, nil },
			Environ: []string{"HOME=/home/me", "REPRISE_STORE=s3://x", "REPRISE_PROJECT=p",
				"XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(path))}}
		code := a.Run(newRoot(a), strings.Fields(args))
		if code != app.ExitFailed || s.limit <= 0 || s.limit > 30*time.Second {
			t.Errorf("%s: exit %d, %s: %s", args, code, s.limit, &errs)
		}
	}
}
