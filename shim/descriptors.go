package shim

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/supervise"

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

// checkPipes fails with a pass if the tool inherits a pipe, besides the streams, that it is told to
// read: the caller can pass a key in it. A second run of the tool would find it empty. Pipes that
// nobody names are leftovers of the caller, such as a shell's loop over <(...).
func (f *found) checkPipes() error {
	if f.line.Mode == rewrite.Fresh && slices.ContainsFunc(supervise.Inherited(), f.isPassed) {
		return reason.OpenPipe
	}
	return nil
}

// isPassed reports whether a descriptor is such a pipe.
func (f *found) isPassed(fd int) bool {
	var file unix.Stat_t
	if unix.Fstat(fd, &file) != nil || !isPipe(fd, &file) || !f.names(fd) {
		return false
	}
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(poll, 0)
	atEnd := err == nil && n == 1 && poll[0].Revents == unix.POLLHUP
	isStream := func(stream *os.File) bool {
		var other unix.Stat_t
		return unix.Fstat(int(stream.Fd()), &other) == nil && other.Ino == file.Ino &&
			other.Dev == file.Dev
	}
	return !atEnd && !slices.ContainsFunc([]*os.File{f.env.Stdin, f.env.Stdout, f.env.Stderr},
		isStream)
}

// names reports whether the call tells the tool of a descriptor: an argument or a variable has the
// path, a variable is the number, or the tool is a script that reads it.
func (f *found) names(fd int) bool {
	number := strconv.Itoa(fd)
	hasPath := func(text string) bool { return strings.Contains(text, "/fd/"+number) }
	return slices.ContainsFunc(f.env.Args, hasPath) ||
		slices.ContainsFunc(f.env.Environ, func(variable string) bool {
			name, value, _ := strings.Cut(variable, "=")
			return value == number && name != "SHLVL" || hasPath(value)
		}) || f.real.ReadsDescriptor(number)
}

// isPipe reports whether a descriptor is a pipe's reading end or a local socket's, or a file
// without a name, as a shell makes for <<END.
func isPipe(fd int, file *unix.Stat_t) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	reads := err == nil && flags&unix.O_ACCMODE != unix.O_WRONLY
	switch file.Mode & unix.S_IFMT {
	case unix.S_IFIFO:
		return reads
	case unix.S_IFREG:
		return reads && file.Nlink == 0
	case unix.S_IFSOCK:
		address, err := unix.Getsockname(fd)
		listens, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
		_, local := address.(*unix.SockaddrUnix)
		return err == nil && local && listens == 0
	}
	return false
}
