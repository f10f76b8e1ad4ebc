package shim

// #include "inherit.h"
import "C"

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"reprise/rewrite"

	"golang.org/x/sys/unix"
)

// maxStdin is how many bytes are read from stdin. claude itself fails above 10 MB.
const maxStdin = 16 << 20

// How long to wait for the first byte on stdin, if the prompt comes from there and if it stands
// in the arguments, unless the tool waits for the end. claude waits 3 s for the first byte, and
// then reads to the end.
const (
	waitPrompt   = 2 * time.Second
	waitAppended = 200 * time.Millisecond
)

// A staged is what was read of the caller's stdin. It can be handed on to the tool whatever
// becomes of the call.
type staged struct {
	data string
	// used reports whether data was consumed, so that the caller's descriptor no longer has it.
	used bool
	// silent reports that nothing has come so far, and that the tool goes on without stdin if nothing
	// does. A relay then passes on what comes later, late first.
	silent bool
	late   []byte
}

// stage reads stdin if it is a part of the prompt. It returns a reason if the prompt cannot be
// known; what was read is then in staged too.
func stage(stdin *os.File, use rewrite.StdinUse, silence rewrite.Silence) (staged, rewrite.Reason, error) {
	if use == rewrite.StdinUnused {
		return staged{}, "", nil
	}
	info, err := stdin.Stat()
	if err != nil {
		return staged{}, rewrite.StdinOpen, nil // closed; tools differ in what they do then
	}
	fd := int(stdin.Fd())
	if info.Mode().IsRegular() {
		return stageFile(fd, info.Size())
	}
	wait := waitAppended
	switch {
	case silence == rewrite.SilenceAwaited:
		wait = -1
	case use == rewrite.StdinPrompt:
		wait = waitPrompt
	}
	switch ready, err := readable(fd, wait); {
	case err != nil:
		return staged{}, rewrite.StdinOpen, err
	case !ready && silence == rewrite.SilenceSkipped:
		return staged{silent: true}, "", nil
	case !ready:
		return staged{}, rewrite.StdinOpen, nil
	}
	return drain(fd)
}

// stageFile reads a file from the descriptor's offset on, without changing the offset.
func stageFile(fd int, size int64) (staged, rewrite.Reason, error) {
	at, err := unix.Seek(fd, 0, io.SeekCurrent)
	if err != nil || at >= size {
		return staged{}, "", err
	}
	if size-at > maxStdin {
		return staged{}, rewrite.StdinTooBig, nil
	}
	text, err := readAt(fd, at, size-at)
	return staged{data: text}, "", err
}

// drain reads to the end of stdin. After maxStdin bytes it stops with a reason.
func drain(fd int) (staged, rewrite.Reason, error) {
	var data []byte
	for {
		data = slices.Grow(data, 4<<10)
		n, err := readSome(fd, data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case err != nil || n == 0:
			return staged{data: string(data), used: len(data) > 0}, "", err
		case len(data) > maxStdin:
			return staged{data: string(data), used: true}, rewrite.StdinTooBig, nil
		}
	}
}

// readSome reads once. If the descriptor is non-blocking, it waits for data or the end. n is 0 at
// the end.
func readSome(fd int, buffer []byte) (n int, err error) {
	for {
		n, err = unix.Read(fd, buffer)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			if _, err := readable(fd, -1); err != nil {
				return 0, err
			}
		default:
			return max(n, 0), err
		}
	}
}

// readable waits until a descriptor has data or is at its end, and reports whether it is. A
// negative wait has no limit.
func readable(fd int, wait time.Duration) (bool, error) {
	ms := -1
	if wait >= 0 {
		ms = int(wait.Milliseconds())
	}
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, ms)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return n > 0, err
	}
}

// file returns the staged data as an unnamed file, or nil if the caller's own descriptor still
// has it. If no file can hold it, file returns a pipe that holds it all: the caller's limit on
// the size of files (ulimit -f) also applies to a memfd.
func (s staged) file() (*os.File, error) {
	if !s.used {
		return nil, nil
	}
	f, err := s.inFile()
	if err != nil {
		if pipe, pipeErr := s.inPipe(); pipeErr == nil {
			return pipe, nil
		}
	}
	return f, err
}

// ahead returns a pipe with the staged data followed by the rest of the caller's stdin, or nil
// if nothing was consumed. A separate process fills the pipe.
func (s staged) ahead(of *os.File) (*os.File, error) {
	if !s.used {
		return nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	defer w.Close()
	data := unsafe.StringData(s.data)
	errno := C.inherit_feeder((*C.char)(unsafe.Pointer(data)), C.size_t(len(s.data)), C.int(of.Fd()), C.int(w.Fd()))
	if errno != 0 {
		r.Close()
		return nil, fmt.Errorf("hand on stdin: %w", syscall.Errno(errno))
	}
	return r, nil
}

// inPipe returns a pipe that already holds all of the staged data. It fails if there is too
// much of it.
func (s staged) inPipe() (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	widen(w)
	fd := int(w.Fd())
	err = unix.SetNonblock(fd, true)
	for n := 0; err == nil && n < len(s.data); {
		var m int
		m, err = unix.Write(fd, []byte(s.data[n:]))
		n += max(m, 0)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (s staged) inFile() (*os.File, error) {
	f, err := unnamedFile()
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(f, s.data); err != nil {
		f.Close()
		return nil, err
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, err
}

// textFile returns an unnamed file that contains text.
func textFile(text string) (*os.File, error) { return staged{data: text, used: true}.file() }

// unnamedFile makes a file that has no name, so that no other process can open it.
func unnamedFile() (*os.File, error) {
	if fd, err := memfd(); err == nil {
		return os.NewFile(uintptr(fd), "stdin"), nil
	}
	f, err := os.CreateTemp("", "reprise-*")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
