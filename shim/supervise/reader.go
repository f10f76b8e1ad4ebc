package supervise

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"time"

	"reprise/rewrite"

	"golang.org/x/sys/unix"
)

// A tap is one of the tool's streams: a pipe, or a terminal if the caller's stream is one, so that
// the tool writes as to a terminal. It is not the tool's controlling terminal: that stays the
// caller's, with stdin, signals and job control. The reader runs in a separate goroutine.
type tap struct {
	ours, tools *os.File // the shim's end and the tool's
	screen      *os.File // the caller's terminal, nil for a pipe

	to *sink
	// the event loop calls it with each piece of the stream, and with nil at the end
	take func(*buffer)

	free chan *buffer // buffers for the next pieces; only the reader receives from it

	over bool // the stream is at the end, or closed; only the event loop uses it
}

// A piece is the data of one read. The last piece has no buffer, and over then
// reports whether the stream is at the end.
type piece struct {
	tap    *tap
	buffer *buffer
	over   bool
}

// mostUnread is the number of unread bytes that a pipe or a terminal can hold. Another process can
// go on writing meanwhile.
const mostUnread = 1 << 20

// read reads the stream to the end, or, after end was called, all that the tool has written by
// then. It blocks while all buffers are in use. Sending on pieces never blocks.
func (t *tap) read(pieces chan<- piece, stop <-chan struct{}) {
	last := piece{tap: t}
	defer func() { pieces <- last }()
	for ending, left := false, mostUnread; left > 0 && (!ending || t.hasData()); {
		var b *buffer
		select {
		case b = <-t.free:
		case <-stop:
			return
		}
		n, err := t.ours.Read(b.piece[:pieceSize])
		if b.users.Store(1); n > 0 {
			b.piece = b.piece[:n]
			pieces <- piece{tap: t, buffer: b}
		} else {
			b.release()
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			ending, err = true, t.ours.SetReadDeadline(time.Time{})
		case ending:
			left -= n
		}
		if err != nil {
			last.over = true
			return
		}
	}
}

// end makes the reader read the data in the stream now, and end. A process that the tool has left
// running can write more later.
func (t *tap) end() { _ = t.ours.SetReadDeadline(time.Now()) } // cannot fail for a link of ours

func (t *tap) hasData() (has bool) {
	withFD(t.ours, func(fd int) {
		ready, _ := poll(fd, unix.POLLIN, 0)
		has = ready&unix.POLLIN != 0
	})
	return has
}

// close closes the stream, so that the tool's next write fails. The reader then ends.
func (t *tap) close() {
	t.over = true
	t.ours.Close()
}

// A splitter splits a stream into lines. For each piece of the stream it returns the whole
// lines as rendered, and keeps at most one unfinished line.
type splitter struct {
	line func([]byte) []byte // renders a line, newline included
	// longer lines, newline included, are shown unread; see rewrite.Stream
	max   int
	early func(part []byte) bool // reports that a line that begins so is shown as it is; can be nil
	part  []byte                 // the unfinished line
	ahead int                    // how much of part was shown early
	long  bool                   // the present line is too long to be read
	out   []byte                 // the rendering of the present piece
}

// longPart is the length at which an unfinished line gets room for the longest line.
const longPart = 1 << 20

// next renders the piece in a buffer, or the unfinished line if b is nil. The result is
// stored in that buffer.
func (s *splitter) next(b *buffer) []byte {
	if b == nil {
		return s.flush()
	}
	s.out = b.rendered
	b.rendered, s.out = s.feed(b.piece), nil
	return b.rendered
}

// feed renders a piece. The result is valid until the next call.
func (s *splitter) feed(piece []byte) []byte {
	s.out = s.out[:0]
	if s.max == rewrite.NoLines {
		s.show(s.line(piece))
		return s.out
	}
	for line := range bytes.Lines(piece) {
		if line[len(line)-1] == '\n' {
			s.finished(line)
		} else {
			s.unfinished(line)
		}
	}
	return s.out
}

func (s *splitter) show(data []byte) { s.out = append(s.out, data...) }

func (s *splitter) unfinished(data []byte) {
	if s.long {
		s.show(data)
		return
	}
	if s.max > 0 && len(s.part) > longPart {
		// all at once, to leave no garbage of growing sizes
		s.part = slices.Grow(s.part, s.max+pieceSize-len(s.part))
	}
	s.part = append(s.part, data...)
	switch {
	case s.tooLong(s.part):
		s.show(s.part[s.ahead:])
		s.part, s.ahead, s.long = nil, 0, true
	case s.ahead > 0 || s.early != nil && s.early(s.part):
		s.show(s.part[s.ahead:])
		s.ahead = len(s.part)
	}
}

func (s *splitter) tooLong(line []byte) bool { return s.max > 0 && len(line) > s.max }

func (s *splitter) finished(line []byte) {
	if len(s.part) > 0 {
		s.part = append(s.part, line...)
		line, s.part = s.part, s.part[:0]
	}
	shown := line
	if !s.long && !s.tooLong(line) {
		shown = s.line(line)
	}
	if s.ahead > 0 {
		shown = line[s.ahead:]
	}
	s.long, s.ahead = false, 0
	s.show(shown)
}

// flush renders the last line, which has no newline.
func (s *splitter) flush() []byte {
	s.out = s.out[:0]
	if len(s.part) == 0 {
		return s.out
	}
	if shown := s.line(s.part); s.ahead == 0 {
		s.show(shown)
	}
	s.part, s.ahead = s.part[:0], 0
	return s.out
}
