package shim

import "golang.org/x/sys/unix"

func memfd() (int, error) { return unix.MemfdCreate("reprise", unix.MFD_CLOEXEC) }

// makeRoom has a pipe hold n bytes, if the system allows that much.
func makeRoom(pipe, n int) { _, _ = unix.FcntlInt(uintptr(pipe), unix.F_SETPIPE_SZ, n) }
