package supervise

import (
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"reprise/shim/front"
)

// forwarded are the signals that the shim forwards to the tool: those that terminals, shells,
// service managers, batch systems and people send to a program. process.forward sends them on.
var forwarded = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGUSR1, syscall.SIGUSR2,
	syscall.SIGALRM, syscall.SIGTERM, syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGWINCH,
}

// HandleAsCaller has signals do until Catch what they would do to the tool. The Go runtime has installed its handlers for those
// that the caller ignores. SIGCHLD is not ignored: it reports the tool's end.
func HandleAsCaller() {
	ignored, _ := front.Signals()
	for sig := syscall.Signal(1); sig <= lastSignal; sig++ {
		if sig != syscall.SIGCHLD && ignored>>(sig-1)&1 != 0 {
			signal.Ignore(sig)
		}
	}
	front.Default()
}

// An Inbox queues the signals for the tool. It holds each signal once, in the order of last
// arrival. So no signal is lost behind others, and of SIGTSTP and SIGCONT the later one wins.
type Inbox struct {
	arrived  chan struct{} // has a token if a signal may be waiting
	children chan struct{} // has a token if a child may have ended or stopped
	Ending   chan struct{} // closed when a signal has come that asks for the call's end
	catching sync.Once
	mu       sync.Mutex
	waiting  []os.Signal
}

// NewInbox returns one that does not catch signals yet.
func NewInbox() *Inbox {
	return &Inbox{arrived: make(chan struct{}, 1), children: make(chan struct{}, 1), Ending: make(chan struct{})}
}

// together is the time within which signals count as delivered in one go. The Go runtime then
// orders them by number, so that SIGCONT comes before a SIGTSTP that was sent before it.
const together = 100 * time.Microsecond

// Catch starts to catch signals for the tool, including those that the caller ignores or
// blocks: the tool may have a handler for them. From then on none of them ends the shim, nor
// does SIGPIPE. A second call does nothing.
func (in *Inbox) Catch() { in.catching.Do(in.start) }

func (in *Inbox) start() {
	received := make(chan os.Signal, 2*len(forwarded)) // the runtime keeps one of each as well
	own := make(chan os.Signal, 1)
	ready := make(chan struct{})
	// The calling goroutine is locked to its thread, where each signal would cost two more
	// thread switches.
	go func() {
		signal.Notify(received, forwarded...)
		signal.Notify(own, syscall.SIGCHLD, syscall.SIGPIPE)
		front.Handle()
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
				notify(in.children)
			}
		}
	}()
	<-ready
}

func (in *Inbox) add(sig os.Signal) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.waiting = append(slices.DeleteFunc(in.waiting, func(s os.Signal) bool { return s == sig }), sig)
	if terminates(sig) && !isClosed(in.Ending) {
		close(in.Ending)
	}
	notify(in.arrived)
}

// next removes and returns the signal that has waited longest, or nil.
func (in *Inbox) next() os.Signal {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.waiting) == 0 {
		return nil
	}
	sig := in.waiting[0]
	in.waiting = in.waiting[1:]
	if len(in.waiting) > 0 {
		notify(in.arrived)
	}
	return sig
}

// notify puts a token into a channel that has none yet.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// terminates reports whether a signal asks for the end of a run.
func terminates(sig os.Signal) bool {
	return sig == syscall.SIGTERM || sig == syscall.SIGINT || sig == syscall.SIGHUP || sig == syscall.SIGQUIT
}

// isClosed reports whether a channel is closed. Nothing may be sent on it.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
