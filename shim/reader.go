package shim

// #include <sys/ioctl.h>
// #include "inherit.h"
//
// static int waiting(int fd) {
// 	int n = 0;
// 	return ioctl(fd, FIONREAD, &n) == 0 ? n : 0;
// }
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"reprise/rewrite"

	"golang.org/x/sys/unix"
)

// A tap is one of the tool's streams, which a reader reads in a goroutine of its own.
type tap struct {
	file *os.File
	to   *sink
	take func(*buffer) // in the event loop: a piece of the stream, or nil at its end

	free chan *buffer // buffers that wait for the next piece, for the reader alone
	made int          // how many there are

	over bool // for the event loop: the stream is at its end, or closed
}

// A piece is what a reader has read. The last one has no buffer, and reports whether the
// stream is at its end.
type piece struct {
	tap    *tap
	buffer *buffer
	over   bool
}

func newTap(f *os.File, to *sink) *tap {
	return &tap{file: f, to: to, free: make(chan *buffer, buffersPerStream)}
}

func (a *attempt) stdoutTap(f *os.File) *tap {
	t := newTap(f, a.stdout)
	lines := splitter{line: a.recoverLine(a.takeLine), max: a.stream.MaxLine()}
	t.take = func(b *buffer) {
		shown := lines.next(b)
		a.pass(b)
		a.show(shown, b)
	}
	return t
}

func (a *attempt) stderrTap(f *os.File) *tap {
	t := newTap(f, a.stderr)
	lines := splitter{line: a.recoverLine(a.stream.ErrLine), max: rewrite.LongestLine}
	t.take = func(b *buffer) {
		var shown []byte
		if b != nil {
			a.tail.write(b.piece)
			shown = b.piece
		}
		if a.plan.ReadStderr {
			shown = lines.next(b)
		}
		a.write(a.stderr, shown, b)
		a.updateGate()
	}
	return t
}

// read reads what the tool writes, to the end of the stream, or, once the tool has ended,
// what it had written by then. It waits while all buffers are on their way to the caller.
// pieces has room for all of them, and for the end.
func (t *tap) read(pieces chan<- piece, stop <-chan struct{}) {
	last := piece{tap: t}
	defer func() { pieces <- last }()
	for {
		b := t.buffer(stop)
		if b == nil {
			return
		}
		n, err := t.file.Read(b.piece[:pieceSize])
		t.send(b, n, pieces)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.drain(pieces, stop)
			return
		}
		if err != nil {
			last.over = true
			return
		}
	}
}

// buffer returns a buffer as soon as there is one, nil once stop is closed.
func (t *tap) buffer(stop <-chan struct{}) (b *buffer) {
	select {
	case b = <-t.free:
	default:
		if t.made < buffersPerStream {
			t.made++
			return &buffer{piece: make([]byte, pieceSize), free: t.free}
		}
		select {
		case b = <-t.free:
		case <-stop:
		}
	}
	return b
}

// send hands on the first n bytes of a buffer.
func (t *tap) send(b *buffer, n int, pieces chan<- piece) {
	b.users.Store(1)
	if n <= 0 {
		b.release()
		return
	}
	b.piece = b.piece[:n]
	pieces <- piece{tap: t, buffer: b}
}

// end has the reader read what is in the pipe now, and end. There may be more to come:
// from a process that the tool has left behind.
func (t *tap) end() { _ = t.file.SetReadDeadline(time.Now()) } // pipes of our own have deadlines

// drain reads what the tool had written when it ended.
func (t *tap) drain(pieces chan<- piece, stop <-chan struct{}) {
	for left := t.waiting(); left > 0; {
		b := t.buffer(stop)
		if b == nil {
			return
		}
		n, err := 0, error(nil)
		t.withFD(func(fd int) { n, err = unix.Read(fd, b.piece[:min(left, pieceSize)]) })
		t.send(b, n, pieces)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if n <= 0 {
			return
		}
		left -= n
	}
}

// waiting returns how many bytes are in the pipe.
func (t *tap) waiting() (n int) {
	t.withFD(func(fd int) { n = int(C.waiting(C.int(fd))) })
	return n
}

// withFD has the descriptor used, unless the event loop has closed it.
func (t *tap) withFD(use func(fd int)) {
	if raw, err := t.file.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { use(int(fd)) })
	}
}

// close closes the stream, so that the tool learns that nobody reads it, as it would have
// without us. The reader ends then.
func (t *tap) close() {
	t.over = true
	t.file.Close()
}

// leaveOpen lets what the tool has left behind write on to the caller's stream, as it
// would without us, while the caller sees the tool's end at once.
func (a *attempt) leaveOpen(t *tap) {
	if t.over || t.to.gone || a.state == stateRefused {
		return
	}
	if hungUp(int(t.file.Fd())) && (a.state == stateAbandoned || t.waiting() == 0) {
		return
	}
	if errno := C.inherit_copier(C.int(t.file.Fd()), C.int(t.to.fd)); errno != 0 {
		a.fault("go on copying output", fmt.Errorf("fork: %w", syscall.Errno(errno)))
	}
}

// A splitter cuts a stream into lines. It hands on the whole lines of each piece
// that comes in, and keeps at most one unfinished line.
type splitter struct {
	line  func([]byte) []byte // takes a line with its newline, gives what to show
	max   int                 // length, with its newline, beyond which a line is shown unread; see rewrite.Stream
	part  []byte              // the unfinished line
	long  bool                // in a line that is too long to be read
	piece []byte
	same  span // of the piece, to be shown as it is, behind out
	out   []byte
}

// longPart is the length from which an unfinished line gets room for the longest that is read.
const longPart = 1 << 20

type span struct{ from, to int }

// next takes the piece in a buffer, or nil at the end, and returns what it makes to be
// shown, which is in that buffer.
func (s *splitter) next(b *buffer) []byte {
	if b == nil {
		return s.flush()
	}
	s.out = b.rendered
	shown := s.feed(b.piece)
	b.rendered, s.out = s.out, nil
	return shown
}

// feed takes a piece and returns what it makes to be shown: a part of the piece, or
// what is in out then. Nothing is copied of a piece that is shown as it is.
func (s *splitter) feed(piece []byte) []byte {
	s.piece, s.same, s.out = piece, span{}, s.out[:0]
	if s.max == rewrite.NoLines {
		s.show(span{0, len(piece)}, s.line(piece))
	}
	for at := 0; s.max != rewrite.NoLines && at < len(piece); {
		end := bytes.IndexByte(piece[at:], '\n') + 1
		if end == 0 {
			s.unfinished(span{at, len(piece)})
			break
		}
		s.finished(span{at, at + end})
		at += end
	}
	if len(s.out) > 0 {
		s.out = append(s.out, piece[s.same.from:s.same.to]...)
		return s.out
	}
	return piece[s.same.from:s.same.to]
}

// show adds what a part of the piece makes to what is shown.
func (s *splitter) show(of span, shown []byte) {
	asIs := len(shown) == of.to-of.from && &shown[0] == &s.piece[of.from]
	switch {
	case len(shown) == 0:
	case asIs && s.same.from == s.same.to:
		s.same = of
	case asIs && s.same.to == of.from:
		s.same.to = of.to
	default:
		s.out = append(s.out, s.piece[s.same.from:s.same.to]...)
		s.out = append(s.out, shown...)
		s.same = span{}
	}
}

func (s *splitter) unfinished(at span) {
	data := s.piece[at.from:at.to]
	if s.long {
		s.show(at, data)
		return
	}
	if s.max > 0 && len(s.part) > longPart {
		s.part = slices.Grow(s.part, s.max+pieceSize-len(s.part)) // once: the memory of what is too small stays in use for a while
	}
	s.part = append(s.part, data...)
	if s.tooLong(s.part) {
		s.show(at, s.part)
		s.part, s.long = nil, true
	}
}

func (s *splitter) tooLong(line []byte) bool { return s.max > 0 && len(line) > s.max }

func (s *splitter) finished(at span) {
	line := s.piece[at.from:at.to]
	if len(s.part) > 0 {
		s.part = append(s.part, line...)
		line, s.part = s.part, s.part[:0]
	}
	if s.long || s.tooLong(line) {
		s.long = false
		s.show(at, line)
		return
	}
	s.show(at, s.line(line))
}

// flush returns what the last line, which lacks its newline, makes to be shown.
func (s *splitter) flush() []byte {
	s.out = s.out[:0]
	if len(s.part) > 0 {
		s.out = append(s.out, s.line(s.part)...)
		s.part = s.part[:0]
	}
	return s.out
}
