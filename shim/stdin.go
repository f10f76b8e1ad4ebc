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

// maxStdin is how much of a prompt is read from stdin. claude itself has failed
// above 10 MB (CLI-FACTS 1.9).
const maxStdin = 16 << 20

// How long a silent stdin is waited for. claude waits 3 s for the first byte and
// goes on without; once there is one it reads to the end, as we do. A prompt that
// stands in argv seldom has company.
const (
	waitPrompt   = 2 * time.Second
	waitAppended = 200 * time.Millisecond
)

// A staged stdin is what was read of the caller's: nothing is lost of it, however
// the call goes on.
type staged struct {
	data string
	// used reports that the caller's descriptor no longer gives the data.
	used bool
}

// stage reads stdin as far as it is part of the prompt. A reason says that the
// prompt cannot be known; what was read is in staged all the same.
func stage(stdin *os.File, use rewrite.StdinUse) (staged, rewrite.Reason, error) {
	if use == rewrite.StdinUnused {
		return staged{}, "", nil
	}
	info, err := stdin.Stat()
	if err != nil {
		return staged{}, rewrite.StdinOpen, nil // closed: whatever the tool makes of that
	}
	fd := int(stdin.Fd())
	if info.Mode().IsRegular() {
		return stageFile(fd, info.Size())
	}
	wait := waitAppended
	if use == rewrite.StdinPrompt {
		wait = waitPrompt
	}
	if ready, err := readable(fd, wait); err != nil || !ready {
		return staged{}, rewrite.StdinOpen, err
	}
	return drain(fd)
}

// stageFile reads a file from where the descriptor stands, and leaves it there.
func stageFile(fd int, size int64) (staged, rewrite.Reason, error) {
	at, err := unix.Seek(fd, 0, io.SeekCurrent)
	if err != nil || at >= size {
		return staged{}, "", err
	}
	if size-at > maxStdin {
		return staged{}, rewrite.StdinTooBig, nil
	}
	data := make([]byte, size-at)
	n := 0
	for n < len(data) {
		m, err := unix.Pread(fd, data[n:], at+int64(n))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return staged{}, "", err
		}
		if m == 0 {
			break
		}
		n += m
	}
	return staged{data: string(data[:n])}, "", nil
}

// drain reads to the end. Beyond maxStdin it stops; what was read and what is still to
// come must then be handed on.
func drain(fd int) (staged, rewrite.Reason, error) {
	var data []byte
	for {
		data = slices.Grow(data, 4<<10)
		n, err := unix.Read(fd, data[len(data):cap(data)])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			if _, err := readable(fd, -1); err != nil {
				return staged{string(data), true}, "", err
			}
			continue
		case err != nil:
			return staged{string(data), len(data) > 0}, "", err
		case n == 0:
			return staged{string(data), len(data) > 0}, "", nil
		}
		data = data[:len(data)+n]
		if len(data) > maxStdin {
			return staged{string(data), true}, rewrite.StdinTooBig, nil
		}
	}
}

// readable waits until a descriptor has data or is at its end; a negative wait has
// no limit.
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

// file returns the staged stdin as a file without a name, at its start; nil where
// the caller's own descriptor still has it. Where no file takes it, a pipe does, as far as
// one can hold it all: the caller's limit on the size of files (ulimit -f) holds for a
// memfd as well.
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

// ahead returns a pipe with the staged stdin and, behind it, what is still to come on the
// caller's descriptor, nil where that still has it all. A process of its own fills the
// pipe, as far as the tool reads.
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

// inPipe returns the staged stdin as a pipe that holds it all already, so that nobody
// has to live on to fill it.
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
	f, err := nameless()
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

// stdinOf returns text as a stdin.
func stdinOf(text string) (*os.File, error) { return staged{data: text, used: true}.file() }

// nameless makes a file that nobody else can open.
func nameless() (*os.File, error) {
	if fd, err := memfd(); err == nil {
		return os.NewFile(uintptr(fd), "stdin"), nil
	}
	f, err := os.CreateTemp("", "reprise-*")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
