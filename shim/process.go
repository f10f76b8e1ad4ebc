package shim

// #include "exec.h"
// #include "inherit.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// A process is the tool, running under us.
type process struct {
	pid     int
	mu      sync.Mutex // guards over, and that no signal goes to who has the pid next
	over    bool       // it has ended, and been waited for
	witness *witness
	// relaunches reports that the tool runs as a child of the process that we
	// started, which keeps signals to itself.
	relaunches bool
}

// A status is how a process ended: by a signal, or with an exit code.
type status struct {
	exit   int
	signal syscall.Signal
}

// start runs the tool in the caller's process group, with the signals that the
// caller ignores and blocks and with its limits. If we are killed outright it goes
// too, where the system can see to that.
func start(path string, args, environ []string, files [3]*os.File, relaunches bool) (*process, error) {
	// The system ties a child's life to the thread that made it: so far we are on the
	// first, which lives as long as the process. Go ends none of the others either,
	// which a second run may be made by.
	defer runtime.UnlockOSThread()
	pid, err := spawn(path, args, environ, files)
	if errors.Is(err, syscall.ENOEXEC) {
		pid, err = spawn("/bin/sh", append([]string{"sh", path}, args[1:]...), environ, files)
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	// The witness is made after the tool: a signal to the group in between reaches the
	// tool twice, where it would otherwise get lost.
	return &process{pid: pid, witness: newWitness(), relaunches: relaunches}, nil
}

// spawn starts a program. Go sees to the caller's limits, but does not have a child ignore or
// block the signals that Go handles. Where the caller ignores or blocks any, our own program is
// started, and becomes the other before Go starts (start_tool in exec.c).
func spawn(path string, args, environ []string, files [3]*os.File) (int, error) {
	attr := &syscall.ProcAttr{Env: environ, Sys: endsWithUs()}
	for _, f := range files {
		fd := f.Fd()
		if closedByCaller(f) {
			fd = ^uintptr(0)
		}
		attr.Files = append(attr.Files, fd)
	}
	var ignored, blocked C.ulonglong
	if C.inherit_signals(&ignored, &blocked); ignored|blocked != 0 {
		args = append([]string{C.REPRISE_START, strconv.FormatUint(uint64(ignored), 16), strconv.FormatUint(uint64(blocked), 16), path}, args...)
		path = ownProgram()
	}
	pid, err := syscall.ForkExec(path, args, attr)
	runtime.KeepAlive(files)
	return pid, err
}

// closedByCaller reports whether a file is one of our first three descriptors, and was
// closed when we were started: Go has opened it since.
func closedByCaller(f *os.File) bool { return C.inherit_closed(C.int(f.Fd())) != 0 }

// look sees what has become of the tool since the last look: we stop as often as it has
// stopped, and ended reports that there is a status. It never waits: a thread that waits
// takes another to do our work.
func (p *process) look() (st status, ended bool) {
	for {
		switch ws, err := p.change(); {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return status{}, false
		case err != nil:
			return status{exit: exitCannotRun}, true
		case ws.Stopped():
			p.stop(ws.StopSignal())
		case ws.Signaled():
			return status{signal: ws.Signal()}, true
		default:
			return status{exit: ws.ExitStatus()}, true
		}
	}
}

// change takes what has become of the tool; EAGAIN says that it runs as before.
func (p *process) change() (ws syscall.WaitStatus, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pid, err := syscall.Wait4(p.pid, &ws, syscall.WUNTRACED|syscall.WNOHANG, nil)
	if err == nil && pid == 0 {
		err = syscall.EAGAIN
	}
	p.over = !errors.Is(err, syscall.EINTR) && !errors.Is(err, syscall.EAGAIN) && !ws.Stopped()
	return ws, err
}

// stop stops us as the tool was stopped, so that whoever waits for us sees it. A stop
// that we do not catch, and that was sent to the group, has stopped us before; we run
// since somebody wants us to go on.
func (p *process) stop(sig syscall.Signal) {
	switch sig {
	case syscall.SIGSTOP:
		// Sent to the group it has stopped us already. Sent to the tool alone it may be
		// followed by a SIGCONT to the tool alone, of which we would not wake.
		return
	case syscall.SIGTTIN, syscall.SIGTTOU:
		if p.witness.got(sig) {
			return
		}
	}
	C.inherit_stop(C.pid_t(p.pid), C.int(sig))
}

// forward passes a signal on, unless it was sent to the whole group, as a terminal
// does and many callers do: then the tool has got it as well.
func (p *process) forward(sig os.Signal) {
	if !p.witness.got(sig) {
		p.signal(sig)
	}
}

// signal sends a signal to the tool, and to what it has relaunched itself as.
//
// gemini 0.61.0 ignores SIGTERM, SIGINT and SIGHUP in the process that it starts
// as, and does not pass them on: a caller's SIGTERM has no effect at all, its
// SIGKILL later leaves the relaunched child running without anybody to read it,
// and only a signal to the whole group ends the run. Whoever sends such a signal
// wants the run to end. So the signal gets to the child too, and the run ends as
// it does when the group is signalled: exit status 0, no result line.
func (p *process) signal(sig os.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	number, ok := sig.(syscall.Signal)
	if p.over || !ok {
		return
	}
	if p.relaunches {
		for _, child := range childrenInGroup(p.pid) {
			_ = child.Signal(sig) // it may have ended in this moment
		}
	}
	_ = syscall.Kill(p.pid, number) // likewise
}

// end makes the tool stop, with all that it has started: politely, and after a while for good. The run is given up,
// and nothing of it may go on working beside the one that takes its place.
func (p *process) end() {
	const patience = 2 * time.Second
	below := descendants(p.pid)
	both := func(sig syscall.Signal) {
		p.signal(sig)
		for _, child := range below {
			_ = child.Signal(sig) // it may have ended
		}
	}
	both(syscall.SIGTERM)
	time.AfterFunc(patience, func() { both(syscall.SIGKILL) })
}

// leave ends the shim as the tool ended, and gives the exit code where that was
// one.
func (s status) leave() int {
	if s.signal == 0 {
		return s.exit
	}
	C.inherit_die(C.int(s.signal))
	return 128 + int(s.signal)
}
