package supervise

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// StartAlone starts a program without the descriptors that the caller has left open: another
// process can be waiting for their end.
func StartAlone(cmd *exec.Cmd) error {
	for _, fd := range Inherited() {
		syscall.CloseOnExec(fd)
		// the tool inherits it
		defer func() { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0) }()
	}
	return cmd.Start()
}

// Inherited returns the descriptors besides the streams that the tool inherits from the caller.
func Inherited() (fds []int) {
	open, _ := os.ReadDir("/dev/fd") // some systems have none
	for _, entry := range open {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd < 3 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			fds = append(fds, fd)
		}
	}
	return fds
}
