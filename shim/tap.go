package shim

// #include <sys/ioctl.h>
// #include "inherit.h"
//
// static int waiting(int fd) {
//	int n = 0;
//	return ioctl(fd, FIONREAD, &n) == 0 ? n : 0;
// }
import "C"

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A tap is one of the tool's streams, which we read.
type tap struct {
	file *os.File
	to   *sink
	take func(piece []byte) // of the stream, or nil at its end
	deaf func() bool        // nobody listens to it any more
	over bool               // it is at its end, or closed
}

func (a *attempt) stdoutTap(f *os.File) *tap {
	lines := splitter{line: a.careful(a.stream.Line), max: a.stream.MaxLine()}
	return &tap{
		file: f, to: a.stdout,
		take: func(piece []byte) { a.show(lines.next(piece)) },
		deaf: func() bool { return a.stdout.err != nil && !a.stream.HoldsOutput() },
	}
}

func (a *attempt) stderrTap(f *os.File) *tap {
	lines := splitter{line: a.careful(a.stream.ErrLine), max: a.stream.MaxLine()}
	return &tap{
		file: f, to: a.stderr,
		take: func(piece []byte) {
			a.tail.write(piece)
			if a.plan.ReadStderr {
				piece = lines.next(piece)
			}
			a.stderr.write(piece)
			a.look()
		},
		deaf: func() bool { return a.stderr.err != nil },
	}
}

// tapSize is how much is read at once.
const tapSize = 64 << 10

// read takes what the tool writes, to the end of the stream or until the file's
// deadline.
func (a *attempt) read(t *tap) {
	growStack(0)
	buf := make([]byte, tapSize)
	for total := 0; !t.over; {
		n, err := t.file.Read(buf)
		if total += n; total > longStream {
			useAllProcessors()
		}
		a.pour(t, buf[:n])
		if err != nil {
			t.over = t.over || !errors.Is(err, os.ErrDeadlineExceeded)
			return
		}
	}
}

func (a *attempt) pour(t *tap, piece []byte) {
	if len(piece) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	t.take(piece)
	if t.deaf() {
		t.file.Close() // the tool is to learn that nobody listens, as it would have
		t.over = true
	}
}

// drain takes what the tool had written when it ended. There may be more to come:
// from a process that it has left behind.
func (a *attempt) drain(t *tap) {
	left := t.waiting()
	buf := make([]byte, min(left, tapSize))
	for left > 0 && !t.over {
		n, err := unix.Read(int(t.file.Fd()), buf[:min(left, len(buf))])
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if n <= 0 {
			break
		}
		left -= n
		a.pour(t, buf[:n])
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	t.take(nil)
}

// waiting is how many bytes stand in the pipe.
func (t *tap) waiting() int {
	if t.over {
		return 0
	}
	return int(C.waiting(C.int(t.file.Fd())))
}

// leaveOpen lets what the tool has left behind write on to the caller's stream, as it
// would without us, while the caller sees the tool's end at once.
func (a *attempt) leaveOpen(t *tap) {
	if t.over || t.to.err != nil || a.gate == gateRefused || hungUp(int(t.file.Fd())) && t.waiting() == 0 {
		return
	}
	if errno := C.inherit_copier(C.int(t.file.Fd()), C.int(t.to.fd)); errno != 0 {
		a.fault("go on copying output", fmt.Errorf("fork: %w", syscall.Errno(errno)))
	}
}
