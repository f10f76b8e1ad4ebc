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
}

// A status is how a process ended: by a signal, or with an exit code.
type status struct {
	exit   int
	signal syscall.Signal
}

// start runs the tool in the caller's process group. If we are killed outright it
// goes too, where the system can see to that.
func start(path string, args, environ []string, files [3]*os.File) (*process, error) {
	// The system ties a child's life to the thread that made it.
	runtime.LockOSThread()
	p := &process{signals: make(chan os.Signal, 16), ended: make(chan status, 1)}
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
	_ = p.proc.Signal(sig) // it may have ended in this moment
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
	_ = p.proc.Signal(syscall.SIGTERM)
	time.AfterFunc(patience, func() { _ = p.proc.Kill() })
}
