package shim

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Main runs in the process's first thread: an exec from another one would lose the
// signals that wait for the first alone, and a tool that another one has made would end
// with it.
func init() { runtime.LockOSThread() }

// startPoller has Go open its poller now, and reports whether it could: where the two descriptors for
// that cannot be had later, Go ends the process.
func startPoller() bool {
	if !spare(4) {
		return false
	}
	r, w, err := os.Pipe()
	if err != nil {
		return false
	}
	r.Close()
	w.Close()
	return true
}

// spare reports whether so many descriptors can be had.
func spare(n int) bool {
	var got []int
	for range n {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0) // Go has opened it where it was closed
		if err != nil {
			break
		}
		got = append(got, fd)
	}
	for _, fd := range got {
		unix.Close(fd)
	}
	return len(got) == n
}
