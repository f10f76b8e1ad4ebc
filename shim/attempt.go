package shim

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"reprise/rewrite"
	"reprise/watch"
)

// An attempt is one run of the tool under supervision, in three steps: a reader for each of
// its streams (reader.go), one event loop that decides (loop.go), and a writer for each of the
// caller's streams (writer.go). The event loop alone uses what is in here: no step waits
// for a lock that another one holds.
type attempt struct {
	plan    rewrite.Plan
	stream  rewrite.Stream
	tool    rewrite.Tool
	pinned  func(id string, pid int) // told as soon as the session's id is known, nil once it was
	fault   func(what string, err error)
	signals *inbox // caught for the tool

	talk    *relay         // nil where stdin is no conversation
	sweeper *sweeper       // of a resumed run, nil where there is nothing to sweep
	watcher *watch.Watcher // nil where nothing is followed
	process *process
	taps    []*tap
	stdout  *sink
	stderr  *sink
	tail    ring // the end of stderr
	events

	state   runState
	refusal rewrite.Reason // why the run was given up
	broken  bool           // our own code broke down over its output
	ended   *status        // nil while the tool runs
	// stopped is the first signal that asked for the end of the run, 0 for none: it is not
	// run again.
	stopped   syscall.Signal
	stoppedAt time.Time
	// abandoned is how the caller sees us end if it takes too long to take what waits.
	abandoned status
}

// A runState says what becomes of the tool's output.
type runState int

const (
	stateShowing    runState = iota // it is shown as it comes
	stateHolding                    // it waits until the tool has shown that it took the resume
	stateRefusing                   // it is thrown away: the tool refused, and was told to end
	stateRefused                    // likewise, and the tool has ended
	stateDelivering                 // the tool has ended, the writers still have some of it
	stateDelivered                  // all of it has been written, as far as the caller took it
	stateAbandoned                  // the caller wanted an end, and did not take the rest
)

// run starts the tool and sees it through. The attempt owns stdin, and closes it.
func (a *attempt) run(path string, args, environ []string, files [3]*os.File, gateTimeout time.Duration) (status, error) {
	out, outWrite, err := os.Pipe()
	if err != nil {
		return status{}, fmt.Errorf("make pipe: %w", err)
	}
	defer out.Close()
	if a.plan.ExitsBeforeFlush {
		widen(outWrite)
	}
	child := [3]*os.File{files[0], outWrite, files[2]}
	var errOut *os.File
	if a.plan.Resume != "" || a.talk != nil && a.talk.scout != nil {
		a.state = stateHolding
	}
	if a.state == stateHolding || a.plan.ReadStderr {
		var errWrite *os.File
		if errOut, errWrite, err = os.Pipe(); err != nil {
			return status{}, errors.Join(fmt.Errorf("make pipe: %w", err), outWrite.Close())
		}
		defer errOut.Close()
		child[2] = errWrite
		if a.plan.OneStream && sameFile(files[1], files[2]) {
			child[1] = errWrite
		}
		defer errWrite.Close()
	}
	a.events = newEvents()
	a.connect(files[1], files[2], out, errOut)
	a.follow()
	close(a.starting)
	a.process, err = start(path, args, environ, child, a.plan.ReexecsSelf)
	if err == nil && a.plan.Resume != "" && !a.plan.Copy {
		a.tell(a.plan.Resume)
	}
	outWrite.Close()
	if err != nil {
		close(a.stop)
		if a.watcher != nil {
			a.watcher.Stop()
		}
		return status{}, err
	}
	if errOut != nil {
		child[2].Close()
	}
	a.converse()
	return a.supervise(gateTimeout), nil
}

// connect prepares what is between the tool's streams and the caller's. Where both of the
// caller's lead to one file a single writer keeps their order.
func (a *attempt) connect(stdout, stderr, out, errOut *os.File) {
	a.writers = []*writer{newWriter()}
	if !sameFile(stdout, stderr) {
		a.writers = append(a.writers, newWriter())
	}
	a.stdout = newSink(stdout, a.writers[0], a.state == stateHolding)
	a.stderr = newSink(stderr, a.writers[len(a.writers)-1], a.state == stateHolding)
	a.taps = []*tap{a.stdoutTap(out)}
	if errOut != nil {
		a.taps = append(a.taps, a.stderrTap(errOut))
	}
}

// shown is the status that the caller is to see: in another format the tool may
// exit with another.
func (a *attempt) shown(st status) status {
	if exit := a.stream.Seen().Exit; exit != 0 && st.signal == 0 {
		st.exit = exit
	}
	return st
}

// sameFile reports whether two descriptors lead to one file, as after 2>&1.
func sameFile(a, b *os.File) bool {
	infoA, _ := a.Stat()
	infoB, _ := b.Stat()
	return os.SameFile(infoA, infoB) // false for what could not be looked at
}

// follow begins to follow the files that the plan names. The tool runs without
// that as well.
func (a *attempt) follow() {
	if len(a.plan.Follow) == 0 {
		return
	}
	w, err := watch.Start(a.plan.Follow, a.readFile)
	if err != nil {
		a.fault("follow files", err)
		return
	}
	a.watcher = w
}

// readFile hands what is new in a followed file to the event loop, from the watcher's
// goroutine. Before the tool runs nothing in it can be the tool's.
func (a *attempt) readFile(path string, data []byte) {
	if !isClosed(a.starting) {
		return
	}
	select {
	case a.files <- followed{path, bytes.Clone(data)}:
	case <-a.stop:
	}
}

// recoverLine has a line that our own code breaks down over shown as it is. The run is
// then no ground to go on from.
func (a *attempt) recoverLine(read func([]byte) []byte) func([]byte) []byte {
	return func(line []byte) (shown []byte) {
		if !a.unbroken(func() { shown = read(line) }) {
			return line
		}
		return shown
	}
}

// unbroken reports whether a step of our own did not break down.
func (a *attempt) unbroken(step func()) (ok bool) {
	defer func() {
		if broken := recover(); broken != nil {
			a.fault("read the tool's output", fmt.Errorf("%v", broken))
			a.broken = true
		}
	}()
	step()
	return true
}

// write writes to one of the caller's streams, but for a run that was given up.
func (a *attempt) write(to *sink, data []byte, from *buffer) {
	if a.state != stateRefusing {
		to.write(data, from)
	}
}

// show takes what the stream has rendered, and looks at what it has learned.
func (a *attempt) show(rendered []byte, from *buffer) {
	a.write(a.stderr, []byte(a.stream.TakeStderr()), from)
	a.write(a.stdout, rendered, from)
	a.updateGate()
}

// named reports whether the tool has named its session.
func (a *attempt) named() bool {
	seen := a.stream.Seen()
	return seen.ID != "" && !seen.WrongID
}

// updateGate acts on what the stream has learned by now.
func (a *attempt) updateGate() {
	seen := a.stream.Seen()
	if a.named() {
		a.tell(seen.ID)
	}
	if a.state != stateHolding {
		return
	}
	switch {
	case seen.WrongID:
		a.refuse(rewrite.RefusedOtherID)
	case seen.Refusal != "" && !seen.ToolRan:
		a.refuse(seen.Refusal)
	case seen.Content, seen.Final && (!seen.Failed || a.talk != nil): // the caller waits for the result, and the tool for the caller
		a.letOut()
	}
}

// tell has the session's id and the tool's process noted, once. Of a resume both are
// known from the start, so that a tool that outlives us has its session to itself also
// before it has said a word. A copy has an id of its own.
func (a *attempt) tell(id string) {
	if a.pinned != nil {
		a.pinned(id, a.process.pid)
		a.pinned = nil
	}
}

// refuse gives this run up. Nothing of it is shown.
func (a *attempt) refuse(why rewrite.Reason) {
	a.state, a.refusal = stateRefusing, why
	a.process.end()
}

// letOut lets out what was held.
func (a *attempt) letOut() {
	if a.state != stateHolding {
		return
	}
	a.state = stateShowing
	a.stdout.show()
	a.stderr.show()
	if a.talk != nil {
		a.talk.settle()
	}
}

// release opens the gate when it has been closed for too long.
func (a *attempt) release() {
	if a.state == stateHolding && a.ended == nil && (a.talk == nil || a.talk.scout == nil) {
		a.letOut()
	}
}

// checkRefusal looks for a refusal in what a run has left that was never shown. Of one that
// was killed, or asked to end, or whose caller has gone, nothing is shown either, where
// it had said that it refuses; but it is not run again.
func (a *attempt) checkRefusal(st status) {
	exit := st.exit
	if st.signal != 0 {
		exit = 1
	}
	stopped := cmp.Or(a.stopped, st.signal)
	why := a.tool.Refused(string(a.tail.data), exit)
	if why != "" && (stopped == 0 && !a.stdout.gone || why != rewrite.RefusedSilent) {
		a.state, a.refusal, a.stopped = stateRefused, why, stopped
	}
}

// finish judges a run that has ended, shows what was kept for the end, and leaves the
// rest to the writers.
func (a *attempt) finish() {
	seen := a.stream.Seen()
	if a.state == stateHolding && !seen.Final && a.plan.Resume != "" {
		a.checkRefusal(*a.ended)
	}
	if a.state == stateRefusing || a.state == stateRefused {
		a.state = stateRefused
		a.stdout.drop()
		a.stderr.drop()
		return
	}
	last := a.endStream()
	a.stderr.write([]byte(a.stream.TakeStderr()), nil)
	a.stdout.write(last, nil)
	if *a.ended == (status{}) && a.stopped == 0 {
		a.stdout.write(seen.Unshown, nil)
	}
	a.stdout.show()
	a.stderr.show()
	a.deliver()
}

// endStream returns what the stream has kept for the end.
func (a *attempt) endStream() (last []byte) {
	a.unbroken(func() { last = a.stream.End() })
	return last
}
