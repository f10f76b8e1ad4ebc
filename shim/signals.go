package shim

// #include "inherit.h"
import "C"

import (
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

// forwarded are the signals that the tool gets if they are sent to the shim: those that terminals,
// shells, service managers, batch systems and people send to a program.
var forwarded = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGUSR1, syscall.SIGUSR2,
	syscall.SIGALRM, syscall.SIGTERM, syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGWINCH,
}

// ignoredByCaller reports whether the caller has us ignore a signal.
func ignoredByCaller(sig syscall.Signal) bool { return C.inherit_ignored(C.int(sig)) != 0 }

// ignoreAsCaller ignores what the caller does, which the Go runtime does not keep up. SIGCHLD
// is not ignored: it tells how the tool ended.
func ignoreAsCaller() {
	for sig := syscall.Signal(1); sig <= lastSignal; sig++ {
		if sig != syscall.SIGCHLD && ignoredByCaller(sig) {
			signal.Ignore(sig)
		}
	}
}

// An inbox has the signals that are still to be passed on to the tool, each once and in
// the order in which they last came, so that none is ever lost for others that came
// before it, and of a stop and its end the later one holds.
type inbox struct {
	arrived  chan struct{} // has a token while there may be some
	children chan struct{} // has a token when a child may have ended or stopped
	mu       sync.Mutex
	waiting  []os.Signal
}

func newInbox() *inbox {
	return &inbox{arrived: make(chan struct{}, 1), children: make(chan struct{}, 1)}
}

// together is how close to each other signals arrive that the Go runtime hands on at once: by
// number, so that SIGCONT comes before a SIGTSTP that was sent before it.
const together = 100 * time.Microsecond

// catch begins to catch signals for the tool, including those that the caller has us
// ignore or block: the tool may have a handler for them. From here on none of them
// ends us, nor does SIGPIPE.
func (in *inbox) catch() {
	received := make(chan os.Signal, 2*len(forwarded)) // the runtime keeps one of each as well
	own := make(chan os.Signal, 1)
	ready := make(chan struct{})
	// Not from here: this goroutine is bound to its thread, and would make each signal cost two
	// switches of threads more.
	go func() {
		signal.Notify(received, forwarded...)
		signal.Notify(own, syscall.SIGCHLD, syscall.SIGPIPE)
		close(ready)
		var continued time.Time
		for {
			select {
			case sig := <-received:
				switch {
				case sig == syscall.SIGCONT:
					continued = time.Now()
				case sig == syscall.SIGTSTP && time.Since(continued) < together:
					continue // SIGCONT takes it back
				}
				in.add(sig)
			case <-own:
				tell(in.children)
			}
		}
	}()
	<-ready
}

func (in *inbox) add(sig os.Signal) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.waiting = append(slices.DeleteFunc(in.waiting, func(s os.Signal) bool { return s == sig }), sig)
	tell(in.arrived)
}

// take returns the signal that has waited longest, or nil.
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
