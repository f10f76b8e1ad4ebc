package supervise

import (
	"errors"
	"os"
	"strconv"
	"syscall"
	"time"

	"reprise/shim/front"
)

// A witness is a process that shows which signals were sent to the whole process group: it is
// a member of the group and receives them too. A signal itself does not name the processes
// it was sent. Linux signals the newest member of a group first, so the witness has a signal
// before the shim has it.
type witness struct {
	pid     int
	reports *os.File // one byte for each signal

	seen  [lastSignal + 1]bool
	asked int       // answers that have not come yet
	woken time.Time // when the witness last received a SIGCONT
}

// newWitness starts a witness. It returns nil if that fails: then every signal counts as sent
// to the shim alone.
func newWitness() *witness {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer w.Close()
	args := []string{front.WitnessName, strconv.Itoa(os.Getpid())}
	attr := &syscall.ProcAttr{Files: []uintptr{w.Fd()}}
	var pid int
	front.Blocked(true, func() { pid, err = syscall.ForkExec(ownProgram(), args, attr) })
	if err != nil {
		r.Close()
		return nil
	}
	return &witness{pid: pid, reports: r}
}

const (
	// witnessPause is how long an answer can take before the witness is checked for being
	// stopped, witnessLimit how long it can take at all.
	witnessPause = 10 * time.Millisecond
	witnessLimit = 5 * time.Second
)

// cancelled is how long after a SIGCONT to the group a SIGTSTP from before it can still be
// handled, on a busy machine. The SIGCONT has cancelled that SIGTSTP, for the witness as well;
// forwarded, it would stop the tool for good.
const cancelled = time.Second

// ask reads all signals that the witness has received so far.
func (w *witness) ask() error {
	if err := syscall.Kill(w.pid, lastSignal); err != nil {
		return err
	}
	w.asked++
	for limit := time.Now().Add(witnessLimit); w.asked > 0; {
		err := w.listen()
		if errors.Is(err, os.ErrDeadlineExceeded) && time.Now().Before(limit) {
			err = w.wake()
		}
		if err != nil {
			return err // io.EOF if the witness is dead
		}
	}
	return nil
}

// listen reads the witness's reports up to the last answer.
func (w *witness) listen() error {
	if err := w.reports.SetReadDeadline(time.Now().Add(witnessPause)); err != nil {
		return err
	}
	report := make([]byte, 1)
	for w.asked > 0 {
		if _, err := w.reports.Read(report); err != nil {
			return err
		}
		if report[0] == 0 {
			w.asked--
			continue
		}
		w.seen[report[0]] = true
		if syscall.Signal(report[0]) == syscall.SIGCONT {
			w.woken = time.Now()
		}
	}
	return nil
}

// wake continues a witness that was stopped with the group, if the shim alone was continued.
// It does nothing if the witness is running, and fails if it is dead.
func (w *witness) wake() error {
	const stopped = 5 // CLD_STOPPED
	info, err := halt(w.pid)
	switch {
	case err != nil || info.Signo == 0:
		return err
	case info.Code == stopped:
		return syscall.Kill(w.pid, syscall.SIGCONT)
	}
	return syscall.ECHILD
}

// saw reports whether a signal that the shim has received was sent to the whole group, and
// forgets that signal. If the witness does not answer it returns false: the tool rather gets
// a signal twice than never.
func (w *witness) saw(sig syscall.Signal) bool {
	if w == nil || w.ask() != nil {
		return false
	}
	saw := w.seen[sig] || sig == syscall.SIGTSTP && time.Since(w.woken) < cancelled
	w.seen[sig] = false
	return saw
}

// Close ends the witness.
func (w *witness) Close() {
	if w == nil {
		return
	}
	w.reports.Close()
	if syscall.Kill(w.pid, syscall.SIGKILL) != nil {
		return // a sandbox lets the shim send no signals; the witness sees that the pipe is closed
	}
	for err := error(syscall.EINTR); errors.Is(err, syscall.EINTR); {
		_, err = syscall.Wait4(w.pid, nil, 0, nil)
	}
}
