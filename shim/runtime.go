package shim

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// Main runs in the process's first thread: an exec from another one would lose the
// signals that wait for the first alone, and a tool that another one has made would end
// with it.
func init() { runtime.LockOSThread() }

// longPrompt is how many bytes of a prompt make it worth to use more than one processor.
// A stream never does: handing each piece to another processor costs more than it gains.
const longPrompt = 32 << 10

// useAllProcessors ends what __wrap_main began. A prompt does not keep more than a few
// busy.
var useAllProcessors = sync.OnceFunc(func() { runtime.GOMAXPROCS(min(4, runtime.NumCPU())) })

// growStack has a goroutine's stack grow at once to what a call needs. Step by step each
// growth looks through all that is on it by then.
//
//go:noinline
func growStack(at int) byte {
	var room [10 << 10]byte
	return room[at]
}

// spare tells whether so many descriptors can be had.
func spare(n int) bool {
	var got []int
	for range n {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0) // Go has opened it where it was closed
		if err != nil {
			break
		}
		got = append(got, fd)
	}
	for _, fd := range got {
		unix.Close(fd)
	}
	return len(got) == n
}
