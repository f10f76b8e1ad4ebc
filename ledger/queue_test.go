package ledger

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Those who wait have their turn while others are at work, however long that takes
// together; nobody has it at the same time as somebody else.
func TestQueue(t *testing.T) {
	q := queue{filepath.Join(t.TempDir(), "lock")}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			err := q.inTurn(func(*turn) error {
				if !mu.TryLock() {
					t.Error("two have the turn")
					return nil
				}
				defer mu.Unlock()
				time.Sleep(LockTimeout / 5)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// Nobody waits for one who does not get on.
func TestQueueThatStands(t *testing.T) {
	for name, note := range map[string]func(t *testing.T) []byte{
		"he waits himself": func(*testing.T) []byte {
			return binary.LittleEndian.AppendUint32([]byte{1}, uint32(os.Getpid()))
		},
		"he is stopped": func(t *testing.T) []byte {
			cmd := exec.Command("sleep", "60")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
			if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			for !stopped(cmd.Process.Pid) {
				time.Sleep(time.Millisecond)
			}
			return binary.LittleEndian.AppendUint32([]byte{0}, uint32(cmd.Process.Pid))
		},
		"nobody of ours": func(*testing.T) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			q := queue{filepath.Join(t.TempDir(), "lock")}
			f, err := os.Create(q.path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if !lock(f) {
				t.Fatal("the lock is not free")
			}
			if _, err := f.WriteAt(note(t), 0); err != nil {
				t.Fatal(err)
			}
			if err := q.inTurn(func(*turn) error { return nil }); !isBusy(err) {
				t.Errorf("%v", err)
			}
			f.Close()
			if err := q.inTurn(func(*turn) error { return nil }); err != nil {
				t.Errorf("then: %v", err)
			}
		})
	}
}

// Who holds the lock may end without a ring.
func TestQueueWithoutABell(t *testing.T) {
	q := queue{filepath.Join(t.TempDir(), "lock")}
	f, err := os.Create(q.path)
	if err != nil {
		t.Fatal(err)
	}
	if !lock(f) {
		t.Fatal("the lock is not free")
	}
	time.AfterFunc(LockTimeout/5, func() { f.Close() })
	if err := q.inTurn(func(*turn) error { return nil }); err != nil {
		t.Error(err)
	}
}

// A ring wakes one who waits, also where somebody has emptied the file before.
func TestBell(t *testing.T) {
	for _, size := range []int64{0, 5, 12} {
		f, err := os.Create(filepath.Join(t.TempDir(), "lock"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b := bellOf(f)
		defer b.remove()
		ring(f) // for nobody
		if err := f.Truncate(size); err != nil {
			t.Fatal(err)
		}
		woken := make(chan bool)
		go func() {
			first := b.listen()
			for rung := first; rung == first; rung = b.listen() {
				b.wait(rung, time.Hour)
			}
			close(woken)
		}()
		for done := false; !done; {
			select {
			case <-woken:
				done = true
			case <-time.After(time.Millisecond):
				ring(f)
			}
		}
	}
}

// Without a place for its lock the queue is open.
func TestNoQueue(t *testing.T) {
	for _, path := range []string{"", "/proc/none/lock", t.TempDir()} {
		ran := false
		if err := (queue{path}).inTurn(func(*turn) error { ran = true; return nil }); err != nil || !ran {
			t.Errorf("%q: ran %v, %v", path, ran, err)
		}
	}
}
