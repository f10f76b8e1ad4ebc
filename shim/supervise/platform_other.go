//go:build !linux

package supervise

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const lastSignal = syscall.Signal(31)

// The requests for the modes of a terminal.
const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)

// EndsWithUs returns nil: this system cannot kill a child with the parent.
func EndsWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func ownProgram() string {
	path, _ := os.Executable() // no program is found under ""
	return path
}

// A witness shows which signals were sent to the whole process group. Here there is none: a
// terminal's signals are assumed to be for the group if it is in the foreground.
type witness struct{}

func newWitness() *witness { return nil }

func (*witness) saw(sig syscall.Signal) bool {
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

func (*witness) Close() {}

// childrenOf returns none: this system lists no children.
func childrenOf(int) []*os.Process { return nil }

// halted reports true: no children are listed, so none can be overlooked.
func halted(int) bool { return true }

// widen does nothing: pipes keep the system's capacity.
func widen(*os.File) {}

// whenHungUp does nothing: a failing write reports that the caller has closed its end.
func whenHungUp(int, <-chan struct{}, func()) {}

// memoryFile fails: this system has no files in memory.
func memoryFile() (*os.File, error) { return nil, errors.ErrUnsupported }
