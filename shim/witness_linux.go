package shim

// #include "inherit.h"
import "C"

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A witness tells of signals that were sent to our whole process group: it is a
// process that stands in the group and gets them too. Nothing that comes with a signal
// says whom else it was sent to. The system goes through a group from its newest
// member to its oldest, so that the witness has a signal before we have it.
type witness struct {
	pid     int
	reports *os.File // a byte each

	seen  [lastSignal + 1]bool
	asked int       // how many answers are still to come
	woken time.Time // when it was last seen to get a SIGCONT
}

// newWitness returns nil where there is none to be had: then every signal counts as
// sent to us alone.
func newWitness() *witness {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer w.Close()
	syscall.ForkLock.Lock()
	pid := int(C.inherit_witness(C.int(w.Fd())))
	syscall.ForkLock.Unlock()
	if pid < 0 {
		r.Close()
		return nil
	}
	return &witness{pid: pid, reports: r}
}

const (
	// witnessPause is how long a witness is listened to before it is looked at whether
	// it is stopped. witnessLimit is when it is given up.
	witnessPause = 10 * time.Millisecond
	witnessLimit = 5 * time.Second
)

// takenBack is how long after a SIGCONT to the group a SIGTSTP may come to be looked at
// that was sent before it. The SIGCONT has taken it back, from the witness as well; it
// would stop the tool for good. On a busy machine some time passes between the two.
const takenBack = time.Second

// ask has the witness report all that it has seen.
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
			return err // of one that is dead, io.EOF
		}
	}
	return nil
}

// listen takes what the witness reports, up to the last answer.
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

// wake lets a witness go on that was stopped with the group, where we alone were woken.
// One that has not had its turn yet is let be, one that is dead an error.
func (w *witness) wake() error {
	const stopped = 5 // CLD_STOPPED
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, w.pid, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT, nil)
	switch {
	case err != nil || info.Signo == 0:
		return err
	case info.Code == stopped:
		return syscall.Kill(w.pid, syscall.SIGCONT)
	}
	return syscall.ECHILD
}

// got reports whether a signal that we have got was sent to the group. It counts for
// one. Where the witness cannot tell it counts as sent to us alone: twice is better
// than never.
func (w *witness) got(sig os.Signal) bool {
	number, ok := sig.(syscall.Signal)
	if w == nil || !ok || w.ask() != nil {
		return false
	}
	got := w.seen[number] || number == syscall.SIGTSTP && time.Since(w.woken) < takenBack
	w.seen[number] = false
	return got
}

// dismiss ends the witness; close has to follow.
func (w *witness) dismiss() {
	if w != nil {
		_ = syscall.Kill(w.pid, syscall.SIGKILL) // it may have been killed
	}
}

func (w *witness) close() {
	if w == nil {
		return
	}
	w.reports.Close()
	for err := error(syscall.EINTR); errors.Is(err, syscall.EINTR); {
		_, err = syscall.Wait4(w.pid, nil, 0, nil)
	}
}
