package shim

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// forwarded are the signals that are passed on to the tool. What the terminal
// sends (INT, QUIT, TSTP, WINCH) reaches the whole process group, the tool with
// it; INT and QUIT are passed on where no terminal can have sent them.
var forwarded = []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT,
	syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT}

// A process is the tool, running under us.
type process struct {
	proc    *os.Process
	signals chan os.Signal
	ended   chan status
	// relaunches tells that the tool runs as a child of the process that we
	// started, which keeps signals to itself.
	relaunches bool
}

// A status is how a process ended: by a signal, or with an exit code.
type status struct {
	exit   int
	signal syscall.Signal
}

// start runs the tool in the caller's process group. If we are killed outright it
// goes too, where the system can see to that.
func start(path string, args, environ []string, files [3]*os.File, relaunches bool) (*process, error) {
	// The system ties a child's life to the thread that made it.
	runtime.LockOSThread()
	p := &process{signals: make(chan os.Signal, 16), ended: make(chan status, 1), relaunches: relaunches}
	signal.Notify(p.signals, caught()...)
	proc, err := os.StartProcess(path, args, &os.ProcAttr{Env: environ, Files: files[:], Sys: dieWithUs()})
	if errors.Is(err, syscall.ENOEXEC) {
		proc, err = os.StartProcess("/bin/sh", append([]string{"sh", path}, args[1:]...),
			&os.ProcAttr{Env: environ, Files: files[:], Sys: dieWithUs()})
	}
	if err != nil {
		signal.Stop(p.signals)
		return nil, err
	}
	p.proc = proc
	go p.wait()
	return p, nil
}

// caught are the signals to be forwarded, and SIGPIPE, which must not kill us. A
// signal that the caller has us ignore stays ignored, for the tool as well.
func caught() []os.Signal {
	catch := []os.Signal{syscall.SIGPIPE}
	for _, sig := range forwarded {
		if !signal.Ignored(sig) {
			catch = append(catch, sig)
		}
	}
	return catch
}

func (p *process) wait() {
	state, err := p.proc.Wait()
	if err != nil {
		p.ended <- status{exit: exitCannotRun}
		return
	}
	ws, _ := state.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		p.ended <- status{signal: ws.Signal()}
		return
	}
	p.ended <- status{exit: ws.ExitStatus()}
}

// stops tells of a signal that asks for the end of the run.
func stops(sig os.Signal) bool {
	return sig == syscall.SIGTERM || sig == syscall.SIGINT || sig == syscall.SIGHUP || sig == syscall.SIGQUIT
}

// release gives signals back their default effect, and tells whether one that asks
// for the end came too late to be forwarded.
func (p *process) release() (stopped bool) {
	signal.Stop(p.signals)
	for {
		select {
		case sig := <-p.signals:
			stopped = stopped || stops(sig)
		default:
			return stopped
		}
	}
}

// forward passes a signal on.
func (p *process) forward(sig os.Signal) {
	if sig == syscall.SIGPIPE || fromTerminal(sig) {
		return
	}
	p.signal(sig)
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
	if p.relaunches {
		for _, child := range childrenInGroup(p.proc.Pid) {
			_ = child.Signal(sig) // it may have ended in this moment
		}
	}
	_ = p.proc.Signal(sig) // likewise
}

// fromTerminal tells of a signal that the terminal sends, where a terminal has
// this process group in its foreground: then the tool has got it as well.
func fromTerminal(sig os.Signal) bool {
	if sig != syscall.SIGINT && sig != syscall.SIGQUIT {
		return false
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	return foregroundGroup(tty) == syscall.Getpgrp()
}

// end makes the tool stop: politely, and after a while for good.
func (p *process) end() {
	const patience = 2 * time.Second
	p.signal(syscall.SIGTERM)
	time.AfterFunc(patience, func() { p.signal(syscall.SIGKILL) })
}
