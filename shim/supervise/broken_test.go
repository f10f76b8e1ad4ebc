package supervise

import (
	"testing"
)

// A brokenStream breaks down over every line.
type brokenStream struct{ followerStream }

func (brokenStream) Line([]byte) []byte { panic("a bug of ours") }

// Where it breaks down over the tool's output, that is shown as it is.
func TestBreakingDownOverOutput(t *testing.T) {
	var faults int
	a := New(Options{Stream: &brokenStream{}, Fault: func(string, error) {
		faults++
	}})
	lines := splitter{line: a.recoverLine(a.Stream.Line)}
	if got := string(lines.feed([]byte("one\ntwo\n"))); got != "one\ntwo\n" || faults != 2 ||
		!a.Broken {
		t.Errorf("%q, %d faults, broken %v", got, faults, a.Broken)
	}
}
