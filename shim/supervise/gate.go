package supervise

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"reprise/rewrite/reason"
)

// A gate is between a run's output and the caller: it holds the output until the run is accepted
// or refused. It reads no stream and waits for nothing; the event loop calls it.
type gate struct {
	Options
	Result
	outputs
	tail   ring   // the last bytes of stderr
	kept   bool   // the stream has the end of stdout, and shows it when the tool has ended
	behind []byte // data on stderr since then, for a caller who has both streams in one file

	process *process
	state   runState
	ended   *Status          // nil while the tool runs
	timeout <-chan time.Time // the gate timeout, nil while it does not run
}

// A runState is the state of the gate.
type runState int

const (
	stateShowing    runState = iota // the output is passed on as it comes
	stateHolding                    // the output is held until the tool has accepted the resume
	stateRefusing                   // the tool refused and was told to end; the output is dropped
	stateRefused                    // the tool refused and has ended; the output is dropped
	stateDelivering                 // the tool has ended, the writers still have output
	stateDelivered                  // the writers have written all that the caller accepted
	stateAbandoned                  // after a signal the caller took no more of the output
)

// Refused reports whether the caller has seen nothing of the run and gets another one: the tool
// refused the resume or the additions, or a scout is retired.
func (g *gate) Refused() bool { return g.state == stateRefused }

// Undelivered returns why the caller did not get all of stdout, nil if it did.
func (g *gate) Undelivered() error { return g.stdout.failed }

// Shown returns the status that the caller gets. It can differ from the status of a tool that
// could write to the shim.
func (g *gate) Shown(st Status) Status {
	switch d := g.Tool.Descriptor(); {
	case st.Signal != 0:
	case d.FileLimitKills && errors.Is(g.stdout.failed, syscall.EFBIG):
		st = Status{Signal: syscall.SIGXFSZ}
	case st.Exit == 0 && g.stdout.failed != nil:
		st.Exit = cmp.Or(g.Plan.CannotWrite, d.CannotWrite)
	}
	return st
}

func (g *gate) died() bool { return g.ended != nil && g.ended.Signal != 0 }

// maxHeld is how many bytes of output are held at most. Shown early is better than lost.
const maxHeld = 64 << 20

// write passes data on to one of the caller's streams, or holds them. If the tool has refused the
// resume, it drops them.
func (g *gate) write(to *sink, data []byte, from *buffer) {
	switch {
	case len(data) == 0 || to.gone || g.state == stateRefusing:
	case g.state == stateHolding:
		if g.hold(to, data); g.heldSize > maxHeld {
			g.letOut()
		}
	default:
		to.pass(data, from)
	}
}

// writeBehind writes the data of stderr after the end of stdout.
func (g *gate) writeBehind() {
	g.write(g.stderr, g.behind, nil)
	g.behind = nil
}

// pass writes the frames of a piece that pass the gate.
func (g *gate) pass(from *buffer) {
	if g.Input.Talk != nil && len(g.Input.Talk.passing) > 0 {
		g.stdout.pass(bytes.Clone(g.Input.Talk.passing), from)
		g.Input.Talk.passing = g.Input.Talk.passing[:0]
	}
}

// recoverLine wraps read: if read panics, the line is shown as it is, and the run's session
// is not resumed later.
func (g *gate) recoverLine(read func([]byte) []byte) func([]byte) []byte {
	return func(line []byte) (shown []byte) {
		if !g.Unbroken(func() { shown = read(line) }) {
			return line
		}
		return shown
	}
}

// Unbroken runs step and reports whether it did not panic.
func (g *gate) Unbroken(step func()) (ok bool) {
	defer func() {
		if broken := recover(); broken != nil {
			g.Fault("read the tool's output", fmt.Errorf("%v", broken))
			g.Broken = true
		}
	}()
	step()
	return true
}

// named reports whether the tool has named the session.
func (g *gate) named() bool {
	seen := g.Stream.Seen()
	return seen.ID != "" && !seen.WrongID
}

// updateGate pins the session's ID once it is known. While output is held, it ends a run that
// refuses the plan, and opens the gate once the plan is accepted.
func (g *gate) updateGate() {
	if g.named() {
		g.pin(g.Stream.Seen().ID)
		g.Input.relay.stop()
	}
	if g.state != stateHolding {
		return
	}
	switch why, refused := g.refusal(); {
	case refused:
		g.refuse(why)
	case g.proved():
		g.letOut()
	default:
		g.limitHolding()
	}
}

// refusal reports whether a running tool has refused the resume, and why.
func (g *gate) refusal() (why reason.Code, refused bool) {
	seen := g.Stream.Seen()
	switch {
	case g.Plan.Trial:
		return "", false
	case seen.WrongID:
		return reason.RefusedOtherID, true
	case seen.Refusal != "" && !seen.ToolRan:
		return seen.Refusal, true
	case g.Forgotten():
		return reason.Forgotten, true
	case seen.Final && g.Input.Talk != nil && g.unanswered():
		return reason.NoAnswer, true
	}
	return "", false
}

// proved reports whether a running tool has shown that it does as planned. In a conversation the
// caller waits for the result, and the tool for the caller.
func (g *gate) proved() bool {
	seen := g.Stream.Seen()
	if g.Plan.Trial {
		return g.Accepted()
	}
	return seen.Content && !g.awaitsProof() ||
		seen.Final && (g.Input.Talk != nil || g.Plan.Whole && !seen.Failed)
}

// unanswered reports whether the model has said nothing to a resumed run that was sent only the new
// part: nobody knows whether it has the rest. A failure outside of the session is no sign of that.
func (g *gate) unanswered() bool {
	seen := g.Stream.Seen()
	return g.Plan.Resume != "" && !g.Plan.Whole && !seen.Content && !seen.ToolRan &&
		seen.Outside == ""
}

// Forgotten reports whether the first request of a resumed run was too short to hold the session.
// A request that the provider refused, or does not count, has no tokens.
func (g *gate) Forgotten() bool {
	seen := g.Stream.Seen()
	first := seen.First.Prompt()
	return seen.First.Known && !seen.Compacted && first > 0 && first < g.Plan.Least
}

// awaitsProof reports whether the length of the first request is still to come, and holding the
// output until then delays nobody: the tool prints at the end only, or tells the length before the
// answer.
func (g *gate) awaitsProof() bool {
	seen := g.Stream.Seen()
	return g.Plan.Least > 0 && !seen.First.Known && !seen.Compacted &&
		(g.Stream.PrintsAtEnd() || g.Tool.Descriptor().TellsFirst)
}

// Accepted reports whether the tool has shown that it runs the command line that it was given:
// there is content, an ID, an answer of the provider, a session's file or anything on stdout.
func (g *gate) Accepted() bool {
	seen := g.Stream.Seen()
	return g.Spoke || seen.ID != "" || seen.Content || seen.Outside != ""
}

// namesAdded reports whether the tool has named an addition of the trial on stderr: it can refuse
// one and end with status 0.
func (g *gate) namesAdded() bool {
	return slices.ContainsFunc(g.Plan.Added, func(name string) bool {
		return bytes.Contains(g.tail.data, []byte(name))
	})
}

// trialLimit is how long the output of a trial is held: a person can be reading stderr.
var trialLimit = 2 * time.Second // shorter in this package's tests

// limitHolding starts the gate timeout once something is held that the caller can be reading. A
// tool that is silent can still refuse, however long it takes, and so can a tool that waits for the
// stdin.
func (g *gate) limitHolding() {
	waits := g.Input.relay != nil && !g.named() || g.Input.Talk != nil && g.Input.Talk.Scout != nil
	if g.timeout == nil && !waits && !g.Stream.PrintsAtEnd() && len(g.held) > 0 {
		g.timeout = time.After(g.gateTimeout)
	}
}

// pin records the session's ID and the tool's process, once. If the command line gives the ID, both
// are known at the start: a tool that outlives the shim keeps its lease even before the first
// event.
func (g *gate) pin(id string) {
	if g.Pinned != nil {
		g.Pinned(id, g.process.pid)
		g.Pinned = nil
	}
}

// refuse ends a run that did not accept the resume. The output is dropped.
func (g *gate) refuse(why reason.Code) {
	g.state, g.Refusal = stateRefusing, why
	g.process.end()
}

// letOut passes on the held output, in order of arrival if the caller has both streams in one file.
func (g *gate) letOut() {
	if g.state != stateHolding {
		return
	}
	g.state = stateShowing
	g.show()
	if g.Input.Talk != nil {
		g.Input.Talk.settle()
	}
}

// release opens the gate after the gate timeout. A tool that has ended is judged by the end.
func (g *gate) release() {
	if g.ended == nil {
		g.letOut()
	}
}

// checkStderr looks for a refusal in the stderr of a resumed run that ended with its output still
// held. If the run was killed or told to end, or if the caller has gone, the tool's silence
// is no refusal, and the tool is not run again. A crash is one: the session can be the cause.
func (g *gate) checkStderr() {
	if g.Plan.Resume == "" || g.Stream.Seen().Final {
		return
	}
	exit := g.ended.Exit
	if g.ended.Signal != 0 {
		exit = 1
	}
	stopped := g.Stopped
	if !slices.Contains(crashes, g.ended.Signal) {
		stopped = cmp.Or(stopped, g.ended.Signal)
	}
	why := g.Tool.Refused(string(g.tail.data), exit)
	if why != "" && (stopped == 0 && !g.stdout.gone || why != reason.RefusedSilent) {
		g.state, g.Refusal, g.Stopped = stateRefused, why, stopped
	}
}

// crashes are the signals that say that the tool itself has failed.
var crashes = []syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGILL, syscall.SIGFPE,
	syscall.SIGABRT, syscall.SIGTRAP}

// checkEnd looks for a refusal in the end of a run, if the output is still held. A run that was
// told to end has refused nothing.
func (g *gate) checkEnd() {
	switch {
	case g.Stopped != 0:
	case g.Forgotten():
		g.state, g.Refusal = stateRefused, reason.Forgotten
	case g.stdout.gone:
	case g.unanswered() && g.ended.Signal == 0:
		g.state, g.Refusal = stateRefused, reason.NoAnswer
	case g.Plan.Trial && !g.Accepted() && (g.ended.Exit != 0 || g.namesAdded()):
		g.state, g.Refusal = stateRefused, reason.AddedRefused
	}
}
