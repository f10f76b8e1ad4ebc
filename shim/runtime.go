package shim

import (
	"os"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// Main runs in the process's first thread: an exec from another one would lose the
// signals that wait for the first alone, and a tool that another one has made would end
// with it.
func init() { runtime.LockOSThread() }

// How much of a stream or of a prompt, in bytes, makes it worth to use more than one
// processor.
const (
	longStream = 1 << 20
	longPrompt = 32 << 10
)

// useAllProcessors ends what __wrap_main began. Neither a stream nor a prompt keeps more
// than a few busy.
var useAllProcessors = sync.OnceFunc(func() { runtime.GOMAXPROCS(min(4, runtime.NumCPU())) })

// growStack has a goroutine's stack grow at once to what a call needs. Step by step each
// growth looks through all that is on it by then.
//
//go:noinline
func growStack(at int) byte {
	var room [10 << 10]byte
	return room[at]
}

// pollerOpens has the Go runtime open what it polls files with, which takes it two
// descriptors, with the first file that could be polled, and ends the process where there
// are too few.
func pollerOpens() bool {
	var a, b [2]int
	if unix.Pipe(a[:]) != nil {
		return false
	}
	enough := unix.Pipe(b[:]) == nil
	for _, fd := range slices.Concat(a[:], b[:]) {
		if fd > 0 {
			unix.Close(fd)
		}
	}
	if !enough {
		return false
	}
	r, w, err := os.Pipe()
	if err != nil {
		return false
	}
	r.Close()
	w.Close()
	return true
}
