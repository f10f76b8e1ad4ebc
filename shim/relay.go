package shim

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// A relay passes the caller's stdin on to a tool that waits a while for data and then goes on
// without. So the tool itself decides how long that is, and says what it says about it.
type relay struct {
	from  int      // the caller's stdin
	to    *os.File // what the tool reads is behind it
	first []byte   // data that were read before
	// hold says not to pass data on, but to report them: the run is a resume that was decided on
	// without them.
	hold bool
	// late gets the data that are held, and nil if data are passed on.
	late chan []byte

	stopped, stopping *os.File // a pipe that is closed to stop
}

// newRelay returns a relay, and the stdin of the tool.
func newRelay(from *os.File, first []byte, hold bool) (r *relay, stdin *os.File, err error) {
	r = &relay{from: int(from.Fd()), first: first, hold: hold, late: make(chan []byte, 1)}
	if stdin, r.to, err = os.Pipe(); err != nil {
		return nil, nil, err
	}
	if r.stopped, r.stopping, err = os.Pipe(); err != nil {
		return nil, nil, errors.Join(err, stdin.Close(), r.to.Close())
	}
	return r, stdin, nil
}

// start starts the relay, and returns where it reports late data. Without one nothing is reported.
func (r *relay) start() <-chan []byte {
	if r == nil {
		return nil
	}
	go r.run()
	return r.late
}

// run passes data on until the end of the caller's stdin, or until the relay is stopped.
func (r *relay) run() {
	defer r.stopped.Close()
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
			return // the tool does not read any more
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
	}
}

// wait waits for data or the end, and reports whether the relay goes on.
func (r *relay) wait() bool {
	for {
		fds := []unix.PollFd{{Fd: int32(r.from), Events: unix.POLLIN}, {Fd: int32(r.stopped.Fd()), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || fds[1].Revents != 0:
			return false
		case fds[0].Revents != 0:
			return true
		}
	}
}

// stop leaves what is still to come to the caller: the tool waits for it no longer.
func (r *relay) stop() {
	if r != nil {
		r.stopping.Close()
	}
}

// end stops the relay after the tool's end.
func (r *relay) end() {
	if r != nil {
		r.stop()
		r.to.Close()
	}
}
