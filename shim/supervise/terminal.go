package supervise

import (
	"fmt"
	"os"

	"github.com/creack/pty"
	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
)

// newTap makes a tap for output to one of the caller's streams.
func newTap(to *os.File) (*tap, error) {
	t, open := &tap{free: newBuffers()}, os.Pipe
	if isatty.IsTerminal(to.Fd()) {
		t.screen, open = to, pty.Open
	}
	var err error
	if t.ours, t.tools, err = open(); err == nil && t.screen != nil {
		err = t.imitate()
	}
	if err != nil {
		return nil, fmt.Errorf("make pipe or terminal: %w", err)
	}
	return t, nil
}

// takesAll reports whether a file takes any amount at once, as no pipe, socket or terminal does.
func takesAll(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

// imitate gives the shim's terminal the modes and the size of the caller's, without output
// processing: bytes pass as the tool has written them, and the caller's terminal processes them.
func (t *tap) imitate() error {
	modes, err := unix.IoctlGetTermios(int(t.screen.Fd()), getTermios)
	if err != nil {
		return err
	}
	modes.Oflag &^= unix.OPOST
	if err := unix.IoctlSetTermios(int(t.tools.Fd()), setTermios, modes); err != nil {
		return err
	}
	t.resize()
	return nil
}

// resize gives the shim's terminal the size of the caller's, and reports whether it had another
// one.
func (t *tap) resize() (changed bool) {
	if t.screen == nil {
		return false
	}
	size, err := unix.IoctlGetWinsize(int(t.screen.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return false // the caller's terminal is gone
	}
	withFD(t.ours, func(fd int) {
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
