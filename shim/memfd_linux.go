package shim

import "golang.org/x/sys/unix"

func memfd() (int, error) { return unix.MemfdCreate("reprise", unix.MFD_CLOEXEC) }
