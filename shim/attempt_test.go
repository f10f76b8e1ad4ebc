package shim

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/ledger"
	"reprise/rewrite"
)

// A scriptedStream learns from each line what the line says, and shows the line. So a
// script is both the tool and what is understood of it.
type scriptedStream struct {
	followerStream
	max     int // MaxLine
	holds   bool
	says    string // on stderr, ahead of each line
	ahead   string // what is still to be taken of that
	last    string // at the end
	asideAt string // on stderr, at the end
	signals *inbox // which "signal N" adds to
}

func (s *scriptedStream) Line(line []byte) []byte {
	word, rest, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
	switch word {
	case "id":
		s.seen.ID = rest
	case "other-id":
		s.seen.WrongID = true
	case "content":
		s.seen.Content = true
	case "tool":
		s.seen.ToolRan = true
	case "refusal":
		s.seen.Refusal = rewrite.RefusedUnknown
	case "final":
		s.seen.Final = true
	case "failed":
		s.seen.Final, s.seen.Failed = true, true
	case "signal":
		var sig syscall.Signal
		if _, err := fmt.Sscan(rest, &sig); err != nil {
			panic(err)
		}
		s.signals.add(sig)
	case "panic":
		panic("a bug of ours")
	case "loud":
		line = []byte(strings.ToUpper(rest) + "\n")
	case "unshown":
		s.seen.Unshown = []byte(rest + "\n")
	}
	s.ahead += s.says
	return line
}

// ErrLine marks what was read of stderr.
func (s *scriptedStream) ErrLine(line []byte) []byte { return append([]byte("read: "), line...) }

func (s *scriptedStream) ErrAsIs([]byte) bool { return false }

func (s *scriptedStream) MaxLine() int { return s.max }

func (s *scriptedStream) HoldsOutput() bool { return s.holds }

func (s *scriptedStream) TakeStderr() string {
	taken := s.ahead
	s.ahead = ""
	return taken
}

func (s *scriptedStream) End() []byte {
	if s.last == "panic" {
		panic("a bug of ours")
	}
	s.ahead += s.asideAt
	return []byte(s.last)
}

// A scriptedTool is a shell script, and its stream what the script says.
type scriptedTool struct {
	rewrite.Tool
	stream  *scriptedStream
	refused rewrite.Reason // what its stderr and exit code tell
	judged  *string        // what they were, nil if nobody asks
}

func (s scriptedTool) Refused(stderr string, exit int) rewrite.Reason {
	if s.judged != nil {
		*s.judged = fmt.Sprintf("%q, exit %d", stderr, exit)
	}
	return s.refused
}

func (scriptedTool) SessionPaths(home, cwd, id string) []string { return nil }

func (s scriptedTool) Stream(rewrite.Call, rewrite.Plan, rewrite.Totals) rewrite.Stream {
	return s.stream
}

// perform runs a script for a caller that has one stream as its stdout and its stderr. The
// script finds it as $OUT.
func perform(t *testing.T, tool scriptedTool, plan rewrite.Plan, script string, gateTimeout time.Duration, caller *os.File) (*attempt, status) {
	t.Helper()
	return performFor(t, tool, plan, script, gateTimeout, [3]*os.File{devNull(t), caller, caller})
}

// performFor runs a script for a caller that has these streams. The script finds the last two as $OUT and $ERR.
func performFor(t *testing.T, tool scriptedTool, plan rewrite.Plan, script string, gateTimeout time.Duration, caller [3]*os.File) (*attempt, status) {
	t.Helper()
	if tool.stream.signals == nil {
		tool.stream.signals = childrensInbox(t)
	}
	path := executableFile(t, t.TempDir(), "tool", "#!/bin/sh\n"+script)
	c := &call{
		env:  Env{Args: []string{"tool"}, Environ: append(os.Environ(), "OUT="+caller[1].Name(), "ERR="+caller[2].Name()), Stdin: caller[0], Stdout: caller[1], Stderr: caller[2], Now: time.Now},
		tool: tool, log: &log{}, ticket: &ledger.Ticket{}, name: "tool", record: &ledger.Call{},
		real: target{path: path}, signals: tool.stream.signals, stdin: &staged{from: caller[0]},
	}
	c.config.GateTimeout = gateTimeout
	a, st, err := c.runPlan(plan)
	if err != nil {
		t.Fatal(err)
	}
	a.process.witness.close()
	return a, st
}

// What becomes of a resumed run, by what it says and how it ends.
func TestRunStates(t *testing.T) {
	const long = 20 * time.Second
	tests := []struct {
		name    string
		script  string
		tool    scriptedTool
		timeout time.Duration
		state   runState
		refusal rewrite.Reason
		status  status
		shown   string
	}{
		{"taken", "echo content; echo more", scriptedTool{}, long, stateDelivered, "", status{}, "content\nmore\n"},
		{"shown while it runs", `echo content; until [ -s $OUT ]; do sleep 0.02; done; echo more`, scriptedTool{}, long,
			stateDelivered, "", status{}, "content\nmore\n"},
		{"refused", "trap '' TERM; echo refusal; echo content; echo more; exit 1", scriptedTool{}, long,
			stateRefused, rewrite.RefusedUnknown, status{exit: 1}, ""},
		{"goes on after it has refused", "trap 'exit 3' TERM; echo refusal; WAIT", scriptedTool{}, long,
			stateRefused, rewrite.RefusedUnknown, status{exit: 3}, ""},
		{"says more after it has refused", "trap 'echo content; echo late; exit 3' TERM; echo refusal; echo err >&2; WAIT",
			scriptedTool{}, long, stateRefused, rewrite.RefusedUnknown, status{exit: 3}, ""},
		{"another id", "trap 'exit 3' TERM; echo other-id; WAIT", scriptedTool{}, long,
			stateRefused, rewrite.RefusedOtherID, status{exit: 3}, ""},
		{"refuses after a tool has run", "echo tool; echo refusal; echo more; exit 1", scriptedTool{}, long,
			stateDelivered, "", status{exit: 1}, "tool\nrefusal\nmore\n"},
		{"refuses after it was shown", "echo content; until [ -s $OUT ]; do sleep 0.02; done; echo refusal; echo more; exit 1", scriptedTool{}, long,
			stateDelivered, "", status{exit: 1}, "content\nrefusal\nmore\n"},
		{"says nothing for long", `echo word; until [ -s $OUT ]; do sleep 0.02; done; echo refusal; echo more`, scriptedTool{}, 50 * time.Millisecond,
			stateDelivered, "", status{}, "word\nrefusal\nmore\n"},
		{"refused by its exit code", "echo word; exit 1", scriptedTool{refused: rewrite.RefusedSilent}, long,
			stateRefused, rewrite.RefusedSilent, status{exit: 1}, ""},
		{"ends well, then refuses", "echo final; until [ -s $OUT ]; do sleep 0.02; done; echo refusal; exit 1", scriptedTool{}, long,
			stateDelivered, "", status{exit: 1}, "final\nrefusal\n"},
		{"fails, then refuses", "trap '' TERM; echo failed; sleep 0.1; echo refusal; exit 1", scriptedTool{}, long,
			stateRefused, rewrite.RefusedUnknown, status{exit: 1}, ""},
		{"is shown in another way", "echo loud word; echo content", scriptedTool{}, long, stateDelivered, "", status{}, "WORD\ncontent\n"},
		{"keeps something for a good end", "echo content; echo unshown rest", scriptedTool{}, long, stateDelivered, "", status{}, "content\nunshown rest\nrest\n"},
		{"keeps something for a good end, and fails", "echo content; echo unshown rest; exit 1", scriptedTool{}, long,
			stateDelivered, "", status{exit: 1}, "content\nunshown rest\n"},
		{"keeps something for a good end, and is asked to end", "trap : HUP; echo content; echo unshown rest; echo signal 1; sleep 0.1; exit 0", scriptedTool{}, long,
			stateDelivered, "", status{}, "content\nunshown rest\nsignal 1\n"},
		{"ended, whatever its exit code", "echo failed; exit 1", scriptedTool{refused: rewrite.RefusedSilent}, long,
			stateDelivered, "", status{exit: 1}, "failed\n"},
		{"killed without a word", "kill -KILL $$", scriptedTool{refused: rewrite.RefusedSilent}, long,
			stateDelivered, "", status{signal: syscall.SIGKILL}, ""},
		{"killed as it refuses", "kill -KILL $$", scriptedTool{refused: rewrite.RefusedBusy}, long,
			stateRefused, rewrite.RefusedBusy, status{signal: syscall.SIGKILL}, ""},
		{"asked to end, then refuses", "trap : TERM HUP; echo signal 1; sleep 0.1; echo signal 15; sleep 0.1; echo refusal; exit 4", scriptedTool{}, long,
			stateRefused, rewrite.RefusedUnknown, status{signal: syscall.SIGHUP}, ""},
		{"told of another thing, then refuses", "trap : USR1 TERM; echo signal 10; sleep 0.1; echo refusal; exit 4", scriptedTool{}, long,
			stateRefused, rewrite.RefusedUnknown, status{exit: 4}, ""},
		{"held to the end", "echo content; echo final", scriptedTool{stream: &scriptedStream{holds: true, last: "end\n"}}, long,
			stateDelivered, "", status{}, "content\nfinal\nend\n"},
		{"what the stream shows of a run cut short", "echo content; exit 1", scriptedTool{stream: &scriptedStream{holds: true, last: "end\n"}}, long,
			stateDelivered, "", status{exit: 1}, "content\nend\n"},
		{"breaks us down", "echo content; echo panic; echo more", scriptedTool{stream: &scriptedStream{last: "panic"}}, long,
			stateDelivered, "", status{}, "content\npanic\nmore\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.tool.stream == nil {
				test.tool.stream = &scriptedStream{}
			}
			out := outputFile(t)
			script := strings.ReplaceAll(test.script, "WAIT", "i=0; while [ $i -lt 250 ]; do sleep 0.02; i=$((i+1)); done")
			a, st := perform(t, test.tool, rewrite.Plan{Resume: "x"}, script, test.timeout, out)
			shown := contents(t, out)
			if a.state != test.state || a.refusal != test.refusal || st != test.status || shown != test.shown {
				t.Errorf("state %d, refusal %q, %+v, shown %q; want state %d, refusal %q, %+v, shown %q",
					a.state, a.refusal, st, shown, test.state, test.refusal, test.status, test.shown)
			}
		})
	}
}

// What the caller has in one stream stays in its order, where a tool writes on both of its.
func TestOneWriterKeepsTheOrder(t *testing.T) {
	tool := scriptedTool{stream: &scriptedStream{says: "aside\n"}}
	out := outputFile(t)
	again, err := os.OpenFile(out.Name(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	perform(t, tool, rewrite.Plan{}, "echo one; until [ -s $OUT ]; do sleep 0.02; done; echo two", time.Minute, again)
	if got := contents(t, out); got != "aside\none\naside\ntwo\n" {
		t.Errorf("shown %q", got)
	}
}

// The gate opens after a while for a run that is held, and for no other.
func TestRelease(t *testing.T) {
	for state, want := range map[runState]runState{
		stateHolding: stateShowing, stateShowing: stateShowing, stateRefusing: stateRefusing, stateDelivering: stateDelivering,
	} {
		w := newWriter()
		a := &attempt{state: state, stream: &scriptedStream{}, stdout: newSink(devNull(t), w, true), stderr: newSink(devNull(t), w, true)}
		if a.release(); a.state != want {
			t.Errorf("state %d becomes %d, want %d", state, a.state, want)
		}
		a = &attempt{state: state, ended: &status{}}
		if a.release(); a.state != state {
			t.Errorf("after the tool's end state %d becomes %d", state, a.state)
		}
	}
}

// Of a run, the first signal that asks for its end counts, and no other.
func TestSignalsThatEndARun(t *testing.T) {
	for sig := syscall.Signal(1); sig <= 31; sig++ {
		a := &attempt{}
		a.noteStop(sig)
		a.noteStop(syscall.SIGQUIT)
		want := syscall.SIGQUIT
		switch sig {
		case syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP:
			want = sig
		}
		if a.stopped != want {
			t.Errorf("after %v and SIGQUIT: %v", sig, a.stopped)
		}
	}
}

// A signal that comes as the tool ends is not passed on, but a refused run is not run
// again after it.
func TestASignalAsTheToolEnds(t *testing.T) {
	a := &attempt{signals: childrensInbox(t), events: newEvents()}
	a.reading = 1
	var err error
	if a.process, err = start("/bin/sh", []string{"sh", "-c", "exit 5"}, nil, [3]*os.File{devNull(t), devNull(t), devNull(t)}, false); err != nil {
		t.Fatal(err)
	}
	defer a.process.witness.close()
	a.signals.add(syscall.SIGTERM)
	for a.ended == nil {
		<-a.signals.children
		a.checkTool()
	}
	if a.stopped != syscall.SIGTERM || a.signals.next() != nil || *a.ended != (status{exit: 5}) {
		t.Errorf("stopped by %v, ended with %+v", a.stopped, *a.ended)
	}
	a.state = stateRefused
	if got := a.result(); got != (status{signal: syscall.SIGTERM}) {
		t.Errorf("the caller sees %+v", got)
	}
}

// A signal counts as the cause of the tool's end if it came shortly before; output is not
// delivered for long then, and losing some is no success.
func TestLimitDelivery(t *testing.T) {
	tests := []struct {
		ended     status
		stopped   syscall.Signal
		ago       time.Duration
		limited   bool
		abandoned status
	}{
		{status{}, 0, 0, false, status{}},
		{status{exit: 7}, 0, 0, false, status{exit: 7}},
		{status{exit: 7}, syscall.SIGTERM, recently / 2, true, status{exit: 7}},
		{status{signal: syscall.SIGKILL}, syscall.SIGTERM, recently / 2, true, status{signal: syscall.SIGKILL}},
		{status{exit: 7}, syscall.SIGTERM, 2 * recently, false, status{exit: 7}},
		{status{}, syscall.SIGTERM, justNow / 2, true, status{signal: syscall.SIGTERM}},
		{status{}, syscall.SIGTERM, 2 * justNow, false, status{signal: syscall.SIGTERM}},
	}
	for _, test := range tests {
		a := &attempt{ended: &test.ended, stopped: test.stopped}
		if test.stopped != 0 {
			a.stoppedAt = time.Now().Add(-test.ago)
		}
		a.limitDelivery()
		if a.exhausted != nil != test.limited || a.abandoned != test.abandoned {
			t.Errorf("%+v: limited %v, %+v", test, a.exhausted != nil, a.abandoned)
		}
	}
}

// How long a caller is waited for that does not read: until a signal asks for an end,
// and not that long if the tool ended of one.
func TestPatience(t *testing.T) {
	tests := []struct {
		name   string
		script string
		later  syscall.Signal // sent when the tool has ended, 0 for none
		state  runState
		status status
	}{
		{"asked before, ended of it", `trap 'asked=1' HUP; echo signal 1; LONG; until [ "$asked" ]; do sleep 0.02; done; exit 7`, 0, stateAbandoned, status{exit: 7}},
		{"asked right before a success", `trap : HUP; echo signal 1; echo final; LONG`, syscall.SIGTERM, stateAbandoned, status{signal: syscall.SIGHUP}},
		{"asked after", `LONG; exit 3`, syscall.SIGINT, stateAbandoned, status{signal: syscall.SIGINT}},
		{"a resume that showed nothing, asked after", `LONG; exit 3`, syscall.SIGINT, stateAbandoned, status{signal: syscall.SIGINT}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, w := pair(t, blockingPipe)
			in := childrensInbox(t)
			if test.later != 0 {
				time.AfterFunc(2*patience, func() { in.add(test.later) })
			}
			began := time.Now()
			script := strings.ReplaceAll(test.script, "LONG", "head -c 100000 /dev/zero | tr '\\0' '\\n'")
			plan := rewrite.Plan{}
			if strings.HasPrefix(test.name, "a resume") {
				plan.Resume = "x"
			}
			a, st := perform(t, scriptedTool{stream: &scriptedStream{signals: in}}, plan, script, time.Minute, w)
			if a.state != test.state || st != test.status {
				t.Errorf("state %d, %+v after %v", a.state, st, time.Since(began))
			}
			r.Close() // the writer may end
		})
	}
}

// Patience with a caller runs out, but not with a tool that is still to be judged; what the stream has kept for the end is
// learned in any case.
func TestAbandon(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	for _, test := range []struct {
		state   runState
		written chan struct{}
		want    runState
		again   bool
		ended   bool
	}{
		{stateHolding, nil, stateHolding, true, false}, {stateRefusing, nil, stateRefusing, true, false},
		{stateShowing, nil, stateAbandoned, false, true}, {stateDelivering, make(chan struct{}), stateAbandoned, false, true},
		{stateDelivering, closed, stateDelivered, false, false},
	} {
		stream := &scriptedStream{asideAt: "kept"}
		a := &attempt{state: test.state, stream: stream}
		a.written = test.written
		a.abandon()
		if a.state != test.want || (a.exhausted != nil) != test.again || (stream.ahead != "") != test.ended {
			t.Errorf("state %d becomes %d, want %d; waits on: %v, stream ended: %v", test.state, a.state, test.want, a.exhausted != nil, stream.ahead != "")
		}
	}
}

// While the caller does not read, no more than the buffers is taken from the tool.
func TestReadersWait(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		_, _ = w.Write(make([]byte, 4<<20))
		w.Close()
	}()
	tp, pieces, stop := newTap(link{ours: r}, nil), make(chan piece, buffersPerStream+1), make(chan struct{})
	ended := make(chan struct{})
	go func() {
		tp.read(pieces, stop)
		close(ended)
	}()
	var total int
	for range buffersPerStream {
		p := <-pieces
		total += len(p.buffer.piece)
	}
	select {
	case p := <-pieces:
		t.Errorf("%v more is read", p)
	case <-time.After(50 * time.Millisecond):
	}
	close(stop)
	<-ended
	if last := <-pieces; last.buffer != nil || last.over || total > buffersPerStream*pieceSize {
		t.Errorf("it ends with %+v after %d bytes", last, total)
	}
}
