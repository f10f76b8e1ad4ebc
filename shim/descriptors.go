package shim

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

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

// startAlone starts a program without the descriptors that the caller has left open: another process
// can be waiting for their end.
func startAlone(cmd *exec.Cmd) error {
	open, _ := os.ReadDir("/dev/fd") // some systems have none
	for _, entry := range open {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd < 3 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			syscall.CloseOnExec(fd)
			defer func() { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFD, flags) }() // the tool inherits it
		}
	}
	return cmd.Start()
}
