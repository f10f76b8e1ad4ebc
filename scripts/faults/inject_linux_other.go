//go:build linux && !amd64

package main

import (
	"errors"

	"golang.org/x/sys/unix"
)

// skipSyscall: where the result of a system call stands differs by processor.
func skipSyscall(int, unix.Errno) error { return errors.ErrUnsupported }
