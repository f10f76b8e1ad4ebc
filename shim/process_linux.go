package shim

// #include "inherit.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lastSignal is the highest number of a signal.
const lastSignal = syscall.Signal(64)

// A witness tells of signals that were sent to our whole process group: it is a
// process that stands in the group and gets them too. Nothing that comes with a signal
// says whom else it was sent to. The system goes through a group from its newest
// member to its oldest, so that the witness has a signal before we have it.
type witness struct {
	proc *os.Process
	file *os.File // its reports, a byte each
	seen [lastSignal + 1]bool
}

// newWitness gives nil where there is none to be had: then every signal counts as
// sent to us alone.
func newWitness() *witness {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer w.Close()
	pid := int(C.inherit_witness(C.int(w.Fd())))
	proc, err := os.FindProcess(pid)
	if pid < 0 || err != nil {
		r.Close()
		return nil
	}
	return &witness{proc: proc, file: r}
}

// witnessPause is how long a witness that runs takes to answer at most.
const witnessPause = 50 * time.Millisecond

// got tells whether a signal that we have got was sent to the group. It counts for
// one.
func (w *witness) got(sig os.Signal) bool {
	number, ok := sig.(syscall.Signal)
	if w == nil || !ok || w.proc.Signal(lastSignal) != nil {
		return false // it was killed
	}
	if w.file.SetReadDeadline(time.Now().Add(witnessPause)) != nil {
		return false
	}
	report := make([]byte, 1)
	for {
		_, err := w.file.Read(report)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			// It was stopped with the group, and we alone were woken.
			if w.proc.Signal(syscall.SIGCONT) != nil || w.file.SetReadDeadline(time.Time{}) != nil {
				return false
			}
		case err != nil:
			return false
		case report[0] != 0:
			w.seen[report[0]] = true
		default:
			// A SIGCONT takes back a stop that has not taken effect.
			got := w.seen[number] || number == syscall.SIGTSTP && w.seen[syscall.SIGCONT]
			w.seen[number] = false
			return got
		}
	}
}

// isStopped tells of a group that was stopped and not woken since.
func (w *witness) isStopped() bool {
	var info unix.Siginfo
	return w != nil && unix.Waitid(unix.P_PID, w.proc.Pid, &info, unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT, nil) == nil &&
		info.Signo != 0
}

func (w *witness) close() {
	if w == nil {
		return
	}
	_ = w.proc.Kill() // it may have been killed
	_, _ = w.proc.Wait()
	w.file.Close()
}

// childrenInGroup are the children of a process that are in our process group, as
// far as the system tells.
func childrenInGroup(pid int) []*os.Process {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	var children []*os.Process
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				continue
			}
			if group, err := syscall.Getpgid(child); err == nil && group == syscall.Getpgrp() {
				if p, err := os.FindProcess(child); err == nil {
					children = append(children, p)
				}
			}
		}
	}
	return children
}
