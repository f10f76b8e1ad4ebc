package supervise

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A relay copies the caller's stdin to a tool that waits for data for some time and then goes on
// without. So the tool itself decides how long it waits, and its message about it.
type relay struct {
	from  int      // the caller's stdin
	to    *os.File // the pipe to the tool
	first []byte   // data that were read before
	// hold says to report the first data instead of passing them on. It is set for a resume, which
	// was decided without them.
	hold bool
	// late receives the data that are held, or nil when the first data are passed on.
	late    chan []byte
	stopped atomic.Bool

	mu    sync.Mutex
	taken []byte // the data that another run would need; nil once there can be none
	keeps bool
}

// newRelay returns a relay and the tool's stdin. With keeps, another run can need the data.
func newRelay(from *os.File, first []byte, hold, keeps bool) (r *relay, stdin *os.File, err error) {
	r = &relay{from: int(from.Fd()), first: first, hold: hold, late: make(chan []byte, 1),
		taken: first, keeps: keeps}
	if stdin, r.to, err = os.Pipe(); err != nil {
		return nil, nil, err
	}
	return r, stdin, nil
}

// start starts the relay and returns late. For a nil relay it returns nil.
func (r *relay) start() <-chan []byte {
	if r == nil {
		return nil
	}
	go r.run()
	return r.late
}

// run passes data on until the end of the caller's stdin, or until the relay is stopped.
func (r *relay) run() {
	data := r.first
	reported := false
	for piece := make([]byte, pieceSize); ; {
		if len(data) > 0 && r.hold {
			r.late <- data
			return
		}
		if len(data) > 0 && !reported {
			r.late <- nil
			reported = true
		}
		if _, err := r.to.Write(data); len(data) > 0 && err != nil {
			return // the tool has closed the stdin
		}
		if !r.wait() {
			return
		}
		n, err := unix.Read(r.from, piece)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			n = 0
		case err != nil || n == 0:
			r.to.Close()
			return
		}
		data = piece[:n]
		r.keep(data)
	}
}

func (r *relay) keep(data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keeps {
		r.taken = append(r.taken, data...)
	}
}

func (r *relay) kept() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.taken)
}

// settle drops the data: no other run will need them.
func (r *relay) settle() {
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.taken, r.keeps = nil, false
	}
}

// wait waits for data or the end of stdin. It returns false if the relay is stopped, maybe only
// when data have come.
func (r *relay) wait() bool {
	if r.stopped.Load() {
		return false
	}
	_, err := readable(r.from, -1)
	return err == nil && !r.stopped.Load()
}

// stop stops the relay. It reads no more of the caller's stdin.
func (r *relay) stop() {
	if r != nil {
		r.stopped.Store(true)
	}
}

// end stops the relay after the tool's end.
func (r *relay) end() {
	if r != nil {
		r.stop()
		r.to.Close()
	}
}
