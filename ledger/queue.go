package ledger

import (
	"encoding/binary"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3"
)

// LockTimeout is the longest time that any call waits for somebody who keeps the
// ledger to himself.
const LockTimeout = 60 * time.Millisecond

// longestWait is the longest time that it waits for others of its kind who are at
// work, each for a moment: of 64 calls at once, on two busy processors, the last
// has its turn after some tenths of a second.
const longestWait = 2 * time.Second

// lockPause is how long a process waits before it tries again what another one keeps it
// from, lookPause how long one in the queue waits before it looks again at who has the turn.
const (
	lockPause = time.Millisecond
	lookPause = LockTimeout / 3
)

// A queue is a lock beside the ledger, in which those who use it wait asleep.
// SQLite has them try again and again: of many, some come too late every time. It
// is no more than manners: what keeps the ledger whole is SQLite's own lock. The
// file says who has the turn, and whether he waits himself, for an outsider; behind
// that comes what the bell is rung by.
type queue struct{ path string }

// inTurn waits for our turn and then does something. Where the lock can not be had
// at all, as in a folder that is read-only, everybody's turn is now.
func (q queue) inTurn(do func(*turn) error) error { return q.take(true, do) }

// ifFree does something if nobody else has the turn.
func (q queue) ifFree(do func(*turn) error) error { return q.take(false, do) }

func (q queue) take(patient bool, do func(*turn) error) error {
	if q.path == "" {
		return do(&turn{})
	}
	f, err := os.OpenFile(q.path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return do(&turn{})
	}
	defer f.Close()
	_ = narrowTo(f, 0o600) // there is nothing in it to hide
	// A lock that is free is taken without a look at the clock: a machine that is so busy
	// that we were not run for a while is nobody who holds it.
	if !lock(f) && !(patient && wait(f)) {
		return sqlite3.Error{Code: sqlite3.ErrBusy}
	}
	defer func() {
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
		ring(f)
	}()
	t := &turn{file: f}
	t.note(false)
	return do(t)
}

// lock takes the lock if it is free. On a file system without such locks there is no
// queue.
func lock(f *os.File) bool {
	for {
		switch syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) {
		case syscall.EINTR: // on a file system over the network
		case syscall.EWOULDBLOCK:
			return false
		default:
			return true
		}
	}
}

// wait waits for the lock as long as those get on who have it. Of those who wait the
// bell wakes one at a time: the system would wake each several times before it has the
// lock, a tenth of the processor time of many calls at once.
func wait(f *os.File) bool {
	b := bellOf(f)
	defer b.remove()
	start := time.Now()
	look := start.Add(LockTimeout)
	last, _ := holder(f)
	for {
		rung := b.listen()
		if lock(f) {
			return true
		}
		if left := time.Until(look); left > 0 {
			b.wait(rung, left)
			continue
		}
		now, atWork := holder(f)
		if now == last {
			atWork = atWork && !stopped(now)
		}
		if !atWork || time.Since(start) > longestWait {
			return false
		}
		last, look = now, time.Now().Add(lookPause)
	}
}

// holder gives the process that has the turn, and whether it waits for nobody else.
func holder(f *os.File) (pid int, atWork bool) {
	var note [turnSize]byte
	if _, err := f.ReadAt(note[:], 0); err != nil {
		return 0, false
	}
	return int(binary.LittleEndian.Uint32(note[1:])), note[0] == 0
}

// A turn is the time that a process has the ledger to itself, as far as the others
// keep to the queue.
type turn struct {
	file  *os.File // nil outside of a queue
	waits bool
}

const turnSize = 5

// note says who has the turn, and whether he waits. Should that fail, the others
// have less patience, or more.
func (t *turn) note(waits bool) {
	if t.waits = waits; t.file == nil {
		return
	}
	note := [turnSize]byte{}
	if waits {
		note[0] = 1
	}
	binary.LittleEndian.PutUint32(note[1:], uint32(os.Getpid()))
	_, _ = t.file.WriteAt(note[:], 0)
}

// repeat repeats what failed because another process holds the ledger, for up to
// LockTimeout. SQLite's own way of waiting pauses longer each time, and gives up
// after seven tries.
func (t *turn) repeat(try func() error) error {
	deadline := time.Now().Add(LockTimeout)
	for {
		err := try()
		busy := isBusy(err)
		if busy != t.waits {
			t.note(busy)
		}
		if !busy || time.Now().After(deadline) {
			return err
		}
		time.Sleep(lockPause)
	}
}

// isBusy tells of an error by which SQLite says that another process holds the
// ledger.
func isBusy(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrProtocol)
}
