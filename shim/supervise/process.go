package supervise

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"reprise/shim/front"
)

// A process is the running tool.
type process struct {
	pid int
	// guards over; held while a signal is sent, so that the pid cannot be reused meanwhile
	mu      sync.Mutex
	over    bool // the process has ended and been waited for
	witness *witness
	// relaunches reports whether the tool runs as a child of the process that the shim
	// starts, which does not forward signals.
	relaunches bool
}

// A Status says how a process ended: by a signal, or with an exit code.
type Status struct {
	Exit   int
	Signal syscall.Signal
}

// start starts the tool in the caller's process group, with the limits and the ignored and
// blocked signals that the caller has set. On Linux the tool is killed if the shim is killed.
func start(path string, args, environ []string,
	files [3]*os.File, relaunches bool) (*process, error) {
	// The parent-death signal is sent when the thread that made the child ends. Up to here
	// that is the process's first thread. A second run can be started from another one,
	// which Go does not end either.
	defer runtime.UnlockOSThread()
	pid, err := spawn(path, args, environ, files)
	if errors.Is(err, syscall.ENOEXEC) && front.IsScript(path) {
		pid, err = spawn("/bin/sh", append([]string{"sh", path}, args[1:]...), environ, files)
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	// The witness starts after the tool. A signal to the group in between reaches the tool
	// twice; in the other order it would be lost.
	return &process{pid: pid, witness: newWitness(), relaunches: relaunches}, nil
}

// spawn starts a program. Go restores the caller's limits in a child, but not the ignored and
// pending signals. If there are any, spawn starts the shim's own program
// instead, which sets them before Go starts and becomes the other program (start_tool in exec.c).
func spawn(path string, args, environ []string, files [3]*os.File) (pid int, err error) {
	attr := &syscall.ProcAttr{Env: environ, Sys: EndsWithUs()}
	for _, f := range files {
		fd := f.Fd()
		if front.Closed(fd) {
			fd = ^uintptr(0)
		}
		attr.Files = append(attr.Files, fd)
	}
	ignored, blocked, pending := front.Signals()
	start := ignored|pending != 0
	if start {
		hex := func(signals uint64) string { return strconv.FormatUint(signals, 16) }
		args = append([]string{front.StartName, hex(ignored), hex(blocked), hex(pending), path},
			args...)
		path = ownProgram()
	}
	front.Blocked(start, func() { pid, err = syscall.ForkExec(path, args, attr) })
	runtime.KeepAlive(files)
	return pid, err
}

// poll handles the tool's state changes without blocking. Each time the tool has stopped, the
// shim stops too. ended reports whether the tool has ended, with status st.
func (p *process) poll() (st Status, ended bool) {
	for {
		switch ws, err := p.wait(); {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return Status{}, false
		case err != nil:
			return Status{Exit: CannotRun}, true
		case ws.Stopped():
			p.stop(ws.StopSignal())
		case ws.Signaled():
			return Status{Signal: ws.Signal()}, true
		default:
			return Status{Exit: ws.ExitStatus()}, true
		}
	}
}

// wait returns the tool's next state change, or EAGAIN if there is none.
func (p *process) wait() (ws syscall.WaitStatus, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pid, err := syscall.Wait4(p.pid, &ws, syscall.WUNTRACED|syscall.WNOHANG, nil)
	if err == nil && pid == 0 {
		err = syscall.EAGAIN
	}
	p.over = !errors.Is(err, syscall.EINTR) && !errors.Is(err, syscall.EAGAIN) && !ws.Stopped()
	return ws, err
}

// stop stops the shim as the tool was stopped, so that the process that waits for the shim
// sees it. If the stop signal was sent to the whole group and the shim does not catch it, the
// shim was stopped before and has been continued since.
func (p *process) stop(sig syscall.Signal) {
	switch sig {
	case syscall.SIGSTOP:
		// Sent to the group, it has stopped the shim already. Sent to the tool alone, a
		// SIGCONT to the tool alone can follow, which would not continue the shim.
		return
	case syscall.SIGTTIN, syscall.SIGTTOU:
		if p.witness.saw(sig) {
			return
		}
	}
	front.Stop(p.pid, sig)
}

// forward forwards a signal to the tool, unless the tool has received it as well: a terminal
// and many callers send signals to the whole process group.
func (p *process) forward(sig syscall.Signal) {
	if !p.witness.saw(sig) {
		p.signal(sig)
	}
}

// signal sends a signal to the tool, and to the children that it has relaunched itself as.
//
// The first process of gemini 0.61.0 ignores SIGTERM, SIGINT and SIGHUP and does not forward
// them to the child that does the work. Without help a caller's SIGTERM has no effect, and its
// SIGKILL leaves the child running. So the child gets the signal too, and the run ends as if
// the whole group had been signalled: exit code 0, no result line.
func (p *process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	if p.relaunches {
		for _, child := range childrenOf(p.pid) {
			if group, err := syscall.Getpgid(child.Pid); err == nil && group == syscall.Getpgrp() {
				_ = child.Signal(sig) // fails if the child has just ended
			}
		}
	}
	_ = syscall.Kill(p.pid, sig) // fails if the tool has just ended
}

// end ends the tool and its descendants, by SIGTERM and two seconds later by SIGKILL. A refused
// run must not go on working beside the fresh one.
func (p *process) end() {
	const patience, stopPatience = 2 * time.Second, time.Second / 4
	p.signal(syscall.SIGSTOP) // once stopped, it starts no more children
	for until := time.Now().Add(stopPatience); !halted(p.pid) && time.Now().Before(until); {
		time.Sleep(time.Millisecond / 5)
	}
	below := descendants(p.pid)
	both := func(sig syscall.Signal) {
		p.signal(sig)
		for _, child := range below {
			_ = child.Signal(sig) // fails if the child has just ended
		}
	}
	both(syscall.SIGTERM)
	p.signal(syscall.SIGCONT)
	time.AfterFunc(patience, func() { both(syscall.SIGKILL) })
}

// descendants returns all descendants of a process, in any process group.
func descendants(pid int) (all []*os.Process) {
	for _, child := range childrenOf(pid) {
		all = append(append(all, child), descendants(child.Pid)...)
	}
	return all
}

// Leave ends the shim by the tool's signal, or returns the tool's exit code.
func (s Status) Leave() int {
	if s.Signal == 0 {
		return s.Exit
	}
	front.Die(s.Signal)
	return 128 + int(s.Signal)
}

// CannotRun is the exit code if a program is there and does not start, as in shells.
const CannotRun = 126
