package shim

import (
	"os"

	"golang.org/x/sys/unix"
)

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
