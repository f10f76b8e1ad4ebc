package supervise

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/disk"
	"reprise/shim/front"

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

// A Source is the caller's stdin, with the part that was read. All of that reaches the tool,
// whether the call resumes or not.
type Source interface {
	// ForRun returns the stdin of a planned run, again after a run that was given up. Nothing is
	// consumed before the run has started.
	ForRun(plan rewrite.Plan) (Input, error)
	// HandOn returns the stdin of the real binary: the part that was read, and the rest. It is nil
	// if the caller's own descriptor has all of it. It fails if a run has consumed some of it.
	HandOn() (*os.File, error)
}

// An Input is the stdin of one run.
type Input struct {
	File   *os.File
	relay  *relay       // nil unless stdin is silent so far
	Talk   *Dialogue    // nil unless stdin is a conversation
	writer *stdinWriter // of a relay or a conversation
	// End is the offset at which the tool would leave the caller's own file, which it does not get.
	// It is 0 if stdin is no file.
	End int64
}

// Close closes the shim's open files of a run's stdin, except the caller's own.
func (in Input) Close(own *os.File) {
	in.relay.stop()
	in.writer.close()
	if in.File != own {
		in.File.Close()
	}
}

// newPiped returns an input that begins with data. More can follow while the tool runs.
func newPiped(data []byte) (in Input, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return in, fmt.Errorf("make pipe: %w", err)
	}
	in.File, in.writer = r, &stdinWriter{file: w, next: make(chan []byte)}
	go in.writer.write(in.writer.next)
	in.writer.add(data)
	return in, nil
}

// A Staged is a source that was read to the end, or to the limit.
type Staged struct {
	From *os.File
	Data string // if stdin is silent, the data of an earlier run's relay
	// used reports whether data was consumed, so that the caller's descriptor no longer has it.
	used bool
	more bool  // more can follow data
	end  int64 // the offset after data, in a file
	ran  bool  // a run was planned
	// Silent reports that nothing has come so far, and that the tool goes on without stdin if
	// nothing does: it gets stdin by a relay.
	Silent bool
	relay  *relay // the last run's
}

// ForRun implements Source. It sets a file back to where it was, and keeps the data that a relay
// has taken: a run that was given up might have read them.
func (s *Staged) ForRun(plan rewrite.Plan) (in Input, err error) {
	if s.relay != nil {
		s.Data = s.relay.kept()
		s.used = s.Data != ""
	}
	if s.ran && s.end > 0 { // else another process of the caller can have moved it
		_, err := s.From.Seek(s.end-int64(len(s.Data)), io.SeekStart)
		s.used = err != nil
	}
	s.ran = true
	switch {
	case plan.HasStdin:
		in.File, err = textFile(plan.Stdin)
		in.End = s.end
	case s.Silent:
		in, err = newPiped([]byte(s.Data))
		s.relay = &relay{from: int(s.From.Fd()), pieces: make(chan []byte), taken: []byte(s.Data)}
		in.relay = s.relay
	case s.used:
		in.File, err = textFile(s.Data)
	default:
		in.File = s.From
	}
	return in, err
}

// HandOn implements Source.
func (s *Staged) HandOn() (*os.File, error) {
	switch {
	case !s.used:
		return nil, nil
	case s.more:
		return ahead(s.Data, s.From)
	}
	return textFile(s.Data)
}

// Stage reads stdin if it is a part of the prompt. It fails with a reason.Code if the prompt cannot
// be known; the part that was read is then in staged too. It waits for the end of stdin if the tool
// awaits that, except in a preview.
func Stage(stdin *os.File, use rewrite.StdinUse, awaits, preview bool) (*Staged, error) {
	s := &Staged{From: stdin}
	if use == rewrite.StdinUnused {
		return s, nil
	}
	info, err := stdin.Stat()
	if err != nil {
		return s, reason.StdinOpen // closed; tools differ in their reaction
	}
	fd := int(stdin.Fd())
	if info.Mode().IsRegular() {
		return s, s.readFile(info.Size())
	}
	first, ended := readNow(fd)
	switch {
	case ended:
		return s, nil
	case len(first) > 0:
		return s, s.drain(fd, first)
	}
	wait := waitAppended
	switch {
	case awaits && !preview:
		wait = -1
	case use == rewrite.StdinPrompt:
		wait = waitPrompt
	}
	switch ready, err := readable(fd, wait); {
	case err != nil:
		return s, err
	case !ready && !awaits && use == rewrite.StdinAppended:
		s.Silent, s.more = true, true
		return s, nil
	case !ready:
		return s, reason.StdinOpen
	}
	return s, s.drain(fd, nil)
}

// readNow reads once from a descriptor that is non-blocking: a FIFO without a writer is at the end,
// which no poll reports. It returns nothing for another descriptor.
func readNow(fd int) (data []byte, ended bool) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_NONBLOCK == 0 {
		return nil, false
	}
	data = make([]byte, 4<<10)
	n, err := unix.Read(fd, data)
	return data[:max(n, 0)], err == nil && n == 0
}

// readFile reads a file from the offset on, without changing the offset.
func (s *Staged) readFile(size int64) error {
	at, err := s.From.Seek(0, io.SeekCurrent)
	if err != nil || at >= size {
		return err
	}
	if size-at > maxStdin {
		return reason.StdinTooBig
	}
	s.Data, err = disk.ReadAt(s.From, at, size-at)
	s.end = at + int64(len(s.Data))
	return err
}

// drain reads to the end of stdin, after data that were read. It fails with a reason.Code after
// maxStdin bytes.
func (s *Staged) drain(fd int, data []byte) (err error) {
	for n := 1; n > 0 && err == nil; {
		if len(data) > maxStdin {
			err = reason.StdinTooBig
			break
		}
		data = slices.Grow(data, 4<<10)
		n, err = readSome(fd, data[len(data):cap(data)])
		data = data[:len(data)+n]
	}
	s.Data, s.used, s.more = string(data), len(data) > 0, err != nil
	return err
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

// readable waits until a descriptor has data or is at the end, and reports whether it is. A
// negative wait has no limit.
func readable(fd int, wait time.Duration) (bool, error) {
	ready, err := poll(fd, unix.POLLIN, wait)
	return ready != 0, err
}

// poll waits until a descriptor is ready for events, has failed or hung up, and returns which. A
// negative wait has no limit.
func poll(fd int, events int16, wait time.Duration) (ready int16, err error) {
	fds, ms := []unix.PollFd{{Fd: int32(fd), Events: events}}, -1
	if wait >= 0 {
		ms = int(wait.Milliseconds())
	}
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		_, err = unix.Poll(fds, ms)
	}
	return fds[0].Revents, err
}

// textFile returns a file in memory that contains text. If no such file can hold it, textFile
// returns a pipe: the caller's limit on the size of files (ulimit -f) also applies to a memfd.
func textFile(text string) (*os.File, error) {
	f, err := memoryFile()
	if err == nil {
		if _, err = f.WriteAt([]byte(text), 0); err == nil {
			return f, nil
		}
		f.Close()
	}
	none, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer none.Close()
	return ahead(text, none)
}

// ahead returns a pipe with text followed by the rest of the caller's stdin. A separate process
// fills the pipe.
func ahead(text string, of *os.File) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	defer w.Close()
	if err := front.Feed(text, of.Fd(), w.Fd()); err != nil {
		r.Close()
		return nil, fmt.Errorf("hand on stdin: %w", err)
	}
	return r, nil
}
