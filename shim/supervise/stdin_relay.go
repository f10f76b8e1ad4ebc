package supervise

import (
	"errors"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A relay reads the caller's stdin for a tool that waits for data for some time and then goes on
// without. So the tool itself decides how long it waits, and its message about it. The event loop
// passes the data on.
type relay struct {
	from    int         // the caller's stdin
	pieces  chan []byte // data for the event loop; closed at the end
	taken   []byte      // data that another run would need
	stopped atomic.Bool
}

// read sends data to the event loop until the end of the caller's stdin, or until the relay is
// stopped.
func (r *relay) read() {
	for r.wait() {
		piece := make([]byte, pieceSize)
		n, err := unix.Read(r.from, piece)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		case err != nil || n == 0:
			close(r.pieces)
			return
		default:
			r.pieces <- piece[:n]
		}
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

// kept returns the data for another run, after the event loop has ended and the relay is stopped.
func (r *relay) kept() string {
	select {
	case piece := <-r.pieces:
		return string(append(r.taken, piece...))
	default:
		return string(r.taken)
	}
}

// stop stops the relay. It reads no more of the caller's stdin.
func (r *relay) stop() {
	if r != nil {
		r.stopped.Store(true)
	}
}
