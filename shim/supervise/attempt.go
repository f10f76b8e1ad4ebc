package supervise

import (
	"bytes"
	"os"
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
	Refusal  reason.Code // why the tool refused the resume
	Broken   bool        // our code panicked on the tool's output
	Prompted bool        // data on stdin came later, and were passed on
	Spoke    bool        // something has come on stdout
	// Stopped is the first signal that asked for the end of the run, 0 for none. After one
	// the tool is not run again.
	Stopped syscall.Signal
}

// An Attempt is one supervised run of the tool. A reader reads each of the tool's streams
// (reader.go), one event loop decides (loop.go), and a writer writes each of the caller's
// streams (writer.go). Only the event loop uses these fields, so that no goroutine waits
// for another one's lock.
type Attempt struct {
	gate

	pieces  chan piece       // from the readers; sending never blocks
	steps   chan func()      // by post
	beats   <-chan time.Time // the next beat, nil before a terminating signal
	closing <-chan time.Time // one for both streams: fires a short time after the tool has closed one
	stop    chan struct{}    // closed when the loop has ended; readers and writers then end
	started time.Time
	watcher *watch.Watcher // nil if no file is followed
	taps    []*tap         // stdout's, and stderr's where it is read
	reading int            // readers that have not ended
	// late is the first such signal that came after the tool's end, 0 for none.
	late syscall.Signal
}

// New returns a run that is to be started.
func New(o Options) *Attempt {
	return &Attempt{gate: gate{Options: o}, pieces: make(chan piece, mostPieces),
		steps: make(chan func()), stop: make(chan struct{})}
}

// Close ends the process that watches for signals to the whole group. It is called once the run's
// end is recorded.
func (a *Attempt) Close() { a.process.witness.Close() }

// Run starts the tool and returns when the output has been delivered. It fails if the tool
// cannot be started.
func (a *Attempt) Run(path string, args, environ []string, files [3]*os.File,
	gateTimeout time.Duration) (Status, error) {
	a.gateTimeout = gateTimeout
	if a.Plan.Resume != "" || a.Input.Talk != nil && a.Input.Talk.Scout != nil || a.Plan.Trial {
		a.state = stateHolding
	}
	child, err := a.link(files)
	defer a.closeTaps()
	if err != nil {
		return Status{}, err
	}
	a.outputs.open(files[1], files[2])
	a.readStdout(a.taps[0])
	if len(a.taps) > 1 {
		a.readStderr(a.taps[1])
	}
	a.follow()
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
	out, err := newTap(files[1])
	if err != nil {
		return child, err
	}
	a.taps = []*tap{out}
	if a.Plan.ExitsBeforeFlush || takesAll(files[1]) {
		widen(out.tools)
	}
	child = [3]*os.File{files[0], out.tools, files[2]}
	// the order counts, and the shim's way takes longer than a direct one
	one := sameFile(files[1], files[2])
	if a.state != stateHolding && !a.Plan.ReadStderr && !one || front.Closed(files[2].Fd()) {
		return child, nil
	}
	errOut, err := newTap(files[2])
	if err != nil {
		return child, err
	}
	a.taps = append(a.taps, errOut)
	child[2] = errOut.tools
	if a.Plan.OneStream && one {
		child[1] = errOut.tools
	}
	return child, nil
}

func (a *Attempt) closeTaps() {
	for _, t := range a.taps {
		t.ours.Close()
		t.tools.Close() // a second time where the tool was started
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
		a.checkOver()
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

// follow starts to follow the files that the plan names. If that fails, the tool runs all
// the same.
func (a *Attempt) follow() {
	if len(a.Plan.Follow) == 0 {
		return
	}
	w, err := watch.Start(a.Plan.Follow, func(path string, data []byte) {
		data = bytes.Clone(data)
		a.post(func() { a.takeFile(path, data) })
	})
	if err != nil {
		a.Fault("follow files", err)
		return
	}
	a.watcher = w
}

// finish is called when the tool has ended and the streams have been read. It drops the
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
		a.state, a.held = stateRefused, nil
		return
	}
	a.write(a.stderr, []byte(a.Stream.TakeStderr()), nil)
	a.write(a.stdout, last, nil)
	if *a.ended == (Status{}) && a.Stopped == 0 {
		a.write(a.stdout, a.Stream.Seen().Unshown, nil)
	}
	a.writeBehind()
	a.state = stateDelivering
	a.show()
	for _, w := range a.writers {
		close(w.queue)
	}
	go func() {
		a.writing.Wait()
		a.post(func() { a.state = stateDelivered })
	}()
}

func (a *Attempt) endStream() (last []byte) {
	a.Unbroken(func() { last = a.Stream.End() })
	return last
}
