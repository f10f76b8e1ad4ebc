package rewrite

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
