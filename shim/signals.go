package shim

// #include "inherit.h"
import "C"

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// ignoreAsCaller has us ignore what the caller does, in spite of the Go runtime, and
// with us every program that we become or start.
func ignoreAsCaller() {
	for sig := syscall.Signal(1); sig <= lastSignal; sig++ {
		// Without SIGCHLD we would not learn how the tool ended.
		if sig != syscall.SIGCHLD && C.inherit_ignored(C.int(sig)) != 0 {
			signal.Ignore(sig)
		}
	}
}

// caught are the signals that are passed on to the tool: all that can be, but those
// that our own doings bring about (PIPE, CHLD, URG, XCPU, XFSZ, TTIN, TTOU, PROF),
// and those that a C library has for itself.
func caught() []syscall.Signal {
	var catch []syscall.Signal
	for sig := syscall.Signal(1); sig <= lastSignal; sig++ {
		switch sig {
		case syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGPIPE, syscall.SIGCHLD, syscall.SIGURG, syscall.SIGXCPU,
			syscall.SIGXFSZ, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGPROF, 32, 33, 34:
		default:
			catch = append(catch, sig)
		}
	}
	return catch
}

// An inbox has the signals that are still to be passed on to the tool, each once and in
// the order in which they last came, so that none is ever lost for others that came
// before it, and of a stop and its end the later one holds.
type inbox struct {
	arrived  chan struct{} // has a token while there may be some
	children chan struct{} // has a token when a child may have ended or stopped
	notes    struct{ r, w *os.File }
	mu       sync.Mutex
	waiting  []os.Signal
}

func newInbox() *inbox {
	return &inbox{arrived: make(chan struct{}, 1), children: make(chan struct{}, 1)}
}

// openInbox makes an inbox, nil where there are too few descriptors: to poll its first
// pipe the Go runtime takes two more, and ends the process if it can not have them.
func openInbox() *inbox {
	if !spare(4) {
		return nil
	}
	in := newInbox()
	var err error
	if in.notes.r, in.notes.w, err = os.Pipe(); err != nil {
		return nil
	}
	return in
}

// catch begins to catch signals for the tool, those too that the caller has us
// ignore or block: the tool may have a handler for them. From here on none of them
// ends us, nor does SIGPIPE. SIGCHLD is for us alone.
func (in *inbox) catch() error {
	to := int(in.notes.w.Fd())
	if err := unix.SetNonblock(to, true); err != nil { // no handler may wait
		return fmt.Errorf("catch signals: %w", err)
	}
	list := []C.uchar{C.uchar(syscall.SIGPIPE), C.uchar(syscall.SIGCHLD)}
	for _, sig := range caught() {
		list = append(list, C.uchar(sig))
	}
	list = append(list, 0)
	C.inherit_catch(&list[0], C.int(to))
	go func() {
		defer in.notes.w.Close()
		notes := make([]byte, 512)
		for {
			n, err := in.notes.r.Read(notes)
			for _, note := range notes[:n] {
				if sig := syscall.Signal(note); sig != syscall.SIGCHLD {
					in.add(sig)
				}
			}
			tell(in.children) // in any case: a SIGCHLD may have found the pipe full
			if err != nil {
				return // never, as w stays open
			}
		}
	}()
	return nil
}

func (in *inbox) add(sig os.Signal) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.waiting = append(slices.DeleteFunc(in.waiting, func(s os.Signal) bool { return s == sig }), sig)
	tell(in.arrived)
}

// take gives the signal that has waited longest, or nil.
func (in *inbox) take() os.Signal {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.waiting) == 0 {
		return nil
	}
	sig := in.waiting[0]
	in.waiting = in.waiting[1:]
	if len(in.waiting) > 0 {
		tell(in.arrived)
	}
	return sig
}

// tell leaves a token where there is none yet.
func tell(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
