package shim

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func dieWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

func foregroundGroup(tty *os.File) int {
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return -1
	}
	return group
}
