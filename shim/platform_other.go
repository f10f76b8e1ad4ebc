//go:build !linux

package shim

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const lastSignal = syscall.Signal(31)

// endsWithUs: this system cannot end a child with its parent.
func endsWithUs() *syscall.SysProcAttr { return nil }

func ownProgram() string { return executablePath() }

// A witness tells of signals that were sent to our whole process group. This system
// does not tell: what a terminal sends is guessed by who is in its foreground.
type witness struct{}

func newWitness() *witness { return nil }

func (*witness) got(sig os.Signal) bool {
	switch sig {
	case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP:
	default:
		return false
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}

func (*witness) dismiss() {}

func (*witness) close() {}

// childrenInGroup: this system does not tell without help.
func childrenInGroup(int) []*os.Process { return nil }

// descendants: nor of these.
func descendants(int) []*os.Process { return nil }

// widen: pipes have the size that the system gives them.
func widen(*os.File) {}

// whenHungUp: here a write that fails reports that the caller has closed its end.
func whenHungUp(int, <-chan struct{}, func()) {}

func memfd() (int, error) { return -1, errors.ErrUnsupported }

// directoryID tells a directory from another one that has taken its name.
func directoryID(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	st, _ := info.Sys().(*syscall.Stat_t)
	if st == nil {
		return ""
	}
	return fmt.Sprintf("%d %d", st.Dev, st.Ino)
}
