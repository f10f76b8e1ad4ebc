package supervise

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/test/toolbox"
)

// A scriptedStream learns from each line the state that the line names, and shows the line. So a
// script sets both the tool's output and the state that is read from it.
type scriptedStream struct {
	followerStream
	max     int // MaxLine
	holds   bool
	atEnd   bool
	says    string // on stderr, ahead of each line
	ahead   string // the part of says that is still to be taken
	last    string // at the end
	asideAt string // on stderr, at the end
	signals *Inbox // which "signal N" adds to
	ends    int    // how often the end has come
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
		s.seen.Refusal = reason.RefusedUnknown
	case "final":
		s.seen.Final = true
	case "kept":
		s.seen.Final = true
		return nil
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

// ErrLine marks lines that were read from stderr.
func (s *scriptedStream) ErrLine(line []byte) []byte { return append([]byte("read: "), line...) }

func (s *scriptedStream) ErrAsIs([]byte) bool { return false }

func (s *scriptedStream) MaxLine() int { return s.max }

func (s *scriptedStream) HoldsOutput() bool { return s.holds }

func (s *scriptedStream) PrintsAtEnd() bool { return s.atEnd }

func (s *scriptedStream) TakeStderr() string {
	taken := s.ahead
	s.ahead = ""
	return taken
}

func (s *scriptedStream) End() []byte {
	s.ends++
	if s.last == "panic" {
		panic("a bug of ours")
	}
	s.ahead += s.asideAt
	return []byte(s.last)
}

// A scriptedTool is a shell script, with a stream that the script controls.
type scriptedTool struct {
	rewrite.Tool
	stream  *scriptedStream
	refused reason.Code // by its stderr and exit code
	judged  *string     // that stderr and exit code, nil if nobody asks
	kills   bool        // a file that reaches the limit ends it
}

func (s scriptedTool) Refused(stderr string, exit int) reason.Code {
	if s.judged != nil {
		*s.judged = fmt.Sprintf("%q, exit %d", stderr, exit)
	}
	return s.refused
}

func (s scriptedTool) Descriptor() *rewrite.Descriptor {
	return &rewrite.Descriptor{CannotWrite: 101, FileLimitKills: s.kills}
}

func (s scriptedTool) Stream(rewrite.CommandLine, rewrite.Plan, rewrite.Totals) rewrite.Stream {
	return s.stream
}

// perform runs a script for a caller that has one stream as stdout and stderr. The
// script finds it as $OUT.
func perform(t *testing.T, tool scriptedTool, plan rewrite.Plan, script string,
	gateTimeout time.Duration, caller *os.File) (*Attempt, Status) {
	t.Helper()
	return performFor(t, tool, plan, script, gateTimeout, [3]*os.File{devNull(t), caller, caller})
}

// performFor runs a script for a caller that has these streams. The script finds the last two as
// $OUT and $ERR.
func performFor(t *testing.T, tool scriptedTool, plan rewrite.Plan, script string,
	gateTimeout time.Duration, caller [3]*os.File) (*Attempt, Status) {
	t.Helper()
	if tool.stream.signals == nil {
		tool.stream.signals = childrensInbox(t)
	}
	path := toolbox.Program(t, t.TempDir(), "tool", "#!/bin/sh\n"+script)
	return play(t, tool, tool.stream.signals, plan, path,
		append(os.Environ(), "OUT="+caller[1].Name(), "ERR="+caller[2].Name()), caller, gateTimeout)
}

// play runs a program as planned, for a caller that has these streams.
func play(t *testing.T, tool rewrite.Tool, signals *Inbox, plan rewrite.Plan, path string,
	environ []string, caller [3]*os.File, gateTimeout time.Duration) (*Attempt, Status) {
	t.Helper()
	in, err := (&Staged{From: caller[0]}).ForRun(plan)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close(caller[0])
	plan, remove, err := WithScratch(plan)
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	plan.Started = time.Now().UnixMilli()
	a := New(Options{
		Plan:    plan,
		Tool:    tool,
		Input:   in,
		Stream:  tool.Stream(rewrite.CommandLine{}, plan, ""),
		Signals: signals,
		Pinned:  func(string, int) {},
		Fault:   func(what string, err error) { t.Logf("%s: %v", what, err) },
	})
	st, err := a.Run(path, append([]string{"tool"}, plan.Args...), environ,
		[3]*os.File{in.File, caller[1], caller[2]}, gateTimeout)
	if err != nil {
		t.Fatal(err)
	}
	a.process.witness.Close()
	return a, st
}

// The fate of a resumed run, by its output and end.
func TestRunStates(t *testing.T) {
	const long = 20 * time.Second
	tests := []struct {
		name    string
		script  string
		tool    scriptedTool
		timeout time.Duration
		state   runState
		refusal reason.Code
		status  Status
		shown   string
	}{
		{"taken", "echo content; echo more", scriptedTool{}, long, stateDelivered, "",
			Status{}, "content\nmore\n"},
		{"shown while it runs", `echo content; until [ -s $OUT ]; do sleep 0.02; done; echo more`,
			scriptedTool{}, long,
			stateDelivered, "", Status{}, "content\nmore\n"},
		{"refused", "trap '' TERM; echo refusal; echo content; echo more; exit 1", scriptedTool{},
			long,
			stateRefused, reason.RefusedUnknown, Status{Exit: 1}, ""},
		{"goes on after it has refused", "trap 'exit 3' TERM; echo refusal; WAIT", scriptedTool{},
			long,
			stateRefused, reason.RefusedUnknown, Status{Exit: 3}, ""},
		{"says more after it has refused",
			"trap 'echo content; echo late; exit 3' TERM; echo refusal; echo err >&2; WAIT",
			scriptedTool{}, long, stateRefused, reason.RefusedUnknown, Status{Exit: 3}, ""},
		{"another id", "trap 'exit 3' TERM; echo other-id; WAIT", scriptedTool{}, long,
			stateRefused, reason.RefusedOtherID, Status{Exit: 3}, ""},
		{"refuses after a tool has run", "echo tool; echo refusal; echo more; exit 1",
			scriptedTool{}, long,
			stateDelivered, "", Status{Exit: 1}, "tool\nrefusal\nmore\n"},
		{"refuses after it was shown",
			"echo content; until [ -s $OUT ]; do sleep 0.02; done; echo refusal; echo more; exit 1",
			scriptedTool{}, long,
			stateDelivered, "", Status{Exit: 1}, "content\nrefusal\nmore\n"},
		{"says nothing for long",
			`echo word; until [ -s $OUT ]; do sleep 0.02; done; echo refusal; echo more`,
			scriptedTool{}, 50 * time.Millisecond,
			stateDelivered, "", Status{}, "word\nrefusal\nmore\n"},
		{"refused by its exit code", "echo word; exit 1",
			scriptedTool{refused: reason.RefusedSilent}, long,
			stateRefused, reason.RefusedSilent, Status{Exit: 1}, ""},
		{"ends well, then refuses",
			"echo final; until [ -s $OUT ]; do sleep 0.02; done; echo refusal; exit 1",
			scriptedTool{}, long,
			stateDelivered, "", Status{Exit: 1}, "final\nrefusal\n"},
		{"fails, then refuses", "trap '' TERM; echo failed; sleep 0.1; echo refusal; exit 1",
			scriptedTool{}, long,
			stateRefused, reason.RefusedUnknown, Status{Exit: 1}, ""},
		{"is shown in another way", "echo loud word; echo content", scriptedTool{}, long,
			stateDelivered, "", Status{}, "WORD\ncontent\n"},
		{"keeps something for a good end", "echo content; echo unshown rest", scriptedTool{}, long,
			stateDelivered, "", Status{}, "content\nunshown rest\nrest\n"},
		{"keeps something for a good end, and fails", "echo content; echo unshown rest; exit 1",
			scriptedTool{}, long,
			stateDelivered, "", Status{Exit: 1}, "content\nunshown rest\n"},
		{"keeps something for a good end, and is asked to end",
			"trap : HUP; echo content; echo unshown rest; echo signal 1; sleep 0.1; exit 0",
			scriptedTool{}, long,
			stateDelivered, "", Status{}, "content\nunshown rest\nsignal 1\n"},
		{"ended, whatever its exit code", "echo failed; exit 1",
			scriptedTool{refused: reason.RefusedSilent}, long,
			stateDelivered, "", Status{Exit: 1}, "failed\n"},
		{"killed without a word", "kill -KILL $$", scriptedTool{refused: reason.RefusedSilent},
			long,
			stateDelivered, "", Status{Signal: syscall.SIGKILL}, ""},
		{"killed as it refuses", "kill -KILL $$", scriptedTool{refused: reason.RefusedBusy}, long,
			stateRefused, reason.RefusedBusy, Status{Signal: syscall.SIGKILL}, ""},
		{"asked to end, then refuses",
			"trap : TERM HUP; echo signal 1; sleep 0.1; echo signal 15; sleep 0.1; echo refusal; " +
				"exit 4", scriptedTool{}, long,
			stateRefused, reason.RefusedUnknown, Status{Signal: syscall.SIGHUP}, ""},
		{"told of another thing, then refuses",
			"trap : USR1 TERM; echo signal 10; sleep 0.1; echo refusal; exit 4", scriptedTool{},
			long,
			stateRefused, reason.RefusedUnknown, Status{Exit: 4}, ""},
		{"held to the end", "echo content; echo final",
			scriptedTool{stream: &scriptedStream{holds: true, last: "end\n"}}, long,
			stateDelivered, "", Status{}, "content\nfinal\nend\n"},
		{"what the stream shows of a run cut short", "echo content; exit 1",
			scriptedTool{stream: &scriptedStream{holds: true, last: "end\n"}}, long,
			stateDelivered, "", Status{Exit: 1}, "content\nend\n"},
		{"breaks us down", "echo content; echo panic; echo more",
			scriptedTool{stream: &scriptedStream{last: "panic"}}, long,
			stateDelivered, "", Status{}, "content\npanic\nmore\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.tool.stream == nil {
				test.tool.stream = &scriptedStream{}
			}
			out := outputFile(t)
			script := strings.ReplaceAll(test.script, "WAIT",
				"i=0; while [ $i -lt 250 ]; do sleep 0.02; i=$((i+1)); done")
			a, st := perform(t, test.tool, rewrite.Plan{Resume: "x", Whole: true}, script,
				test.timeout, out)
			shown := contents(t, out)
			if a.state != test.state || a.Refusal != test.refusal || st != test.status ||
				shown != test.shown {
				t.Errorf("state %d, refusal %q, %+v, shown %q; want state %d, refusal %q, %+v, "+
					"shown %q",
					a.state, a.Refusal, st, shown, test.state, test.refusal, test.status,
					test.shown)
			}
		})
	}
}

// A resumed run with a first request that is too short for the session is not shown. Where its
// length is still to come, it waits.
func TestAResumeProvesItself(t *testing.T) {
	for _, test := range []struct {
		script  string
		first   rewrite.Usage
		seen    rewrite.StreamState
		refusal reason.Code
	}{
		{"echo content", rewrite.Usage{Known: true, CacheRead: 99},
			rewrite.StreamState{}, reason.Forgotten},
		{"echo content", rewrite.Usage{Known: true, Input: 1, CacheRead: 90, CacheWrite: 9},
			rewrite.StreamState{}, ""},
		{"echo content", rewrite.Usage{}, rewrite.StreamState{}, ""},
		{"echo content", rewrite.Usage{Known: true}, rewrite.StreamState{}, ""},
		{"echo content", rewrite.Usage{Known: true, Input: 1},
			rewrite.StreamState{Compacted: true}, ""},
	} {
		out := outputFile(t)
		test.seen.First = test.first
		a,
			_ := perform(t,
			scriptedTool{stream: &scriptedStream{followerStream: followerStream{seen: test.seen}}},
			rewrite.Plan{Resume: "x", Least: 100}, test.script, time.Minute, out)
		if shown := contents(t, out); a.Refusal != test.refusal ||
			(shown == "") != (test.refusal != "") {
			t.Errorf("%+v: refusal %q, shown %q; want %q", test.first, a.Refusal, shown,
				test.refusal)
		}
	}
}

// A run that fails before it has accepted the shim's options is not shown, unless it was asked to
// end or its time is up.
func TestATrial(t *testing.T) {
	defer func(was time.Duration) { trialLimit = was }(trialLimit)
	for _, test := range []struct {
		script  string
		limit   time.Duration
		refusal reason.Code
	}{
		{"exit 1", time.Minute, reason.AddedRefused},
		{"echo bad >&2; exit 2", time.Minute, reason.AddedRefused},
		{"echo bad >&2; sleep 0.3; exit 2", 20 * time.Millisecond, ""},
		{"exit 0", time.Minute, ""},
		{"echo word; exit 1", time.Minute, ""},
		{"printf x; exit 1", time.Minute, ""},
		{"kill -KILL $$", time.Minute, ""},
		// it is told to end
		{"trap 'exit 3' TERM; until [ -s none ]; do sleep 0.02; done", time.Minute, ""},
	} {
		trialLimit = test.limit
		out, errs := outputFile(t), outputFile(t)
		stream := &scriptedStream{signals: childrensInbox(t)}
		if strings.Contains(test.script, "TERM") {
			stream.signals.add(syscall.SIGTERM)
		}
		a, _ := performFor(t, scriptedTool{stream: stream}, rewrite.Plan{Trial: true, Whole: true},
			test.script, time.Minute, [3]*os.File{devNull(t), out, errs})
		shown := ""
		if strings.Contains(test.script, "bad") && test.refusal == "" {
			shown = "bad\n"
		}
		if got := contents(t, errs); a.Refusal != test.refusal ||
			a.Refused() != (test.refusal != "") || got != shown {
			t.Errorf("%s: refusal %q, shown %q; want %q, %q", test.script, a.Refusal, got,
				test.refusal, shown)
		}
	}
}

// A resumed run that was sent only the new part has failed if the model says nothing, however it
// ends.
func TestNoAnswerToADelta(t *testing.T) {
	const gate = time.Minute
	for _, test := range []struct {
		script  string
		refusal reason.Code
		stream  scriptedStream
	}{
		{"echo final", reason.NoAnswer, scriptedStream{}},
		{"echo word", reason.NoAnswer, scriptedStream{}},
		{"echo failed; exit 1", reason.NoAnswer, scriptedStream{}},
		{"exit 1", reason.NoAnswer, scriptedStream{}},
		{"echo content; echo final", "", scriptedStream{}},
		{"echo tool; exit 1", "", scriptedStream{}},
		{"echo failed; exit 1", "",
			scriptedStream{followerStream: followerStream{seen: rewrite.StreamState{Outside: reason.RateLimited}}}},
		{"kill -TERM $$", "", scriptedStream{}},
		{"trap : TERM; echo signal 15; sleep 0.1; exit 0", "", scriptedStream{}},
	} {
		out := outputFile(t)
		a, _ := perform(t, scriptedTool{stream: &test.stream}, rewrite.Plan{Resume: "x"},
			test.script, gate, out)
		if a.Refusal != test.refusal || a.Refused() != (test.refusal != "") ||
			a.Refused() && contents(t, out) != "" {
			t.Errorf("%s: refusal %q, shown %q; want %q", test.script, a.Refusal, contents(t, out),
				test.refusal)
		}
	}
}

// If the caller has one stream for both, the output keeps the order of the tool's writes.
func TestOneWriterKeepsTheOrder(t *testing.T) {
	tool := scriptedTool{stream: &scriptedStream{says: "aside\n"}}
	out := outputFile(t)
	again, err := os.OpenFile(out.Name(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	perform(t, tool, rewrite.Plan{}, "echo one; until [ -s $OUT ]; do sleep 0.02; done; echo two",
		time.Minute, again)
	if got := contents(t, out); got != "aside\none\naside\ntwo\n" {
		t.Errorf("shown %q", got)
	}
}

// The gate opens after a while for a run that is held, and for no other.
func TestRelease(t *testing.T) {
	for state, want := range map[runState]runState{
		stateHolding: stateShowing, stateShowing: stateShowing, stateRefusing: stateRefusing,
		stateDelivering: stateDelivering,
	} {
		w := newWriter()
		a := &Attempt{gate: gate{Options: Options{Stream: &scriptedStream{}}, state: state,
			outputs: outputs{stdout: newSink(devNull(t), w), stderr: newSink(devNull(t), w)}}}
		if a.release(); a.state != want {
			t.Errorf("state %d becomes %d, want %d", state, a.state, want)
		}
		a = &Attempt{gate: gate{state: state, ended: &Status{}}}
		if a.release(); a.state != state {
			t.Errorf("after the tool's end state %d becomes %d", state, a.state)
		}
	}
}

// Of a run, the first signal that asks for its end counts, and no other.
func TestSignalsThatEndARun(t *testing.T) {
	for sig := syscall.Signal(1); sig <= 31; sig++ {
		a := &Attempt{}
		a.noteStop(sig)
		a.noteStop(syscall.SIGQUIT)
		want := syscall.SIGQUIT
		switch sig {
		case syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP:
			want = sig
		}
		if a.Stopped != want {
			t.Errorf("after %v and SIGQUIT: %v", sig, a.Stopped)
		}
	}
}

// A signal that comes as the tool ends is not passed on, but a refused run is not run
// again after it.
func TestASignalAsTheToolEnds(t *testing.T) {
	a := New(Options{Signals: childrensInbox(t)})
	a.reading = 1
	var err error
	if a.process, err = start("/bin/sh", []string{"sh", "-c", "exit 5"}, nil,
		[3]*os.File{devNull(t), devNull(t), devNull(t)}, false); err != nil {
		t.Fatal(err)
	}
	defer a.process.witness.Close()
	a.Signals.add(syscall.SIGTERM)
	for a.ended == nil {
		<-a.Signals.children
		a.checkTool()
	}
	if a.Stopped != syscall.SIGTERM || a.late != syscall.SIGTERM || a.Signals.next() != 0 ||
		*a.ended != (Status{Exit: 5}) {
		t.Errorf("stopped by %v, ended with %+v", a.Stopped, *a.ended)
	}
	a.state = stateRefused
	if got := a.result(); got != (Status{Signal: syscall.SIGTERM}) {
		t.Errorf("the caller sees %+v", got)
	}
}

// A caller that takes none of its output is waited for without end, unless a terminating signal
// came that the tool has not answered with success; then for some beats. It never sees exit code 0
// if it has lost output.
func TestACallerThatTakesNothing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script string
		later  syscall.Signal // sent when the tool has ended, 0 for none
		status Status
	}{
		{"asked before, ended of it",
			`trap 'asked=1' HUP; echo signal 1; LONG; until [ "$asked" ]; do sleep 0.02; done; exit 7`, 0, Status{Exit: 7}},
		{"asked before, died of it", `LONG; echo signal 15; exec sleep 20`, 0,
			Status{Signal: syscall.SIGTERM}},
		{"asked again after a success",
			`trap 'asked=1' HUP; echo signal 1; echo final; LONG; until [ "$asked" ]; do sleep 0.02; done`, syscall.SIGTERM, Status{Signal: syscall.SIGTERM}},
		{"asked after", `LONG; exit 3`, syscall.SIGINT, Status{Signal: syscall.SIGINT}},
		{"a resume that showed nothing, asked after", `LONG; exit 3`, syscall.SIGINT,
			Status{Signal: syscall.SIGINT}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, w := pair(t, blockingPipe)
			in, began := childrensInbox(t), time.Now()
			if test.later != 0 {
				done := make(chan struct{})
				defer close(done)
				go func() {
					for !isClosed(done) { // one can come just as the tool ends
						time.Sleep(beat)
						in.add(test.later)
					}
				}()
			}
			// Somewhat more than the caller's pipe holds: output after it is still read, however
			// small the pieces are.
			script := strings.ReplaceAll(test.script, "LONG",
				"head -c 66000 /dev/zero | tr '\\0' '\n'")
			plan := rewrite.Plan{}
			if strings.HasPrefix(test.name, "a resume") {
				plan.Resume, plan.Whole = "x", true
			}
			stream := &scriptedStream{signals: in}
			a, st := perform(t, scriptedTool{stream: stream}, plan, script, time.Minute, w)
			if took, died := time.Since(began), a.died(); a.state != stateAbandoned ||
				st != test.status || !died && took < (idleBeats-1)*beat || stream.ends != 1 {
				t.Errorf("state %d, %+v after %v, %d ends", a.state, st, took, stream.ends)
			}
			r.Close() // the writer can end
		})
	}
}

// A caller that has sent a signal and begins to read late, or reads slowly, gets everything and the
// tool's own status, however long it takes.
func TestACallerThatTakesItsTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		wait, pause time.Duration
		piece       int
		script      string
		status      Status
	}{
		"begins late":             {2 * beat, 0, 64 << 10, "exit 0", Status{}},
		"begins late, it failed":  {2 * beat, 0, 64 << 10, "exit 7", Status{Exit: 7}},
		"reads slowly":            {0, 20 * time.Millisecond, 4000, "exit 0", Status{}},
		"reads slowly, it failed": {0, 20 * time.Millisecond, 4000, "exit 7", Status{Exit: 7}},
		"begins after all beats":  {(idleBeats + 2) * beat, 0, 64 << 10, "exit 0", Status{}},
		// A pipe is full, and a page of it is taken in each beat and a half.
		"reads very slowly": {0, 3 * beat / 2, 4096, "exit 7", Status{Exit: 7}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size := 400000
			if name == "reads very slowly" {
				size = 65536 + 3*4096
			}
			r, w := pair(t, blockingPipe)
			got := make(chan int)
			go func() {
				time.Sleep(test.wait)
				total := 0
				for piece := make([]byte, test.piece); ; time.Sleep(test.pause) {
					if total > 3*4096 && test.pause > beat {
						piece = make([]byte, 64<<10) // more would take minutes
					}
					n, err := r.Read(piece)
					total += n
					if err != nil {
						break
					}
				}
				got <- total
			}()
			script := fmt.Sprintf("trap 'asked=1' TERM; echo signal 15; until [ \"$asked\" ]; do "+
				"sleep 0.02; done; head -c %d /dev/zero | tr '\\0' '\n'; %s", size, test.script)
			a, st := perform(t, scriptedTool{stream: &scriptedStream{signals: childrensInbox(t)}},
				rewrite.Plan{}, script, time.Minute, w)
			w.Close()
			if total := <-got; st != test.status || a.state != stateDelivered ||
				total != size+len("signal 15\n") {
				t.Errorf("%d bytes of %d, %+v, state %d", total, size, st, a.state)
			}
		})
	}
}

// A beat without progress counts only if there is something to take, and idle beats end only the
// delivery of a run that has ended.
func TestBeats(t *testing.T) {
	for _, test := range []struct {
		name    string
		waiting int32
		taken   int64
		idle    int // before
		ended   *Status
		late    syscall.Signal
		want    int
		over    bool
	}{
		{"nothing to take", 0, 5, 2, &Status{Exit: 1}, 0, 0, false},
		{"something was taken", 1, 6, 2, &Status{Exit: 1}, 0, 0, false},
		{"not yet", 1, 5, 1, &Status{Exit: 1}, 0, 2, false},
		{"the tool runs", 1, 5, 2, nil, 0, 3, false},
		{"the tool has run meanwhile", 1, 5, 7, &Status{Exit: 1}, 0, 8, true},
		{"the tool has answered", 1, 5, 7, &Status{}, 0, 8, false},
		{"it has, but again", 1, 5, 2, &Status{}, syscall.SIGHUP, 3, true},
	} {
		stream := &scriptedStream{asideAt: "kept"}
		w, other := newWriter(), newWriter()
		w.waiting.Store(test.waiting)
		w.taken.Store(test.taken - 2)
		other.taken.Store(2)
		a := &Attempt{gate: gate{Options: Options{Stream: stream}, ended: test.ended,
			outputs: outputs{idle: test.idle, taken: 5}}, late: test.late}
		a.writers = []*writer{w, other}
		a.checkCaller()
		if a.idle != test.want || a.over() != test.over || a.taken != test.taken ||
			(stream.ahead != "") != test.over || a.beats == nil {
			t.Errorf("%s: idle %d, over %v, stream ended: %v", test.name, a.idle, a.over(),
				stream.ahead != "")
		}
	}
}

// After the timeout a gate is open for output that the caller can be reading; for nothing else, and
// not for a tool that waits.
func TestTheGateTimeout(t *testing.T) {
	t.Parallel()
	const timeout = 300 * time.Millisecond // a busy machine can end a tool that late
	for _, test := range []struct {
		name    string
		script  string
		atEnd   bool
		state   runState
		refusal reason.Code
		shown   string
	}{
		{"silent, then refuses", "sleep 0.4; echo refusal; exit 1", false, stateRefused,
			reason.RefusedUnknown, ""},
		{"silent, then refuses with its exit code", "sleep 0.4; echo no session >&2; exit 1", false,
			stateRefused, reason.RefusedUnknown, ""},
		{"silent, then speaks and refuses at once", "sleep 0.4; printf 'word\nrefusal\n'; exit 1",
			false, stateRefused, reason.RefusedUnknown, ""},
		{"silent, then speaks",
			`sleep 0.4; echo word; until [ -s $OUT ]; do sleep 0.02; done; echo more`, false,
			stateDelivered, "", "word\nmore\n"},
		{"warns, and then refuses",
			`echo warning >&2; until [ -s $OUT ]; do sleep 0.02; done; echo refusal`, false,
			stateDelivered, "", "warning\nrefusal\n"},
		{"prints at its end, warns, and then refuses",
			`echo warning >&2; sleep 0.4; echo refusal; exit 1`, true, stateRefused,
			reason.RefusedUnknown, ""},
		{"prints at its end", `echo word; sleep 0.4; [ -s $OUT ] || echo late`, true,
			stateDelivered, "", "word\nlate\n"},
		{"prints at its end, content",
			`echo content; until [ -s $OUT ]; do sleep 0.02; done; echo more`, true, stateDelivered,
			"", "content\nmore\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out := outputFile(t)
			tool := scriptedTool{stream: &scriptedStream{atEnd: test.atEnd}}
			if test.state == stateRefused {
				tool.refused = test.refusal
			}
			a, _ := perform(t, tool, rewrite.Plan{Resume: "x", Whole: true}, test.script, timeout,
				out)
			if shown := contents(t, out); a.state != test.state || a.Refusal != test.refusal ||
				shown != test.shown {
				t.Errorf("state %d, refusal %q, shown %q; want state %d, refusal %q, shown %q",
					a.state, a.Refusal, shown, test.state, test.refusal, test.shown)
			}
		})
	}
}

// The gate stays closed while the tool waits for its stdin: input there makes the call begin anew,
// with that input.
func TestTheGateWaitsForStdin(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	s, plan := &Staged{From: r, Silent: true, more: true}, rewrite.Plan{Resume: "x"}
	in, err := s.ForRun(plan)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(500*time.Millisecond, func() { _, _ = w.WriteString("late") })
	out := outputFile(t)
	tool := scriptedTool{stream: &scriptedStream{}}
	a := New(Options{Plan: plan, Tool: tool, Stream: tool.stream,
		Input: in, Signals: childrensInbox(t), Fault: func(string, error) {}})
	path := toolbox.Program(t, t.TempDir(), "tool", "#!/bin/sh\necho waiting; exec cat")
	if _, err := a.Run(path, []string{"tool"}, os.Environ(),
		[3]*os.File{in.File, out, out}, 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	a.process.witness.Close()
	in.Close(r)
	again, err := s.ForRun(rewrite.Plan{})
	if err != nil {
		t.Fatal(err)
	}
	again.Close(r)
	if shown := contents(t, out); a.state != stateRefused || a.Refusal != reason.LateStdin ||
		s.Data != "late" || shown != "" {
		t.Errorf("state %d, refusal %q, late %q, shown %q", a.state, a.Refusal, s.Data, shown)
	}
}

// The timeout runs from when something is held that the caller can be reading.
func TestLimitHolding(t *testing.T) {
	for _, test := range []struct {
		name         string
		held, aside  string
		atEnd, named bool
		relay, scout bool
		want         bool
	}{
		{name: "nothing is held"}, {name: "stdout", held: "word", want: true},
		{name: "stderr", aside: "word", want: true},
		{name: "at the end", held: "word", aside: "word", atEnd: true},
		{name: "for stdin", held: "word", relay: true},
		{name: "no longer for stdin", held: "word", relay: true, named: true, want: true},
		{name: "for the first message", aside: "word", scout: true},
	} {
		stream := &scriptedStream{atEnd: test.atEnd}
		a := &Attempt{gate: gate{Options: Options{Stream: stream, gateTimeout: time.Minute},
			state: stateHolding, outputs: outputs{stdout: newSink(devNull(t), newWriter()),
				stderr: newSink(devNull(t), newWriter())}}}
		a.write(a.stdout, []byte(test.held), nil)
		a.write(a.stderr, []byte(test.aside), nil)
		if test.named {
			stream.seen.ID = "one"
		}
		if test.relay {
			a.Input.relay = &relay{}
		}
		a.Input.Talk = &Dialogue{}
		if test.scout {
			a.Input.Talk.Scout = func() bool { return true }
		}
		a.limitHolding()
		if first := a.timeout; (first != nil) != test.want {
			t.Errorf("%s: it runs: %v", test.name, first != nil)
		} else if a.limitHolding(); a.timeout != first {
			t.Errorf("%s: it begins anew", test.name)
		}
	}
}

// An answer that could not be written is no success, even if the tool is not to blame: the caller
// sees the exit code that the tool would have. An answer is not concerned if the reader has gone.
func TestAnAnswerThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { full.Close() })
	r, closed := pair(t, blockingPipe)
	r.Close()
	for _, test := range []struct {
		name   string
		script string
		out    *os.File
		holds  bool
		failed bool
		ended  Status
		shown  Status
	}{
		{"full", "echo word", full, true, true, Status{}, Status{Exit: 101}},
		{"full, and the tool failed", "echo word; exit 3", full, true, true,
			Status{Exit: 3}, Status{Exit: 3}},
		{"full, and the tool learns of it",
			"trap '' PIPE; echo word; while echo more; do sleep 0.02; done 2>/dev/null; exit 9",
			full, false, true, Status{Exit: 9}, Status{Exit: 9}},
		{"no reader", "echo word", closed, true, false, Status{}, Status{}},
		{"nothing to write", "exit 0", full, true, false, Status{}, Status{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, plan := range []rewrite.Plan{{}, {Resume: "x", Whole: true}, {CannotWrite: 7}} {
				if plan.Resume != "" && !test.holds {
					continue
				}
				if test.shown.Exit == 101 && plan.CannotWrite != 0 { // the version's own exit code
					test.shown.Exit = plan.CannotWrite
				}
				a, st := performFor(t, scriptedTool{stream: &scriptedStream{holds: test.holds}},
					plan, test.script, time.Minute,
					[3]*os.File{devNull(t), test.out, outputFile(t)})
				if (a.stdout.failed != nil) != test.failed || st != test.ended ||
					a.Shown(st) != test.shown {
					t.Errorf("failed: %v, %+v, shown %+v", a.stdout.failed, st, a.Shown(st))
				}
			}
		})
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
	tp, pieces, stop := &tap{ours: r, free: newBuffers()},
		make(chan piece, buffersPerStream+1), make(chan struct{})
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

// Leftovers go while the tool runs, as soon as they are there, until it has named its session: then
// it writes none any more.
func TestLeftoversGoWhileTheToolRuns(t *testing.T) {
	left := filepath.Join(t.TempDir(), "left")
	script := `sleep 0.1; : >` + left + `; i=0; while [ -e ` + left + ` ]; do sleep 0.02; i=$((i+1)); [ $i -lt 500 ] || exit 1; done
echo id one; sleep 0.3; : >` + left + `; sleep 0.2; [ -e ` + left + ` ] || exit 2`
	stream := &scriptedStream{signals: childrensInbox(t)}
	a := New(Options{Tool: scriptedTool{stream: stream}, Stream: stream,
		Signals: stream.signals, Fault: func(string, error) {}, Sweep: func() {
			_ = os.Remove(left)
		}})
	path := toolbox.Program(t, t.TempDir(), "tool", "#!/bin/sh\n"+script)
	st, err := a.Run(path, []string{"tool"}, os.Environ(),
		[3]*os.File{devNull(t), outputFile(t), outputFile(t)}, time.Minute)
	if err != nil || st != (Status{}) {
		t.Errorf("%+v, %v", st, err)
	}
}
