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

// lastSignal is the highest number of a signal.
const lastSignal = syscall.Signal(64)

// endsWithUs has a child end when we are killed.
func endsWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// ownProgram is this program, also after its file was replaced.
func ownProgram() string { return "/proc/self/exe" }

// childrenInGroup are the children of a process that are in our process group, as
// far as the system tells.
func childrenInGroup(pid int) []*os.Process {
	var children []*os.Process
	for _, child := range childrenOf(pid) {
		if group, err := syscall.Getpgid(child); err == nil && group == syscall.Getpgrp() {
			if p, err := os.FindProcess(child); err == nil {
				children = append(children, p)
			}
		}
	}
	return children
}

// descendants are the children of a process, in whatever group, and theirs.
func descendants(pid int) (all []*os.Process) {
	for _, child := range childrenOf(pid) {
		if p, err := os.FindProcess(child); err == nil {
			all = append(append(all, p), descendants(child)...)
		}
	}
	return all
}

func childrenOf(pid int) (children []int) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

// widen makes a pipe take a megabyte, which is what any user may have by default.
// Where it may not, the pipe stays as it is. File.Fd would take its deadlines away.
func widen(pipe *os.File) {
	if raw, err := pipe.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20) })
	}
}

// whenHungUp calls gone once the other side of a pipe or a socket has been closed, unless
// stop is closed before. The descriptor is the caller's, and may be in use by others: it
// is only asked about, through an epoll descriptor that Go's own poller waits for.
//
// A FIFO is left alone: another reader may open it after the first.
func whenHungUp(fd int, stop <-chan struct{}, gone func()) {
	if !cannotBeOpenedAgain(fd) {
		return
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return // a write that fails tells as well, only later
	}
	err = unix.SetNonblock(epoll, true)
	if err == nil {
		err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{}) // errors and hang-ups are always told
	}
	f := os.NewFile(uintptr(epoll), "epoll")
	raw, rawErr := f.SyscallConn()
	if err != nil || rawErr != nil {
		f.Close()
		return
	}
	go func() {
		<-stop
		f.Close()
	}()
	go func() {
		err := raw.Read(func(epoll uintptr) bool { return hungUp(fd) })
		if err == nil {
			gone()
		}
	}()
}

// cannotBeOpenedAgain reports whether a descriptor is a pipe without a name, or a socket.
func cannotBeOpenedAgain(fd int) bool {
	var info unix.Stat_t
	var system unix.Statfs_t
	if unix.Fstat(fd, &info) != nil || unix.Fstatfs(fd, &system) != nil {
		return false
	}
	switch info.Mode & unix.S_IFMT {
	case unix.S_IFIFO:
		return system.Type == unix.PIPEFS_MAGIC
	case unix.S_IFSOCK:
		return true
	}
	return false
}

func memfd() (int, error) { return unix.MemfdCreate("reprise", unix.MFD_CLOEXEC) }

// directoryID tells a directory from another one that has taken its name. A file system
// may give a new directory the number of one that was removed, so the time at which it
// was made counts as well.
func directoryID(path string) string {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d %d %d.%d", st.Dev_major, st.Dev_minor, st.Ino, st.Btime.Sec, st.Btime.Nsec)
}
