package supervise

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"reprise/rewrite/reason"
	"reprise/shim/front"
)

// After a terminating signal the shim looks each beat whether the caller takes the output, and
// gives up after so many idle beats: before the SIGKILL that a supervisor sends 5 or 10 s after
// SIGTERM.
const idleBeats = 3

// After a tool's death by a signal the beats are shorter by this: the tool itself would not have
// written more than the caller takes.
const deadBeats = 20

var beat = time.Second // shorter in this package's tests

// mostPieces is the capacity of the channel of pieces: all buffers and the ends of two streams.
const mostPieces = 2 * (buffersPerStream + 1)

// post has the event loop do a step for another goroutine, unless the loop has ended.
func (a *Attempt) post(step func()) {
	select {
	case a.steps <- step:
	case <-a.stop:
	}
}

// later has the event loop do a step after a pause.
func (a *Attempt) later(pause time.Duration, step func()) {
	time.AfterFunc(pause, func() { a.post(step) })
}

// supervise runs the event loop.
func (a *Attempt) supervise() Status {
	defer close(a.stop)
	a.begin()
	for !a.over() {
		a.handleEvent()
	}
	a.Input.writer.close()
	for _, t := range a.taps {
		a.leaveOpen(t)
	}
	return a.result()
}

// handleEvent waits for all events at once, so that a signal reaches the tool whatever the
// streams do.
func (a *Attempt) handleEvent() {
	tool, piece := a.Input.writer.nextPiece()
	select {
	case p := <-a.pieces:
		a.takePiece(p)
	case <-a.Signals.arrived:
		a.handleSignal(a.Signals.next())
	case <-a.Signals.children:
		a.checkTool()
	case data, open := <-a.stdin():
		a.takeStdin(data, open)
	case tool <- piece:
		a.Input.writer.sent()
	case step := <-a.steps:
		step()
	case <-a.timeout:
		a.release()
	case <-a.beats:
		a.checkCaller()
	case <-a.closing:
		a.closeStreams()
	}
}

// begin starts the readers and writers, the relay, and the clocks that run from the start.
func (a *Attempt) begin() {
	lost := func(s *sink, err error) { a.post(func() { a.lose(s, err) }) }
	for _, w := range a.writers {
		a.writing.Go(func() { w.run(a.stop, lost) })
	}
	for _, t := range a.taps {
		a.reading++
		go t.read(a.pieces, a.stop)
		if t.to == a.stderr || !a.Stream.HoldsOutput() {
			whenHungUp(t.to.fd, a.stop, func() { lost(t.to, syscall.EPIPE) })
		}
	}
	if a.Plan.Trial {
		a.timeout = time.After(trialLimit)
	}
	a.started = time.Now()
	a.sweep()
	if r := a.Input.relay; r != nil {
		a.Prompted = len(r.taken) > 0
		go r.read()
	}
}

func (a *Attempt) over() bool {
	return a.state == stateRefused || a.state == stateDelivered || a.state == stateAbandoned
}

func (a *Attempt) result() Status {
	switch {
	case a.state == stateAbandoned && a.late != 0:
		return Status{Signal: a.late}
	case a.state == stateRefused && a.Stopped != 0:
		return Status{Signal: a.Stopped} // the shim has ended the tool
	}
	return *a.ended
}

// takePiece handles a piece that a reader has read, or the reader's end.
func (a *Attempt) takePiece(p piece) {
	p.tap.take(p.buffer)
	p.buffer.release()
	if p.buffer == nil {
		p.tap.over = p.tap.over || p.over
		a.reading--
		a.closing = time.After(closePause)
		a.unfollow()
	}
}

// closePause is how long a tool that has closed a stream must run on before the caller's is closed.
const closePause = 100 * time.Millisecond

// closeStreams closes the caller's streams that the running tool has closed, if nothing is held
// back.
func (a *Attempt) closeStreams() {
	if a.ended != nil {
		return
	}
	for _, t := range a.taps {
		switch {
		case !t.over || t.to.gone || t.screen != nil:
		case a.state == stateHolding:
			a.closing = time.After(closePause)
		case a.state == stateShowing && (t.to == a.stderr && !a.Plan.ReadStderr ||
			t.to == a.stdout && !a.Stream.HoldsOutput() && !a.Stream.Seen().Failed):
			t.to.close()
		}
	}
}

func (a *Attempt) takeFile(path string, data []byte) {
	a.Unbroken(func() { a.Stream.File(path, data) })
	a.updateGate()
	if a.named() && a.state == stateShowing { // nothing of it is urgent any more
		a.watcher.Relax()
	}
}

// lose closes the tool's stream when the caller's takes no more, so that the tool's next write
// fails as it would without the shim. Two cases are read on: a format that is shown only at the
// end, since the tool itself would not have written yet, and a tool that has ended, for the ledger.
func (a *Attempt) lose(s *sink, err error) {
	s.gone = true
	closedByReader := errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
	if !closedByReader && s.failed == nil {
		s.failed = err
		a.Fault("write output", err)
	}
	if a.ended != nil || s == a.stdout && a.Stream.HoldsOutput() {
		return
	}
	for _, t := range a.taps {
		if t.to == s {
			t.close()
		}
	}
}

// handleSignal forwards a signal to the tool. After the tool's end the signal is for the shim
// itself: a terminating one ends delivery, SIGTSTP stops the shim.
func (a *Attempt) handleSignal(sig syscall.Signal) {
	resized := (sig == syscall.SIGWINCH || sig == syscall.SIGCONT) && a.resize()
	switch {
	case sig == 0: // checkTool has taken it
	case a.ended == nil && resized && sig == syscall.SIGWINCH:
		a.process.signal(sig) // also where it has got one: it might have looked at the size before
	case a.ended == nil:
		a.noteStop(sig)
		a.process.forward(sig)
	case sig == syscall.SIGTSTP:
		a.process.stop(syscall.SIGTSTP)
	case terminates(sig):
		a.noteStop(sig)
		a.noteLate(sig)
	}
}

// resize gives the shim's terminals the size of the caller's, and reports whether one of them
// changed.
func (a *Attempt) resize() (changed bool) {
	for _, t := range a.taps {
		changed = t.resize() || changed
	}
	return changed
}

// stdin returns the channel of the caller's data. It is nil while the tool does not read the data
// it was sent, or must not be sent more.
func (a *Attempt) stdin() <-chan []byte {
	switch in := &a.Input; {
	case in.writer == nil || in.writer.over || a.ended != nil || a.state == stateRefusing ||
		len(in.writer.waiting) > 0:
		return nil
	case in.Talk != nil:
		return in.Talk.Conversation.input
	default:
		return in.relay.pieces
	}
}

// takeStdin handles data of the caller, or the end if open is false.
func (a *Attempt) takeStdin(data []byte, open bool) {
	switch {
	case !open:
		a.Input.writer.end()
		a.checkOver()
	case a.Input.Talk != nil:
		a.takeFrame(data)
	default:
		a.takeLate(data)
	}
}

// takeLate takes data that came on stdin after the decision. A resume that was decided on without
// them is given up; the tool is still waiting for them.
func (a *Attempt) takeLate(data []byte) {
	holding := a.state == stateHolding
	if holding {
		a.Input.relay.taken = append(a.Input.relay.taken, data...)
	}
	switch {
	case a.Plan.Resume == "":
		a.Prompted = true
		a.Input.writer.add(data)
	case holding:
		a.Input.relay.stop()
		a.refuse(reason.LateStdin)
	}
}

// noteStop records the first signal that asks for the end of the run. From then on the caller is
// watched, and output is written in small pieces to show that it is being read.
func (a *Attempt) noteStop(sig syscall.Signal) {
	if !terminates(sig) || a.Stopped != 0 {
		return
	}
	a.Stopped, a.beats = sig, time.After(beat)
	a.taken, _ = a.delivery()
	for _, w := range a.writers {
		w.watched.Store(true)
	}
}

// noteLate records the first terminating signal that the tool did not get. It is for the shim
// itself.
func (a *Attempt) noteLate(sig syscall.Signal) {
	if terminates(sig) && a.late == 0 {
		a.late, a.idle = sig, 0
	}
}

// checkTool handles the end of the tool. The rest of the streams is read afterwards.
func (a *Attempt) checkTool() {
	if a.ended != nil {
		return
	}
	st, ended := a.process.poll()
	if !ended {
		return
	}
	for sig := a.Signals.next(); sig != 0; sig = a.Signals.next() {
		a.noteStop(sig)
		if !a.process.witness.saw(sig) { // too late to be forwarded
			a.noteLate(sig)
		}
	}
	a.ended = &st
	if a.beats != nil {
		a.idle, a.beats = 0, time.After(a.nextBeat())
	}
	for _, t := range a.taps {
		t.end()
	}
	a.unfollow()
}

// unfollow stops the watcher once the tool has ended and the streams have been read. The
// watcher first reports the remaining data.
func (a *Attempt) unfollow() {
	switch {
	case a.ended == nil || a.reading > 0:
	case a.watcher == nil:
		a.finish()
	default:
		go func() {
			a.watcher.Stop()
			a.post(a.finish)
		}()
	}
}

// checkCaller looks whether the caller has taken anything since the last beat, and ends delivery
// after idleBeats beats without, although there was output. Of a tool that a signal has killed, a
// beat is not idle either if the caller could take more. A tool that ended with 0 after the signal
// has answered it: the output waits for the caller as the tool would, until another signal comes.
func (a *Attempt) checkCaller() {
	taken, waiting := a.delivery()
	a.idle++
	if taken != a.taken || !waiting || a.died() && a.takes() {
		a.taken, a.idle = taken, 0
	}
	if a.idle >= idleBeats && a.ended != nil && (a.late != 0 || *a.ended != Status{}) {
		if a.state != stateDelivering { // finish has ended it
			a.endStream()
		}
		a.state = stateAbandoned
	}
	a.beats = time.After(a.nextBeat())
}

func (a *Attempt) nextBeat() time.Duration {
	if a.died() {
		return beat / deadBeats
	}
	return beat
}

// sweep removes orphan files, and does so again later. Once the session's ID is known the tool
// writes no more of them.
func (a *Attempt) sweep() {
	if a.Sweep == nil {
		return
	}
	a.Sweep()
	if !a.named() {
		// the first ones soon after each other: any other start of the tool can find the file too
		pause := time.Since(a.started) / 50
		pause = min(max(pause, 20*time.Millisecond), time.Second)
		a.later(pause, a.sweep)
	}
}

// leaveOpen starts a process that goes on copying the stream to the caller, if processes that
// the tool has left running can still write to it. The caller sees the tool's end at once.
func (a *Attempt) leaveOpen(t *tap) {
	if t.over || t.to.gone || a.state == stateRefused {
		return
	}
	if a.Plan.ReexecsSelf && t.to == a.stdout && a.Stream.MaxLine() == 0 {
		return // the tool's own child writes in another format than the caller's
	}
	if HungUp(int(t.ours.Fd())) && (a.state == stateAbandoned || !t.hasData()) {
		return
	}
	if err := front.Feed("", t.ours.Fd(), uintptr(t.to.fd)); err != nil {
		a.Fault("go on copying output", fmt.Errorf("fork: %w", err))
	}
}
