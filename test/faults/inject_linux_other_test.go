//go:build linux && !amd64

package faults

import (
	"errors"

	"golang.org/x/sys/unix"
)

// skipSyscall is not supported: the register of a system call's result depends on the processor.
func skipSyscall(int, unix.Errno) error { return errors.ErrUnsupported }
