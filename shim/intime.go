package shim

import (
	"errors"
	"fmt"
	"time"
)

// ledgerLimit is how long the ledger can delay the start of a tool in all, however slow the disk or the locks are.
const ledgerLimit = 2 * time.Second

// limitStep is the time between two looks at the clock.
const limitStep = 50 * time.Millisecond

// errSlow reports that the ledger has taken too long.
var errSlow = errors.New("the ledger took too long: its disk or its locks are slow")

// inTime runs work of the ledger before the tool starts. When the ledger's time is over, the work is left behind and the
// ledger is used no more: do must not change data that the call goes on using. The time that git takes does not count.
func inTime[T any](c *call, do func() (T, error)) (result T, err error) {
	if c.slow {
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
			c.ledgerTime += time.Since(start)
			return a.result, a.err
		case <-time.After(limitStep):
		}
		if c.asking.Load() == 0 {
			c.ledgerTime += time.Since(start)
		}
		if c.ledgerTime >= ledgerLimit {
			c.slow = true
			return result, errSlow
		}
	}
}

// askGit runs git while the ledger decides.
func askGit[T any](c *call, git func() T) T {
	c.asking.Add(1)
	defer c.asking.Add(-1)
	return git()
}
