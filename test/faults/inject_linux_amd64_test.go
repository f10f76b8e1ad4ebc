package faults

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// skipSyscall makes a process at the entry of a system call get an error instead.
func skipSyscall(tid int, errno unix.Errno) error {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	regs.Orig_rax = ^uint64(0) // there is none with that number: the kernel leaves rax unchanged
	regs.Rax = uint64(-int64(errno))
	return syscall.PtraceSetRegs(tid, &regs)
}
