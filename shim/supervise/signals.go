package supervise

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"reprise/shim/front"
)

// own are the signals that the shim's own work can cause, and SIGPROF, which Go does not pass on.
var own = []syscall.Signal{
	syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGCHLD, syscall.SIGPIPE, syscall.SIGXFSZ,
	syscall.SIGURG, syscall.SIGPROF,
	syscall.SIGTTIN, syscall.SIGTTOU,
}

// forwarded are the signals that the shim forwards to the tool: all others with a name.
// process.forward sends them on. SIGPROF and real-time signals end the shim, and with it the tool:
// to catch one costs a switch of threads.
var forwarded = func() (all []os.Signal) {
	for sig := syscall.Signal(1); sig <= 31; sig++ {
		if !slices.Contains(own, sig) {
			all = append(all, sig)
		}
	}
	return all
}()

// HandleAsCaller has signals act until Catch as they would on the tool. Children of the shim ignore
// the caller's ignored signals too. SIGCHLD is not ignored: it reports the tool's end.
func HandleAsCaller() {
	front.HandleAsTool()
	ignored, _, _ := front.Signals()
	for sig := syscall.Signal(1); sig <= lastSignal; sig++ {
		if sig != syscall.SIGCHLD && ignored>>(sig-1)&1 != 0 {
			signal.Ignore(sig)
		}
	}
}

// An Inbox queues the signals for the tool. It holds each signal once, in the order of last
// arrival. So no signal is lost behind others, and of SIGTSTP and SIGCONT the later one wins.
type Inbox struct {
	arrived  chan struct{}   // has a token if a signal can be waiting
	children chan struct{}   // has a token if a child might have ended or stopped
	Ending   context.Context // over when a signal has come that asks for the call's end
	end      context.CancelFunc
	catching sync.Once
	mu       sync.Mutex
	waiting  []syscall.Signal
}

// NewInbox returns an inbox that does not catch signals yet.
func NewInbox() *Inbox {
	ending, end := context.WithCancel(context.Background())
	return &Inbox{arrived: make(chan struct{}, 1), children: make(chan struct{}, 1),
		Ending: ending, end: end}
}

// together is the time within which signals count as delivered in one go. The Go runtime then
// orders them by number, so that SIGCONT comes before a SIGTSTP that was sent before it.
const together = 100 * time.Microsecond

// Catch starts to catch signals for the tool, also if the caller ignores or blocks them: the tool
// might have a handler for them. From then on none of them ends the shim, nor does SIGPIPE. A
// second call does nothing.
func (in *Inbox) Catch() { in.catching.Do(in.start) }

func (in *Inbox) start() {
	received := make(chan os.Signal, 2*len(forwarded)) // the runtime keeps one of each as well
	ours := make(chan os.Signal, 1)
	ready := make(chan struct{})
	// The calling goroutine is locked to its thread, where each signal would cost two more
	// thread switches.
	go func() {
		signal.Notify(received, forwarded...)
		signal.Notify(ours, syscall.SIGCHLD, syscall.SIGPIPE)
		front.HandleInGo()
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
				in.add(sig.(syscall.Signal))
			case <-ours:
				notify(in.children)
			}
		}
	}()
	<-ready
}

func (in *Inbox) add(sig syscall.Signal) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.waiting = append(slices.DeleteFunc(in.waiting, func(s syscall.Signal) bool {
		return s == sig
	}), sig)
	if terminates(sig) {
		in.end()
	}
	notify(in.arrived)
}

// next removes and returns the signal that has waited longest, 0 for none.
func (in *Inbox) next() syscall.Signal {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.waiting) == 0 {
		return 0
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
func terminates(sig syscall.Signal) bool {
	return sig == syscall.SIGTERM || sig == syscall.SIGINT || sig == syscall.SIGHUP ||
		sig == syscall.SIGQUIT
}
