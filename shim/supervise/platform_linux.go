package supervise

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

// The requests for the modes of a terminal.
const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)

// EndsWithUs returns attributes that kill a child when the shim is killed.
func EndsWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// ownProgram returns a path of the running program, which holds even if the file was replaced.
func ownProgram() string { return "/proc/self/exe" }

func childrenOf(pid int) (children []*os.Process) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // it is a valid pattern
	for _, list := range lists {
		text, _ := os.ReadFile(list) // it fails if the thread has ended
		for _, field := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(field) // it is a number
			if p, err := os.FindProcess(child); err == nil {
				children = append(children, p)
			}
		}
	}
	return children
}

// halt returns how a child has stopped or ended, with no signal if it runs. Others can still wait
// for that.
func halt(pid int) (info unix.Siginfo, err error) {
	err = unix.Waitid(unix.P_PID, pid, &info,
		unix.WEXITED|unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT, nil)
	return info, err
}

// halted reports whether a child has stopped or ended.
func halted(pid int) bool {
	info, err := halt(pid)
	return err != nil || info.Signo != 0
}

// widen sets a pipe's capacity to 1 MB, the default limit for unprivileged users. If that
// fails, the capacity stays.
func widen(pipe *os.File) {
	withFD(pipe, func(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, 1<<20) })
}

// whenHungUp calls gone once the other end of a pipe or a socket has been closed, unless stop
// is closed before. The descriptor is the caller's and shared with other processes, so the
// flags are not changed: Go's poller waits for an epoll descriptor that watches it.
//
// It does nothing for a FIFO, which another reader can open later.
func whenHungUp(fd int, stop <-chan struct{}, gone func()) {
	if !cannotBeOpenedAgain(fd) {
		return
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return // a failing write reports it too, only later
	}
	err = unix.SetNonblock(epoll, true)
	if err == nil {
		// errors and hang-ups are always reported
		err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{})
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
		err := raw.Read(func(epoll uintptr) bool { return HungUp(fd) })
		if err == nil {
			gone()
		}
	}()
}

// cannotBeOpenedAgain reports whether a descriptor is an anonymous pipe or a socket.
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

func memoryFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("reprise", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "stdin"), nil
}
