package ledger

import (
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Those who wait have the lock while others are at work, however long that takes together; no two
// have it at once.
func TestFileLock(t *testing.T) {
	l := fileLock{filepath.Join(t.TempDir(), "lock")}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			release, ok := l.take(time.Minute)
			if !ok || !mu.TryLock() {
				t.Error("two have the lock, or one has not waited")
				return
			}
			time.Sleep(5 * time.Millisecond)
			mu.Unlock()
			release()
		})
	}
	wg.Wait()
}

// A process that keeps the lock is waited for only so long, and not at all by a process that does
// not want to. A process that has given up does not get the lock later.
func TestFileLockIsKept(t *testing.T) {
	l := fileLock{filepath.Join(t.TempDir(), "lock")}
	release, ok := l.take(0)
	if !ok {
		t.Fatal("the lock is not free")
	}
	for _, wait := range []time.Duration{0, 20 * time.Millisecond} {
		start := time.Now()
		if release, ok := l.take(wait); ok || time.Since(start) < wait {
			t.Errorf("taken after %v, or given up too early", wait)
			release()
		}
	}
	time.AfterFunc(20*time.Millisecond, release)
	if release, ok = l.take(time.Minute); !ok {
		t.Fatal("it was not given back")
	}
	release()
	if _, ok = l.take(time.Minute); !ok {
		t.Error("one that gave up has it")
	}
}

// Without a place for its file everybody has the lock.
func TestNoFileLock(t *testing.T) {
	for _, path := range []string{"", "/proc/none/lock", t.TempDir()} {
		for range 2 {
			if _, ok := (fileLock{path}).take(0); !ok {
				t.Errorf("%q: there is a lock", path)
			}
		}
	}
}
