package rewrite

import "strings"

// A streamBase is what the streams have in common. A stream defines anew what is otherwise with its tool:
// here stderr and files say nothing, and rendered formats need the whole output.
type streamBase struct {
	call   Call
	plan   Plan
	seen   StreamState
	stderr string // to be shown there
}

// Seen implements Stream.
func (s *streamBase) Seen() *StreamState { return &s.seen }

// TakeStderr implements Stream.
func (s *streamBase) TakeStderr() string {
	taken := s.stderr
	s.stderr = ""
	return taken
}

// ErrLine implements Stream.
func (s *streamBase) ErrLine(line []byte) []byte { return line }

// ErrAsIs implements Stream.
func (s *streamBase) ErrAsIs([]byte) bool { return true }

// File implements Stream.
func (s *streamBase) File(string, []byte) {}

// MaxLine implements Stream.
func (s *streamBase) MaxLine() int {
	if s.call.Format == StreamJSON {
		return LongestLine
	}
	return 0
}

// PrintsAtEnd implements Stream.
func (s *streamBase) PrintsAtEnd() bool { return false }

// HoldsOutput implements Stream.
func (s *streamBase) HoldsOutput() bool { return false }

// A shownText is the common part of streams of text that is shown as it comes, where the tool's own session file
// shows what the run was. A run whose output is too long to keep cannot be resumed.
type shownText struct {
	streamBase
	text    []byte
	tooLong bool
}

// MaxLine implements Stream. If a long line waited here, the tool would not notice that its reader is gone.
func (s *shownText) MaxLine() int { return NoLines }

func (s *shownText) keep(piece []byte) {
	s.text = append(s.text, piece...)
	if s.tooLong = s.tooLong || len(s.text) > LongestLine; s.tooLong {
		s.text = s.text[:0]
	}
}

// endText takes what was printed for the answer: it is what the caller has.
func (s *shownText) endText() []byte {
	s.seen.Answer = strings.TrimSuffix(string(s.text), "\n")
	s.seen.Failed = s.seen.Failed || s.tooLong
	return nil
}

// addUsage adds a request's usage to the run's.
func (s *shownText) addUsage(u Usage) {
	u.Known = true
	if !s.seen.First.Known {
		s.seen.First = u
	}
	sum := &s.seen.Usage
	sum.Known = true
	sum.Input, sum.CacheRead, sum.Output = sum.Input+u.Input, sum.CacheRead+u.CacheRead, sum.Output+u.Output
}
