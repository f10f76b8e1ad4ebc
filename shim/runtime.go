package shim

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Main runs in the process's first thread: an exec from another one would lose the
// signals that wait for the first alone, and a tool that another one has made would end
// with it.
func init() { runtime.LockOSThread() }

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
