package shim

import (
	"bytes"
	"os"
	"sync"
	"syscall"
	"time"

	"reprise/rewrite"
)

// patience is how long output is still delivered once a signal has asked for the end and
// the tool has ended. Without the shim the caller would see the end at once.
const patience = 300 * time.Millisecond

// A signal counts as the cause of the tool's end if it came recently before it. A tool that
// cleans up takes some time, and seldom exits with 0; for exit code 0 justNow holds.
const (
	recently = 10 * time.Second
	justNow  = time.Second
)

// Capacities of the event loop's channels. mostPieces has room for all buffers and the ends of
// two streams. mostGone has room for two reports on each of the caller's streams: one by its
// writer, one by whenHungUp.
const (
	mostPieces = 2 * (buffersPerStream + 1)
	mostGone   = 4
)

// events are the channels of the event loop.
type events struct {
	pieces   chan piece    // from the readers; sending never blocks
	files    chan followed // from the watcher
	gone     chan *sink    // the caller has closed its end
	starting chan struct{} // closed when the tool starts
	stop     chan struct{} // closed when the loop has ended; readers, writers and watcher then end

	unfollowed chan struct{}    // closed when the watcher has reported all data
	written    chan struct{}    // closed when the writers have written everything
	exhausted  <-chan time.Time // fires when patience has run out
	writers    []*writer
	writing    sync.WaitGroup
	reading    int // readers that have not ended
}

func newEvents() events {
	return events{
		pieces: make(chan piece, mostPieces), files: make(chan followed), gone: make(chan *sink, mostGone),
		starting: make(chan struct{}), stop: make(chan struct{}),
	}
}

// A followed is new data of a followed file.
type followed struct {
	path string
	data []byte
}

// supervise is the event loop. It waits for all events at once, so that a signal reaches the
// tool whatever the streams do. It dismisses the witness when the tool has ended; the caller
// of supervise closes it.
func (a *attempt) supervise(gateTimeout time.Duration) status {
	defer close(a.stop)
	a.begin()
	started, timeout := time.Now(), time.After(gateTimeout)
	sweep := a.nextSweep(time.Since(started))
	late := a.relay.start()
	for !a.over() {
		select {
		case p := <-a.pieces:
			a.takePiece(p)
		case f := <-a.files:
			a.takeFile(f)
		case s := <-a.gone:
			a.callerGone(s)
		case data := <-late:
			a.takeLate(data)
		case <-a.signals.arrived:
			if sig := a.signals.next(); sig != nil {
				a.handleSignal(sig)
			}
		case <-a.signals.children:
			a.checkTool()
		case line, open := <-a.frames():
			a.takeFrame(line, open)
		case <-a.fed():
		case <-a.overdue():
			a.process.end()
		case <-timeout:
			a.release()
		case <-sweep:
			sweep = a.nextSweep(time.Since(started))
		case <-a.unfollowed:
			a.unfollowed = nil
			a.finish()
		case <-a.written:
			a.state = stateDelivered
		case <-a.exhausted:
			a.abandon()
		}
	}
	if a.talk != nil {
		a.talk.feed.close()
	}
	for _, t := range a.taps {
		a.leaveOpen(t)
	}
	return a.result()
}

// begin starts the readers and writers.
func (a *attempt) begin() {
	for _, w := range a.writers {
		a.writing.Go(func() { w.run(a.stop, a.gone) })
	}
	for _, t := range a.taps {
		a.reading++
		go t.read(a.pieces, a.stop)
		if t.to == a.stderr || !a.stream.HoldsOutput() {
			to := t.to
			whenHungUp(to.fd, a.stop, func() { a.gone <- to })
		}
	}
}

func (a *attempt) over() bool {
	return a.state == stateRefused || a.state == stateDelivered || a.state == stateAbandoned
}

// result returns the status of the run for the caller.
func (a *attempt) result() status {
	switch {
	case a.state == stateAbandoned:
		return a.abandoned
	case a.state == stateRefused && a.stopped != 0:
		return status{signal: a.stopped} // the shim has ended the tool
	}
	return *a.ended
}

// takePiece handles a piece that a reader has read, or the reader's end.
func (a *attempt) takePiece(p piece) {
	p.tap.take(p.buffer)
	p.buffer.release()
	if p.buffer == nil {
		p.tap.over = p.tap.over || p.over
		a.reading--
		a.unfollow()
	}
}

func (a *attempt) takeFile(f followed) {
	a.unbroken(func() { a.stream.File(f.path, f.data) })
	a.updateGate()
}

// callerGone closes the tool's stream after the caller has closed its own, so that the tool's
// next write fails as it would without the shim. Two cases are read on: a format that is shown
// only at the end, since the tool itself would not have written yet, and a tool that has
// ended, for the ledger.
func (a *attempt) callerGone(s *sink) {
	s.gone = true
	if a.ended != nil || s == a.stdout && a.stream.HoldsOutput() {
		return
	}
	for _, t := range a.taps {
		if t.to == s {
			t.close()
		}
	}
}

// terminates reports whether a signal asks for the end of a run.
func terminates(sig os.Signal) bool {
	return sig == syscall.SIGTERM || sig == syscall.SIGINT || sig == syscall.SIGHUP || sig == syscall.SIGQUIT
}

// handleSignal forwards a signal to the tool. After the tool's end the signal is for the shim
// itself: a terminating one ends delivery, SIGTSTP stops the shim.
func (a *attempt) handleSignal(sig os.Signal) {
	resized := (sig == syscall.SIGWINCH || sig == syscall.SIGCONT) && a.resize()
	switch {
	case a.ended == nil && resized && sig == syscall.SIGWINCH:
		a.process.signal(sig) // also where it has got one: it may have looked at the size before
	case a.ended == nil:
		a.noteStop(sig)
		a.process.forward(sig)
	case sig == syscall.SIGTSTP:
		a.process.stop(syscall.SIGTSTP)
	case terminates(sig):
		a.noteStop(sig)
		if a.exhausted == nil {
			a.abandoned = status{signal: sig.(syscall.Signal)}
			a.exhausted = time.After(patience)
		}
	}
}

// resize gives the shim's terminals the size of the caller's, and reports whether one of them changed.
func (a *attempt) resize() (changed bool) {
	for _, l := range a.links {
		changed = l.resize() || changed
	}
	return changed
}

// takeLate takes what has come on stdin after the decision. A resume that was decided on without it is
// given up; the tool is still waiting for it.
func (a *attempt) takeLate(data []byte) {
	if data == nil {
		a.prompted = true
		return
	}
	a.lateStdin = bytes.Clone(data)
	if a.state == stateHolding {
		a.refuse(rewrite.LateStdin)
	}
}

// noteStop records the first signal that asks for the end of the run.
func (a *attempt) noteStop(sig os.Signal) {
	if terminates(sig) && a.stopped == 0 {
		a.stopped, a.stoppedAt = sig.(syscall.Signal), time.Now()
	}
}

// checkTool handles the end of the tool. What its streams still hold is read afterwards.
func (a *attempt) checkTool() {
	if a.ended != nil {
		return
	}
	st, ended := a.process.poll()
	if !ended {
		return
	}
	a.process.witness.dismiss()
	for sig := a.signals.next(); sig != nil; sig = a.signals.next() {
		a.noteStop(sig) // too late to be forwarded
	}
	a.ended = &st
	a.limitDelivery()
	for _, t := range a.taps {
		t.end()
	}
	a.unfollow()
}

// limitDelivery starts the patience timer if a signal has ended the tool: a caller that does
// not read its output then wants the end more than the output. A caller that loses output
// does not see exit code 0.
func (a *attempt) limitDelivery() {
	cause := recently
	a.abandoned = *a.ended
	if *a.ended == (status{}) {
		cause = justNow
		a.abandoned.signal = a.stopped
	}
	if time.Since(a.stoppedAt) < cause { // without a signal stoppedAt is the zero time
		a.exhausted = time.After(patience)
	}
}

// unfollow stops the watcher once the tool has ended and its streams have been read. The
// watcher first reports the remaining data.
func (a *attempt) unfollow() {
	switch {
	case a.ended == nil || a.reading > 0:
	case a.watcher == nil:
		a.finish()
	default:
		done := make(chan struct{})
		a.unfollowed = done
		go func() {
			a.watcher.Stop()
			close(done)
		}()
	}
}

// deliver closes the writers' queues and waits, in a goroutine, until they are written.
func (a *attempt) deliver() {
	a.state = stateDelivering
	for _, w := range a.writers {
		close(w.queue)
	}
	a.written = make(chan struct{})
	go func() {
		a.writing.Wait()
		close(a.written)
	}()
}

// abandon ends delivery to a caller that has sent a terminating signal and does not read.
func (a *attempt) abandon() {
	switch {
	case a.state == stateHolding || a.state == stateRefusing:
		a.exhausted = time.After(patience) // this wait is not the caller's fault
	case isClosed(a.written):
		a.state = stateDelivered // just now
	default:
		a.endStream()
		a.state = stateAbandoned
	}
}

// isClosed reports whether a channel is closed. Nothing may be sent on it.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// nextSweep removes orphan files and returns the time of the next sweep, nil for none. Once
// the session's ID is known the tool writes no more of them.
func (a *attempt) nextSweep(since time.Duration) <-chan time.Time {
	if a.sweeper == nil {
		return nil
	}
	a.sweeper.sweep()
	if a.named() {
		return nil
	}
	return time.After(a.sweeper.next(since))
}
