package jobs

import (
	"os"
	"path/filepath"
	"regexp"
	"syscall"
)

var threadFile = regexp.MustCompile(`([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$`)

// lockThread takes the lock that codex holds while it writes to a thread, the lock of the world's
// one thread.
func (w *world) lockThread() {
	w.t.Helper()
	id := threadFile.FindStringSubmatch(w.transcripts()[0])[1]
	lock := filepath.Join(w.Root, "home", ".codex", "thread-writer-locks", id+".lock")
	f, err := os.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { f.Close() })
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		w.t.Fatal(err)
	}
}
