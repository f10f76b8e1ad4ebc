package shim

import (
	"bytes"
	"slices"

	"reprise/rewrite"
)

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
