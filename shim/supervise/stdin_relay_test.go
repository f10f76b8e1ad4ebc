package supervise

import (
	"io"
	"os"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/reason"

	"golang.org/x/sys/unix"
)

// silentRun returns a run with a stdin that was silent so far, but for data of an earlier run, and
// the caller's end of it.
func silentRun(t *testing.T, first string, plan rewrite.Plan) (a *Attempt, caller *os.File) {
	t.Helper()
	from, caller := pair(t, socketPair)
	in, err := (&Staged{From: from, Silent: true, more: true, Data: first}).ForRun(plan)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(nil) })
	a = New(Options{Input: in, Plan: plan, Stream: &scriptedStream{}})
	a.begin()
	return a, caller
}

func TestRelay(t *testing.T) {
	for _, test := range []struct{ name, first, data string }{
		{"nothing", "", ""},
		{"late data", "", "late"},
		{"more than was read before", "first ", "and late"},
	} {
		for _, state := range []runState{stateHolding, stateShowing} {
			a, caller := silentRun(t, test.first, rewrite.Plan{})
			a.state = state
			if _, err := caller.WriteString(test.data); err != nil {
				t.Fatal(err)
			}
			caller.Close()
			for !a.Input.writer.over || len(a.Input.writer.waiting) > 0 {
				tool, frame := a.Input.writer.nextPiece()
				select {
				case data, open := <-a.stdin():
					a.takeStdin(data, open)
				case tool <- frame:
					a.Input.writer.sent()
				}
			}
			all, kept := test.first+test.data, test.first
			if state == stateHolding {
				kept = all
			}
			if got, err := io.ReadAll(a.Input.File); err != nil || string(got) != all {
				t.Errorf("%s: the tool gets %q, %v", test.name, got, err)
			}
			if got := a.Input.relay.kept(); got != kept {
				t.Errorf("%s: %q is kept for another run, want %q", test.name, got, kept)
			}
			if a.Prompted != (all != "") {
				t.Errorf("%s: late data are reported: %v", test.name, a.Prompted)
			}
		}
	}
}

// A resume was decided on without the data: they are held for the run that takes its place, and so
// are data that the relay has read meanwhile.
func TestRelayHolds(t *testing.T) {
	a, caller := silentRun(t, "", rewrite.Plan{Resume: "x"})
	a.state, a.process = stateHolding, &process{over: true}
	if _, err := caller.WriteString("late"); err != nil {
		t.Fatal(err)
	}
	a.takeStdin(<-a.stdin(), true)
	if a.Refusal != reason.LateStdin || a.stdin() != nil || len(a.Input.writer.waiting) > 0 {
		t.Errorf("refusal %q, or the tool gets it", a.Refusal)
	}
	if !a.Input.relay.stopped.Load() || a.Input.relay.kept() != "late" || a.Prompted {
		t.Errorf("%q is held", a.Input.relay.kept())
	}
	next := &relay{taken: []byte("late"), pieces: make(chan []byte, 1)}
	next.pieces <- []byte(" and more")
	if got := next.kept(); got != "late and more" {
		t.Errorf("%q is held", got)
	}
}

// Input that comes after the tool has stopped waiting stays the caller's.
func TestRelayStops(t *testing.T) {
	from, caller := pair(t, socketPair)
	r := &relay{from: int(from.Fd())}
	r.stop()
	r.read()
	if _, err := caller.WriteString("late"); err != nil {
		t.Fatal(err)
	}
	rest := make([]byte, 10)
	if n, err := unix.Read(int(from.Fd()), rest); string(rest[:max(n, 0)]) != "late" || err != nil {
		t.Errorf("the caller has %q, %v", rest[:max(n, 0)], err)
	}
}
