package supervise

import (
	"errors"
	"fmt"
	"os"

	"github.com/creack/pty"
	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
)

// A link connects one of the tool's streams to the shim: by a pipe, or by a terminal if the
// caller's stream is one, so that the tool writes as to a terminal. It is not the tool's
// controlling terminal: that stays the caller's, with stdin, signals and job control.
type link struct {
	ours, tools *os.File // the shim's end and the tool's
	screen      *os.File // the caller's terminal, nil if the link is a pipe
}

// newLink makes a link for output to one of the caller's streams.
func newLink(to *os.File) (l link, err error) {
	if !isatty.IsTerminal(to.Fd()) {
		if l.ours, l.tools, err = os.Pipe(); err != nil {
			return link{}, fmt.Errorf("make pipe: %w", err)
		}
		return l, nil
	}
	l.screen = to
	if l.ours, l.tools, err = pty.Open(); err != nil {
		return link{}, fmt.Errorf("make terminal: %w", err)
	}
	if err := l.imitate(); err != nil {
		return link{}, errors.Join(fmt.Errorf("make terminal: %w", err), l.ours.Close(),
			l.tools.Close())
	}
	return l, nil
}

// takesAll reports whether a file takes any amount at once, as no pipe, socket or terminal does.
func takesAll(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

// imitate gives the shim's terminal the modes and the size of the caller's, without output
// processing: bytes pass as the tool has written them, and the caller's terminal processes them.
func (l link) imitate() error {
	modes, err := unix.IoctlGetTermios(int(l.screen.Fd()), GetTermios)
	if err != nil {
		return err
	}
	modes.Oflag &^= unix.OPOST
	if err := unix.IoctlSetTermios(int(l.tools.Fd()), SetTermios, modes); err != nil {
		return err
	}
	l.resize()
	return nil
}

// resize gives the shim's terminal the size of the caller's, and reports whether it had another
// one.
func (l link) resize() (changed bool) {
	if l.screen == nil {
		return false
	}
	size, err := unix.IoctlGetWinsize(int(l.screen.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return false // the caller's terminal is gone
	}
	withFD(l.ours, func(fd int) {
		before, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		changed = err == nil && *before != *size &&
			unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, size) == nil
	})
	return changed
}

// withFD calls use with a file's descriptor, unless the file is closed. File.Fd would disable the
// file's deadlines.
func withFD(f *os.File, use func(fd int)) {
	if raw, err := f.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { use(int(fd)) })
	}
}
