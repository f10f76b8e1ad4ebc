package supervise

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/front"
	"reprise/watch"
)

// Options are the input of a run.
type Options struct {
	Plan    rewrite.Plan
	Stream  rewrite.Stream
	Tool    rewrite.Tool
	Input   Input
	Signals *Inbox // signals to forward to the tool
	// removes the tool's remains beside a resumed session's file; nil if it leaves nothing
	Sweep  func()
	Pinned func(id string, pid int) // called once, when the session's ID is known; nil afterwards
	// FinishEarly is called when the turns of a conversation are over, maybe before the tool has
	// ended.
	FinishEarly func(turns []Turn, plan rewrite.Plan)
	Fault       func(what string, err error)

	gateTimeout time.Duration // how long output is held that the caller can be waiting for
}

// A Result is the outcome of a run.
type Result struct {
	Refusal   reason.Code // why the tool refused the resume
	Broken    bool        // our code panicked on the tool's output
	LateStdin []byte      // data on stdin after the decision to resume
	Prompted  bool        // data on stdin came later, and were passed on
	Spoke     bool        // something has come on stdout
	// Stopped is the first signal that asked for the end of the run, 0 for none. After one
	// the tool is not run again.
	Stopped syscall.Signal
}

// An Attempt is one supervised run of the tool. A reader reads each of the tool's streams
// (reader.go), one event loop decides (loop.go), and a writer writes each of the caller's
// streams (writer.go). Only the event loop uses these fields, so that no goroutine waits
// for another one's lock.
type Attempt struct {
	Options
	Result

	watcher *watch.Watcher // nil if no file is followed
	process *process
	taps    []*tap // stdout's, and stderr's where it is read
	outputs
	events
	ending

	state runState
	ended *Status // nil while the tool runs
	// late is the first such signal that came after the tool's end, 0 for none.
	late syscall.Signal
}

// An ending is the output that the shim keeps until it knows how the run ends.
type ending struct {
	tail   ring   // the last bytes of stderr
	kept   bool   // the stream has the end of stdout, and shows it when the tool has ended
	behind []byte // data on stderr since then, for a caller who has both streams in one file
}

// Refused reports whether the caller has seen nothing of the run and gets another one: the tool
// refused the resume or the additions, or a scout is retired.
func (a *Attempt) Refused() bool { return a.state == stateRefused }

// Undelivered returns why the caller did not get all of stdout, nil if it did.
func (a *Attempt) Undelivered() error { return a.stdout.failed }

// Close ends the process that watches for signals to the whole group. It is called once the run's
// end is recorded.
func (a *Attempt) Close() { a.process.witness.Close() }

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

// Run starts the tool and returns when the output has been delivered. It fails if the tool
// cannot be started.
func (a *Attempt) Run(path string, args, environ []string, files [3]*os.File,
	gateTimeout time.Duration) (Status, error) {
	a.gateTimeout = gateTimeout
	if a.Plan.Resume != "" || a.Input.Talk != nil && a.Input.Talk.Scout != nil || a.Plan.Trial {
		a.state = stateHolding
	}
	child, err := a.link(files)
	defer a.closeLinks()
	if err != nil {
		return Status{}, err
	}
	a.events = newEvents()
	a.connect(files[1], files[2])
	a.follow()
	close(a.starting)
	a.process, err = start(path, args, environ, child, a.Plan.ReexecsSelf)
	if id := a.Plan.ID(); err == nil && id != "" {
		a.pin(id)
	}
	if err != nil {
		close(a.stop)
		if a.watcher != nil {
			a.watcher.Stop()
		}
		return Status{}, err
	}
	for _, t := range a.taps {
		t.tools.Close()
	}
	a.converse()
	return a.supervise(), nil
}

// link makes the taps that are needed, stdout's first, and returns the files that the tool gets as
// the streams.
func (a *Attempt) link(files [3]*os.File) (child [3]*os.File, err error) {
	out, err := newLink(files[1])
	if err != nil {
		return child, err
	}
	a.taps = []*tap{newTap(out, nil)}
	if a.Plan.ExitsBeforeFlush || takesAll(files[1]) {
		widen(out.tools)
	}
	child = [3]*os.File{files[0], out.tools, files[2]}
	// the order counts, and the shim's way takes longer than a direct one
	one := sameFile(files[1], files[2])
	if a.state != stateHolding && !a.Plan.ReadStderr && !one || front.Closed(files[2].Fd()) {
		return child, nil
	}
	errOut, err := newLink(files[2])
	if err != nil {
		return child, err
	}
	a.taps = append(a.taps, newTap(errOut, nil))
	child[2] = errOut.tools
	if a.Plan.OneStream && one {
		child[1] = errOut.tools
	}
	return child, nil
}

func (a *Attempt) closeLinks() {
	for _, t := range a.taps {
		t.ours.Close()
		t.tools.Close() // a second time where the tool was started
	}
}

func (a *Attempt) connect(stdout, stderr *os.File) {
	a.outputs.open(stdout, stderr, a.state == stateHolding)
	a.readStdout(a.taps[0])
	if len(a.taps) > 1 {
		a.readStderr(a.taps[1])
	}
}

func (a *Attempt) readStdout(t *tap) {
	t.to = a.stdout
	lines := splitter{line: a.recoverLine(a.takeLine), max: a.Stream.MaxLine()}
	t.take = func(b *buffer) {
		a.Spoke = a.Spoke || b != nil && len(b.piece) > 0
		shown := lines.next(b)
		if b != nil {
			a.kept = len(a.writers) == 1 && len(shown) == 0 && a.Stream.HoldsOutput() &&
				a.Stream.Seen().Final
		}
		if !a.kept {
			a.writeBehind()
		}
		a.pass(b)
		a.write(a.stderr, []byte(a.Stream.TakeStderr()), b)
		a.write(a.stdout, shown, b)
		a.updateGate()
	}
}

func (a *Attempt) readStderr(t *tap) {
	t.to = a.stderr
	lines := splitter{line: a.recoverLine(a.Stream.ErrLine), max: rewrite.LongestLine}
	lines.early = func(part []byte) (as bool) {
		a.Unbroken(func() { as = a.Stream.ErrAsIs(part) })
		return as
	}
	t.take = func(b *buffer) {
		var shown []byte
		if b != nil {
			a.tail.write(b.piece)
			shown = b.piece
		}
		if a.Plan.ReadStderr {
			shown = lines.next(b)
		}
		if a.kept {
			a.behind = append(a.behind, shown...)
			return
		}
		a.write(a.stderr, shown, b)
		a.updateGate()
	}
}

// writeBehind writes the data of stderr after the end of stdout.
func (a *Attempt) writeBehind() {
	a.write(a.stderr, a.behind, nil)
	a.behind = nil
}

// Shown returns the status that the caller gets. It can differ from the status of a tool that
// could write to the shim, and has another exit code in another output format.
func (a *Attempt) Shown(st Status) Status {
	exit, d := a.Stream.Seen().Exit, a.Tool.Descriptor()
	switch {
	case st.Signal != 0:
	case d.FileLimitKills && errors.Is(a.stdout.failed, syscall.EFBIG):
		st = Status{Signal: syscall.SIGXFSZ}
	case exit != 0:
		st.Exit = exit
	case st.Exit == 0 && a.stdout.failed != nil:
		st.Exit = cmp.Or(a.Plan.CannotWrite, d.CannotWrite)
	}
	return st
}

// follow starts to follow the files that the plan names. If that fails, the tool runs all
// the same.
func (a *Attempt) follow() {
	if len(a.Plan.Follow) == 0 {
		return
	}
	w, err := watch.Start(a.Plan.Follow, a.readFile)
	if err != nil {
		a.Fault("follow files", err)
		return
	}
	a.watcher = w
}

// readFile runs in the watcher's goroutine and sends new data of a followed file to the
// event loop. It ignores data from before the tool's start.
func (a *Attempt) readFile(path string, data []byte) {
	if !isClosed(a.starting) {
		return
	}
	select {
	case a.files <- followed{path, bytes.Clone(data)}:
	case <-a.stop:
	}
}

// recoverLine wraps read: if read panics, the line is shown as it is, and the run's session
// is not resumed later.
func (a *Attempt) recoverLine(read func([]byte) []byte) func([]byte) []byte {
	return func(line []byte) (shown []byte) {
		if !a.Unbroken(func() { shown = read(line) }) {
			return line
		}
		return shown
	}
}

// Unbroken runs step and reports whether it did not panic.
func (a *Attempt) Unbroken(step func()) (ok bool) {
	defer func() {
		if broken := recover(); broken != nil {
			a.Fault("read the tool's output", fmt.Errorf("%v", broken))
			a.Broken = true
		}
	}()
	step()
	return true
}

// write writes to one of the caller's streams, unless the tool has refused the resume.
func (a *Attempt) write(to *sink, data []byte, from *buffer) {
	if a.state != stateRefusing {
		to.write(data, from)
	}
}

// named reports whether the tool has named the session.
func (a *Attempt) named() bool {
	seen := a.Stream.Seen()
	return seen.ID != "" && !seen.WrongID
}

// updateGate pins the session's ID once it is known. While output is held, it ends a run that
// refuses the plan, and opens the gate once the plan is accepted.
func (a *Attempt) updateGate() {
	if a.named() {
		a.pin(a.Stream.Seen().ID)
		a.Input.relay.stop()
	}
	if a.state != stateHolding {
		return
	}
	switch why, refused := a.refusal(); {
	case refused:
		a.refuse(why)
	case a.proved():
		a.letOut()
	default:
		a.limitHolding()
	}
}

// refusal reports whether a running tool has refused the resume, and why.
func (a *Attempt) refusal() (why reason.Code, refused bool) {
	seen := a.Stream.Seen()
	switch {
	case a.Plan.Trial:
		return "", false
	case seen.WrongID:
		return reason.RefusedOtherID, true
	case seen.Refusal != "" && !seen.ToolRan:
		return seen.Refusal, true
	case a.Forgotten():
		return reason.Forgotten, true
	case seen.Final && a.Input.Talk != nil && a.unanswered():
		return reason.NoAnswer, true
	}
	return "", false
}

// proved reports whether a running tool has shown that it does as planned. In a conversation the
// caller waits for the result, and the tool for the caller.
func (a *Attempt) proved() bool {
	seen := a.Stream.Seen()
	if a.Plan.Trial {
		return a.Accepted()
	}
	return seen.Content && !a.awaitsProof() ||
		seen.Final && (a.Input.Talk != nil || a.Plan.Whole && !seen.Failed)
}

// unanswered reports whether the model has said nothing to a resumed run that was sent only the new
// part: nobody knows whether it has the rest. A failure outside of the session is no sign of that.
func (a *Attempt) unanswered() bool {
	seen := a.Stream.Seen()
	return a.Plan.Resume != "" && !a.Plan.Whole && !seen.Content && !seen.ToolRan &&
		seen.Outside == ""
}

// Forgotten reports whether the first request of a resumed run was too short to hold the session.
// A request that the provider refused, or does not count, has no tokens.
func (a *Attempt) Forgotten() bool {
	seen := a.Stream.Seen()
	first := seen.First.Prompt()
	return seen.First.Known && !seen.Compacted && first > 0 && first < a.Plan.Least
}

// awaitsProof reports whether the length of the first request is still to come, and holding the
// output until then delays nobody: the tool prints at the end only, or tells the length before the
// answer.
func (a *Attempt) awaitsProof() bool {
	seen := a.Stream.Seen()
	return a.Plan.Least > 0 && !seen.First.Known && !seen.Compacted &&
		(a.Stream.PrintsAtEnd() || a.Tool.Descriptor().TellsFirst)
}

// Accepted reports whether the tool has shown that it runs the command line that it was given:
// there is content, an ID, an answer of the provider, a session's file or anything on stdout.
func (a *Attempt) Accepted() bool {
	seen := a.Stream.Seen()
	return a.Spoke || seen.ID != "" || seen.Content || seen.Outside != ""
}

// namesAdded reports whether the tool has named an addition of the trial on stderr: it can refuse
// one and end with status 0.
func (a *Attempt) namesAdded() bool {
	return slices.ContainsFunc(a.Plan.Added, func(name string) bool {
		return bytes.Contains(a.tail.data, []byte(name))
	})
}

// trialLimit is how long the output of a trial is held: a person can be reading stderr.
var trialLimit = 2 * time.Second // shorter in this package's tests

// limitHolding starts the gate timeout once something is held that the caller can be reading. A
// tool that is silent can still refuse, however long it takes, and so can a tool that waits for the
// stdin.
func (a *Attempt) limitHolding() {
	waits := a.Input.relay != nil && !a.named() || a.Input.Talk != nil && a.Input.Talk.Scout != nil
	if a.timeout == nil && !waits && !a.Stream.PrintsAtEnd() &&
		(a.stdout.holds() || a.stderr.holds()) {
		a.timeout = time.After(a.gateTimeout)
	}
}

// pin records the session's ID and the tool's process, once. If the command line gives the ID, both
// are known at the start: a tool that outlives the shim keeps its lease even before the first
// event.
func (a *Attempt) pin(id string) {
	if a.Pinned != nil {
		a.Pinned(id, a.process.pid)
		a.Pinned = nil
	}
}

// refuse ends a run that did not accept the resume. The output is dropped.
func (a *Attempt) refuse(why reason.Code) {
	a.state, a.Refusal = stateRefusing, why
	a.process.end()
}

// letOut passes on the held output, in order of arrival if the caller has both streams in one file.
func (a *Attempt) letOut() {
	if a.state != stateHolding {
		return
	}
	a.state = stateShowing
	a.show()
	if a.Input.Talk != nil {
		a.Input.Talk.settle()
	}
}

// release opens the gate after the gate timeout. A tool that has ended is judged by the end.
func (a *Attempt) release() {
	if a.ended == nil {
		a.letOut()
	}
}

// finish is called when the tool has ended and its streams have been read. It drops the
// output of a refused run. Otherwise it renders the end of the output and leaves it to the
// writers.
func (a *Attempt) finish() {
	if a.state == stateHolding {
		a.checkStderr()
	}
	last := a.endStream()
	if a.state == stateHolding {
		a.checkEnd()
	}
	if a.state == stateRefusing || a.state == stateRefused {
		a.state = stateRefused
		a.drop()
		return
	}
	a.stderr.write([]byte(a.Stream.TakeStderr()), nil)
	a.stdout.write(last, nil)
	if *a.ended == (Status{}) && a.Stopped == 0 {
		a.stdout.write(a.Stream.Seen().Unshown, nil)
	}
	a.writeBehind()
	a.show()
	a.state = stateDelivering
	a.deliver(func() { a.steps <- a.delivered })
}

// checkStderr looks for a refusal in the stderr of a resumed run that ended with its output still
// held. If the run was killed or told to end, or if the caller has gone, the tool's silence
// is no refusal, and the tool is not run again. A crash is one: the session can be the cause.
func (a *Attempt) checkStderr() {
	if a.Plan.Resume == "" || a.Stream.Seen().Final {
		return
	}
	exit := a.ended.Exit
	if a.ended.Signal != 0 {
		exit = 1
	}
	stopped := a.Stopped
	if !isCrash(a.ended.Signal) {
		stopped = cmp.Or(stopped, a.ended.Signal)
	}
	why := a.Tool.Refused(string(a.tail.data), exit)
	if why != "" && (stopped == 0 && !a.stdout.gone || why != reason.RefusedSilent) {
		a.state, a.Refusal, a.Stopped = stateRefused, why, stopped
	}
}

// isCrash reports whether a signal says that the tool itself has failed.
func isCrash(signal syscall.Signal) bool {
	switch signal {
	case syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGILL, syscall.SIGFPE, syscall.SIGABRT,
		syscall.SIGTRAP:
		return true
	}
	return false
}

// checkEnd looks for a refusal in the end of a run, if the output is still held. A run that was
// told to end has refused nothing.
func (a *Attempt) checkEnd() {
	switch {
	case a.Stopped != 0:
	case a.Forgotten():
		a.state, a.Refusal = stateRefused, reason.Forgotten
	case a.stdout.gone:
	case a.unanswered() && a.ended.Signal == 0:
		a.state, a.Refusal = stateRefused, reason.NoAnswer
	case a.Plan.Trial && !a.Accepted() && (a.ended.Exit != 0 || a.namesAdded()):
		a.state, a.Refusal = stateRefused, reason.AddedRefused
	}
}

func (a *Attempt) endStream() (last []byte) {
	a.Unbroken(func() { last = a.Stream.End() })
	return last
}
