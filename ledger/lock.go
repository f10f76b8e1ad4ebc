package ledger

import (
	"os"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3"
)

// LockTimeout is how long a call waits for a process that holds SQLite's lock. Calls of ours hold
// it only together with the file lock.
const LockTimeout = 60 * time.Millisecond

// callsTimeout is how long a call waits for other calls; each holds the file lock for a moment. Of
// 64 at once, on two processors that other work shares, the last waits more than a second.
const callsTimeout = 1800 * time.Millisecond

// lockPause is how long a process waits before it tries SQLite's lock again.
const lockPause = time.Millisecond

// A fileLock is a lock beside the ledger. Writers take it before SQLite's own lock, which can only
// be retried, so that some of many processes would never get it. SQLite's lock alone keeps the
// ledger consistent: if there can be no file lock, as in a read-only directory, every process
// proceeds.
type fileLock struct{ path string }

// take waits at most wait for the lock. Without the lock, release does nothing.
func (l fileLock) take(wait time.Duration) (release func(), ok bool) {
	release = func() {}
	if l.path == "" {
		return release, true
	}
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK,
		0o600)
	if err != nil {
		return release, true
	}
	_ = restrictMode(l.path, 0o600) // the file is empty
	if lockFile(f, syscall.LOCK_NB) {
		return func() { f.Close() }, true
	}
	if wait == 0 {
		f.Close()
		return release, false
	}
	locked := make(chan bool, 1)
	go func() { locked <- lockFile(f, 0) }()
	select {
	case <-locked:
		return func() { f.Close() }, true
	case <-time.After(wait):
		go func() {
			<-locked
			f.Close() // a lock that comes too late is released at once
		}()
		return release, false
	}
}

// lockFile takes the lock and reports whether it could. On a file system without locks it returns
// true.
func lockFile(f *os.File, how int) bool {
	for {
		switch syscall.Flock(int(f.Fd()), syscall.LOCK_EX|how) {
		case syscall.EINTR: // on a network file system
		case syscall.EWOULDBLOCK:
			return false
		default:
			return true
		}
	}
}

// errBusy is SQLite's error for a ledger that another process uses.
var errBusy = sqlite3.Error{Code: sqlite3.ErrBusy}

// retry calls try for up to a time, as long as it returns again. SQLite's own busy handler pauses
// longer each time, and gives up after seven tries.
func retry(within time.Duration, try func() (err error, again bool)) error {
	var deadline time.Time
	for {
		err, again := try()
		if now := time.Now(); deadline.IsZero() {
			deadline = now.Add(within)
		} else if now.After(deadline) {
			again = false
		}
		if !again {
			return err
		}
		time.Sleep(lockPause)
	}
}
