package shim

import (
	"errors"
	"fmt"
	"os"

	"github.com/creack/pty"
	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
)

// A link leads from one of the tool's streams to us. Where the caller's own stream is a
// terminal it is a terminal too, so that the tool writes what it would write there. It is not
// the tool's controlling terminal: that is the caller's, with its stdin, signals and job control.
type link struct {
	ours, tools *os.File
	screen      *os.File // the caller's terminal, nil where the link is a pipe
}

// newLink makes a link for what is to end up in the caller's stream.
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
		return link{}, errors.Join(fmt.Errorf("make terminal: %w", err), l.ours.Close(), l.tools.Close())
	}
	return l, nil
}

// imitate gives our terminal the modes and the size of the caller's. It hands on all bytes as the
// tool has written them: the caller's own terminal makes of them what it would have made without us.
func (l link) imitate() error {
	modes, err := unix.IoctlGetTermios(int(l.screen.Fd()), getTermios)
	if err != nil {
		return err
	}
	modes.Oflag &^= unix.OPOST
	if err := unix.IoctlSetTermios(int(l.tools.Fd()), setTermios, modes); err != nil {
		return err
	}
	l.resize()
	return nil
}

// resize gives our terminal the size of the caller's, and reports whether it had another one.
func (l link) resize() (changed bool) {
	if l.screen == nil {
		return false
	}
	size, err := unix.IoctlGetWinsize(int(l.screen.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return false // it is gone
	}
	_ = l.control(func(fd int) error {
		before, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		if err != nil || *before == *size {
			return err
		}
		changed = true
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, size)
	})
	return changed
}

// control has our end used, which File.Fd would make one that blocks.
func (l link) control(use func(fd int) error) error {
	raw, err := l.ours.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = use(int(fd)) })
	return errors.Join(err, failed)
}
