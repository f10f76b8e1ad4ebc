package shim

import (
	"os"

	"golang.org/x/sys/unix"
)

// startPoller makes Go open the poller now, and reports whether that was possible. If no
// descriptors are left when Go opens it later, Go ends the process.
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

// spare reports whether n more descriptors can be opened.
func spare(n int) bool {
	var got []int
	for range n {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0) // Go has opened 0 if it was closed
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
