package shim

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func dieWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// widen makes a pipe take a megabyte, which is what any user may have by default.
// Where it may not, the pipe stays as it is.
func widen(pipe *os.File) { _, _ = unix.FcntlInt(pipe.Fd(), unix.F_SETPIPE_SZ, 1<<20) }

func foregroundGroup(tty *os.File) int {
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return -1
	}
	return group
}

// childrenInGroup are the children of a process that are in our process group, as
// far as the system tells.
func childrenInGroup(pid int) []*os.Process {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	var children []*os.Process
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				continue
			}
			if group, err := syscall.Getpgid(child); err == nil && group == syscall.Getpgrp() {
				if p, err := os.FindProcess(child); err == nil {
					children = append(children, p)
				}
			}
		}
	}
	return children
}
