package shim

import (
	"os"
	"sync"
	"syscall"
	"time"
)

// patience is how long output is still delivered after both a signal that asks for the
// end and the tool's end. Without us the tool would be gone by then.
const patience = 300 * time.Millisecond

// How long before the tool's end a signal may have come to count as its cause: it may take
// some time to clean up, but then it seldom exits with 0.
const (
	recently = 10 * time.Second
	justNow  = time.Second
)

// What there can be at most on its way to the event loop: all pieces of two streams with their ends, and each of the
// caller's streams reported by its writer and by whoever waits for it to hang up.
const (
	mostPieces = 2 * (buffersPerStream + 1)
	mostGone   = 4
)

// events are what the event loop waits for.
type events struct {
	pieces   chan piece    // from the readers, with room for all that there can be
	files    chan followed // from the watcher
	gone     chan *sink    // the caller has closed its end
	starting chan struct{} // closed when the tool starts
	stop     chan struct{} // closed when the loop has ended: readers, writers and watcher end too

	unfollowed chan struct{}    // closed when followed files have nothing more to tell
	written    chan struct{}    // closed when the writers have written all
	exhausted  <-chan time.Time // patience has run out
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

// A followed is what is new in a followed file.
type followed struct {
	path string
	data []byte
}

// supervise is the event loop. It never waits for one event alone, so that a signal reaches
// the tool whatever the streams do. The witness is sent away when the tool has ended; it
// must be closed later.
func (a *attempt) supervise(gateTimeout time.Duration) status {
	defer close(a.stop)
	a.begin()
	started, timeout := time.Now(), time.After(gateTimeout)
	sweep := a.nextSweep(time.Since(started))
	for !a.over() {
		select {
		case p := <-a.pieces:
			a.takePiece(p)
		case f := <-a.files:
			a.takeFile(f)
		case s := <-a.gone:
			a.callerGone(s)
		case <-a.signals.arrived:
			if sig := a.signals.take(); sig != nil {
				a.handleSignal(sig)
			}
		case <-a.signals.children:
			a.lookAtTool()
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

// begin starts readers and writers.
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

// result is how the run ended, for the caller.
func (a *attempt) result() status {
	switch {
	case a.state == stateAbandoned:
		return a.abandoned
	case a.state == stateRefused && a.stopped != 0:
		return status{signal: a.stopped} // it is we who have ended the tool
	}
	return *a.ended
}

// takePiece takes what a reader has read, or its end.
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

// callerGone lets the tool learn that its stream is not read any more, as it would have
// without us. What is shown at the end only, the tool would not have written yet. What a
// tool has left that has ended is still read, for the ledger.
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

// handleSignal passes a signal on to the tool. Once that has ended we are in its place: a
// terminating signal ends delivery, and us.
func (a *attempt) handleSignal(sig os.Signal) {
	switch {
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

// noteStop notes the first signal that asks for the end of the run.
func (a *attempt) noteStop(sig os.Signal) {
	if terminates(sig) && a.stopped == 0 {
		a.stopped, a.stoppedAt = sig.(syscall.Signal), time.Now()
	}
}

// lookAtTool sees whether the tool has ended. What its streams hold is still to be read then.
func (a *attempt) lookAtTool() {
	if a.ended != nil {
		return
	}
	st, ended := a.process.look()
	if !ended {
		return
	}
	a.process.witness.dismiss()
	for sig := a.signals.take(); sig != nil; sig = a.signals.take() {
		a.noteStop(sig) // too late for the tool
	}
	a.ended = &st
	a.limitDelivery()
	for _, t := range a.taps {
		t.end()
	}
	a.unfollow()
}

// limitDelivery begins to run out of patience if a signal has ended the tool: the caller
// that sent it wants an end more than the output that it does not take. One that loses
// output does not see a success.
func (a *attempt) limitDelivery() {
	cause := recently
	a.abandoned = *a.ended
	if *a.ended == (status{}) {
		cause = justNow
		a.abandoned.signal = a.stopped
	}
	if time.Since(a.stoppedAt) < cause { // long ago where there was no such signal
		a.exhausted = time.After(patience)
	}
}

// unfollow takes what followed files still have to tell, once the tool has ended and its
// streams have been read.
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

// deliver leaves all that is still to be written to the writers.
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

// abandon gives up on a caller that wanted an end and does not take what waits for it.
func (a *attempt) abandon() {
	switch {
	case a.state == stateHolding || a.state == stateRefusing:
		a.exhausted = time.After(patience) // it is not the caller that we wait for
	case isClosed(a.written):
		a.state = stateDelivered // in this very moment
	default:
		a.endStream()
		a.state = stateAbandoned
	}
}

// isClosed reports whether a channel that nothing is sent on is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// nextSweep looks for leftovers, and returns when to look again: never once the
// session's id has been seen, since the tool writes none any more then.
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
