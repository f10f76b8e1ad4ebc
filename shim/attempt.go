package shim

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"reprise/rewrite"
	"reprise/watch"
)

// An attempt is one run of the tool under supervision: its output is read,
// rendered and shown, and held back as long as it is not known whether a resume
// has taken.
type attempt struct {
	plan    rewrite.Plan
	stream  rewrite.Stream
	tool    rewrite.Tool
	pinned  func(id string, pid int) // told once, as soon as the session's id is known
	fault   func(what string, err error)
	signals *inbox // caught for the tool

	sweeper *sweeper       // of a resumed run, nil where there is nothing to sweep
	watcher *watch.Watcher // nil where nothing is followed
	broken  bool           // our own code broke down over its output
	stopped syscall.Signal // by which somebody asked for the run to stop, 0 for none: it is not run again
	mu      sync.Mutex     // guards all below, and stream
	process *process
	gate    gateState
	refusal rewrite.Reason
	stdout  *sink
	stderr  *sink
	tail    ring // the end of stderr
	told    bool // pinned was
	seen    bool // the tool has named its session
}

// A gateState says what becomes of a resumed run's output.
type gateState int

const (
	gateOpen    gateState = iota // it is shown as it comes
	gateClosed                   // it waits
	gateRefused                  // it is thrown away
)

// run starts the tool and sees it through. The attempt owns stdin, and closes it.
func (a *attempt) run(path string, args, environ []string, files [3]*os.File, gateTimeout time.Duration) (status, error) {
	out, outWrite, err := os.Pipe()
	if err != nil {
		return status{}, fmt.Errorf("make pipe: %w", err)
	}
	defer out.Close()
	if a.plan.Hasty {
		widen(outWrite)
	}
	child := [3]*os.File{files[0], outWrite, files[2]}
	var errOut *os.File
	if a.plan.Resume != "" {
		a.gate = gateClosed
	}
	if a.gate == gateClosed || a.plan.ReadStderr {
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
	a.stdout = newSink(files[1], a.gate == gateClosed)
	a.stderr = newSink(files[2], a.gate == gateClosed)
	a.follow()
	a.mu.Lock()
	a.process, err = start(path, args, environ, child, a.plan.Relaunches)
	if err == nil && a.plan.Resume != "" && !a.plan.Copy {
		a.tell(a.plan.Resume)
	}
	a.mu.Unlock()
	outWrite.Close()
	if err != nil {
		a.unfollow()
		return status{}, err
	}
	if errOut != nil {
		child[2].Close()
	}
	return a.supervise(out, errOut, gateTimeout), nil
}

// supervise reads the tool's streams until it has ended. The witness is sent away then,
// and is to be closed once there is nothing else to do meanwhile.
func (a *attempt) supervise(out, errOut *os.File, gateTimeout time.Duration) status {
	taps := []*tap{a.stdoutTap(out)}
	if errOut != nil {
		taps = append(taps, a.stderrTap(errOut))
	}
	var readers sync.WaitGroup
	for _, t := range taps {
		readers.Go(func() { a.read(t) })
	}
	started, timeout, sweep := time.Now(), time.After(gateTimeout), a.nextSweep(0)
	for {
		select {
		case <-sweep:
			sweep = a.nextSweep(time.Since(started))
		case <-a.signals.arrived:
			if sig := a.signals.take(); sig != nil {
				a.heed(sig)
				a.process.forward(sig)
			}
		case <-timeout:
			a.release()
		case <-a.signals.children:
			st, ended := a.process.look()
			if !ended {
				continue
			}
			a.process.witness.dismiss()
			for _, t := range taps {
				_ = t.file.SetReadDeadline(time.Now()) // pipes of our own have deadlines
			}
			readers.Wait()
			for _, t := range taps {
				a.drain(t)
			}
			for sig := a.signals.take(); sig != nil; sig = a.signals.take() {
				a.heed(sig) // too late for the tool
			}
			a.unfollow()
			a.finish(st)
			for _, t := range taps {
				a.leaveOpen(t)
			}
			if a.gate == gateRefused && a.stopped != 0 {
				return status{signal: a.stopped} // it is we who have ended the tool
			}
			return st
		}
	}
}

// heed notes a signal that asks for the end of the run.
func (a *attempt) heed(sig os.Signal) {
	switch sig {
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT:
		if a.stopped == 0 {
			a.stopped = sig.(syscall.Signal)
		}
	}
}

// nextSweep looks for leftovers, and tells when to look again: never once the
// session's id has been seen, since the tool writes none any more then.
func (a *attempt) nextSweep(since time.Duration) <-chan time.Time {
	a.mu.Lock()
	seen := a.seen
	a.mu.Unlock()
	if a.sweeper == nil {
		return nil
	}
	a.sweeper.sweep()
	if seen {
		return nil
	}
	return time.After(a.sweeper.next(since))
}

// shown is the status that the caller is to see: in another format the tool may
// exit with another.
func (a *attempt) shown(st status) status {
	if exit := a.stream.Seen().Exit; exit != 0 && st.signal == 0 {
		st.exit = exit
	}
	return st
}

// sameFile tells whether two descriptors lead to one file, as after 2>&1.
func sameFile(a, b *os.File) bool {
	infoA, errA := a.Stat()
	infoB, errB := b.Stat()
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
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

// unfollow takes what the files still have to tell.
func (a *attempt) unfollow() {
	if a.watcher != nil {
		a.watcher.Stop()
	}
}

// readFile takes what is new in a followed file. Before the tool runs nothing in
// it can be the tool's.
func (a *attempt) readFile(path string, data []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.process != nil {
		a.stream.File(path, data)
		a.look()
	}
}

// careful has a line that our own code breaks down over shown as it is. The run is
// then no ground to go on from.
func (a *attempt) careful(read func([]byte) []byte) func([]byte) []byte {
	return func(line []byte) (shown []byte) {
		defer func() {
			if broken := recover(); broken != nil {
				a.fault("read the tool's output", fmt.Errorf("%v", broken))
				a.broken = true
				shown = line
			}
		}()
		return read(line)
	}
}

// show takes what the stream has rendered, and looks at what it has learned.
func (a *attempt) show(rendered []byte) {
	if a.gate != gateRefused {
		a.stderr.write([]byte(a.stream.TakeStderr()))
		a.stdout.write(rendered)
	}
	a.look()
}

// look acts on what the stream has learned by now.
func (a *attempt) look() {
	seen := a.stream.Seen()
	if seen.ID != "" && !seen.WrongID {
		a.seen = true
		a.tell(seen.ID)
	}
	if a.gate != gateClosed {
		return
	}
	switch {
	case seen.WrongID:
		a.refuse(rewrite.RefusedOtherID)
	case seen.Refusal != "" && !seen.ToolRan:
		a.refuse(seen.Refusal)
	case seen.Content, seen.Final && !seen.Failed:
		a.open()
	}
}

// tell has the session's id and the tool's process noted, once. Of a resume both are
// known from the start, so that a tool that outlives us has its session to itself also
// before it has said a word. A copy has an id of its own.
func (a *attempt) tell(id string) {
	if !a.told {
		a.told = true
		a.pinned(id, a.process.pid)
	}
}

// refuse gives this run up. Nothing of it is shown.
func (a *attempt) refuse(why rewrite.Reason) {
	a.gate, a.refusal = gateRefused, why
	a.stdout.drop()
	a.stderr.drop()
	a.process.end()
}

// open lets out what was held.
func (a *attempt) open() {
	a.gate = gateOpen
	a.stdout.show()
	a.stderr.show()
}

// release opens the gate when it has been closed for too long.
func (a *attempt) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.gate == gateClosed {
		a.open()
	}
}

// judge looks for a refusal in what a run has left that was never shown. Of one that
// somebody has killed, or has wanted to end, nothing is shown either, where it had said
// that it refuses; but it is not run again.
func (a *attempt) judge(st status) {
	exit := st.exit
	if st.signal != 0 {
		exit = 1
	}
	stopped := cmp.Or(a.stopped, st.signal)
	why := a.tool.Refused(string(a.tail.data), exit)
	if why != "" && (stopped == 0 || why != rewrite.RefusedSilent) {
		a.gate, a.refusal, a.stopped = gateRefused, why, stopped
	}
}

// finish judges a run that has ended, and shows what was kept for the end.
func (a *attempt) finish(st status) {
	a.mu.Lock()
	defer a.mu.Unlock()
	seen := a.stream.Seen()
	if a.gate == gateClosed && !seen.Final {
		a.judge(st)
	}
	if a.gate == gateRefused {
		a.stdout.drop()
		a.stderr.drop()
		return
	}
	last := a.stream.End()
	a.stderr.write([]byte(a.stream.TakeStderr()))
	a.stdout.write(last)
	if st == (status{}) && a.stopped == 0 {
		a.stdout.write(seen.Unshown)
	}
	a.stdout.show()
	a.stderr.show()
}
