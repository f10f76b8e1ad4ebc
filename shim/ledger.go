package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"time"

	"reprise/config"
	"reprise/ledger"
)

// ledgerLimit is how long the ledger can delay the start of a tool in all, however slow the disk or
// the locks are.
const ledgerLimit = 2 * time.Second

// limitStep is the time between two looks at the clock.
const limitStep = 50 * time.Millisecond

// errSlow reports that the ledger has taken too long.
var errSlow = errors.New("the ledger took too long: its disk or its locks are slow")

// A timedLedger is the ledger, nil until it is opened, with the time that it has taken before the
// tool's start.
type timedLedger struct {
	*ledger.Ledger
	spent  time.Duration
	slow   bool         // it has taken too long
	asking atomic.Int32 // above 0 while git is asked
}

func (a *asked) openLedger() error {
	if a.ledger.Ledger != nil {
		return nil
	}
	path, err := config.LedgerFile(a.env.Own)
	if err != nil {
		return a.fault("find ledger", err)
	}
	open := ledger.Open
	if a.preview {
		open = openPreview
	}
	if a.ledger.Ledger, err = inTime(a.ledger, func() (*ledger.Ledger, error) {
		return open(path)
	}); err != nil {
		return a.fault("open ledger", err)
	}
	if a.ledger.Aside != "" {
		a.log.setAside(a.ledger.Aside)
	}
	return nil
}

// openPreview opens the ledger for reading. It fails where a call could not write to the ledger. If
// there is none yet, it returns an empty one in memory.
func openPreview(path string) (*ledger.Ledger, error) {
	l, err := ledger.OpenExisting(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ledger.OpenMemory()
	case err != nil:
		return nil, err
	}
	if err := l.CheckWritable(); err != nil && !errors.Is(err, ledger.ErrLocked) {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// inTime runs work of the ledger before the tool starts. When the ledger's time is over, the work
// is left behind and the ledger is used no more: do must not change data that the call goes on
// using. The time that git takes does not count.
func inTime[T any](l *timedLedger, do func() (T, error)) (result T, err error) {
	if l.slow {
		return result, errSlow
	}
	type answer struct {
		result T
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if broken := recover(); broken != nil {
				a.err = fmt.Errorf("%v", broken)
			}
			done <- a
		}()
		a.result, a.err = do()
	}()
	for start := time.Now(); ; start = time.Now() {
		select {
		case a := <-done:
			l.spent += time.Since(start)
			return a.result, a.err
		case <-time.After(limitStep):
		}
		if l.asking.Load() == 0 {
			l.spent += time.Since(start)
		}
		if l.spent >= ledgerLimit {
			l.slow = true
			return result, errSlow
		}
	}
}

// do is inTime for work without a result.
func (l *timedLedger) do(work func() error) error {
	_, err := inTime(l, func() (none struct{}, err error) { return none, work() })
	return err
}

// askGit runs git while the ledger decides.
func askGit[T any](l *timedLedger, git func() T) T {
	l.asking.Add(1)
	defer l.asking.Add(-1)
	return git()
}
