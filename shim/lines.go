package shim

import (
	"bytes"

	"reprise/rewrite"
)

// A splitter cuts a stream into lines. It hands on the whole lines of each piece
// that comes in, and keeps at most one unfinished line.
type splitter struct {
	line func([]byte) []byte // takes a line with its newline, gives what to show
	max  int                 // length, with its newline, beyond which a line is shown unread; see rewrite.Stream
	part []byte              // the unfinished line
	long bool                // in a line that is too long to be read
	out  []byte
}

// next takes a piece, or nil at the end.
func (s *splitter) next(piece []byte) []byte {
	if piece == nil {
		return s.flush()
	}
	return s.feed(piece)
}

// feed takes a piece and gives what it makes to be shown, valid until the next
// call.
func (s *splitter) feed(data []byte) []byte {
	s.out = s.out[:0]
	if s.max == rewrite.NoLines {
		s.out = append(s.out, s.line(data)...)
		return s.out
	}
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\n') + 1
		if end == 0 {
			s.unfinished(data)
			break
		}
		s.finished(data[:end])
		data = data[end:]
	}
	return s.out
}

func (s *splitter) unfinished(data []byte) {
	if s.long {
		s.out = append(s.out, data...)
		return
	}
	s.part = append(s.part, data...)
	if s.tooLong(s.part) {
		s.out = append(s.out, s.part...)
		s.part, s.long = s.part[:0], true
	}
}

func (s *splitter) tooLong(line []byte) bool { return s.max > 0 && len(line) > s.max }

func (s *splitter) finished(data []byte) {
	if len(s.part) > 0 {
		s.part = append(s.part, data...)
		data, s.part = s.part, s.part[:0]
	}
	if s.long || s.tooLong(data) {
		s.out = append(s.out, data...)
		s.long = false
		return
	}
	s.out = append(s.out, s.line(data)...)
}

// flush gives what the last line, which lacks its newline, makes to be shown.
func (s *splitter) flush() []byte {
	s.out = s.out[:0]
	if len(s.part) > 0 {
		s.out = append(s.out, s.line(s.part)...)
		s.part = s.part[:0]
	}
	return s.out
}
