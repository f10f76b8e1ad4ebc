//go:build !linux

package shim

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func dieWithUs() *syscall.SysProcAttr { return nil }

// widen: pipes have the size that the system gives them.
func widen(*os.File) {}

func foregroundGroup(tty *os.File) int {
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return -1
	}
	return group
}

// childrenInGroup: this system does not tell without help.
func childrenInGroup(int) []*os.Process { return nil }
