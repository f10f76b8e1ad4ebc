package supervise

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A sink is one of the caller's streams, as the event loop sees it. A sink never waits for the
// caller: the writer does.
type sink struct {
	fd     int
	atOnce bool // the file takes all of a write at once: nothing of another process comes between
	writer *writer
	// the caller has closed its end, or a write has failed; nothing more is written
	gone   bool
	failed error // why a write failed although the caller has not closed its end
}

func newSink(f *os.File, w *writer) *sink {
	return &sink{fd: int(f.Fd()), atOnce: takesAll(f), writer: w}
}

// pass has the writer write data. The data are in the buffer from; if that is nil they must not
// change later.
func (s *sink) pass(data []byte, from *buffer) {
	if !s.gone {
		from.retain()
		s.writer.add(chunk{parts: []part{{s, data}}, buffer: from})
	}
}

// whenWritten has the writer call then once all output up to here is written, unless the caller
// takes no more.
func (s *sink) whenWritten(then func()) { s.writer.add(chunk{of: s, then: then}) }

// close closes the caller's stream once all output is written. Nothing can be written later.
func (s *sink) close() {
	s.whenWritten(func() { replace(s.fd) })
	s.gone = true
}

// smallPiece is how many bytes are written at once to a caller that is watched: a pipe takes them
// as soon as the reader has emptied a page.
const smallPiece = 4 << 10

// write writes all of data, also to a descriptor that is non-blocking, and counts the data that the
// caller has taken. Only the sink's writer calls it. With *os.File a closed pipe on stdout would
// kill the shim.
func (s *sink) write(data []byte) error {
	for len(data) > 0 {
		size := len(data)
		switch {
		case s.atOnce:
		case s.writer.watched.Load():
			size = min(size, smallPiece)
		default:
			size = min(size, pieceSize)
		}
		n, err := unix.Write(s.fd, data[:size])
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			if _, err := poll(s.fd, unix.POLLOUT, -1); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			s.writer.taken.Add(int64(n))
			data = data[n:]
		}
	}
	return nil
}

// HungUp reports whether a descriptor is a pipe or socket with a closed other end.
func HungUp(fd int) bool {
	ready, err := poll(fd, 0, 0)
	return err == nil && ready&(unix.POLLERR|unix.POLLHUP) != 0
}

// A ring keeps the last ringSize bytes of a stream.
type ring struct{ data []byte }

const ringSize = 16 << 10

func (r *ring) write(data []byte) {
	r.data = append(r.data, data...)
	r.data = slices.Delete(r.data, 0, max(0, len(r.data)-ringSize))
}

// pieceSize is how many bytes are read from the tool at most at once.
const pieceSize = 64 << 10

// buffersPerStream is how many buffers a stream has. If all of them are waiting for a caller
// that does not read, the tool waits too.
const buffersPerStream = 3

// A buffer carries a piece of one of the tool's streams from the reader through the event loop
// to the writers. When it has been written it returns to the reader.
type buffer struct {
	piece    []byte // the data that was read
	rendered []byte // as it is shown, if the piece is read by lines
	users    atomic.Int32
	free     chan<- *buffer
}

// newBuffers returns the buffers of a stream.
func newBuffers() chan *buffer {
	free := make(chan *buffer, buffersPerStream)
	for range buffersPerStream {
		free <- &buffer{piece: make([]byte, pieceSize), free: free}
	}
	return free
}

func (b *buffer) retain() {
	if b != nil {
		b.users.Add(1)
	}
}

// release returns the buffer to the reader after the last user.
func (b *buffer) release() {
	if b != nil && b.users.Add(-1) == 0 {
		b.free <- b // never blocks: the channel has room for all of a stream's buffers
	}
}

// A part is output of one stream without any of the other's in between.
type part struct {
	to   *sink
	data []byte
}

// A chunk is the work that a writer is given at once: output, or a function to call when a stream's
// output is written.
type chunk struct {
	parts  []part
	buffer *buffer // the buffer that contains the data, or nil
	of     *sink
	then   func() // nil if there is none
}

// replace closes a descriptor, so that no other process can see it open. The number stays in use.
func replace(fd int) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return // the caller sees the stream's end when the shim ends
	}
	defer null.Close()
	_ = unix.Dup2(int(null.Fd()), fd) // cannot fail: both are open
}

// queueLength is more than the largest number of chunks in a writer's queue: one to each of the
// caller's streams for each buffer, and a few without a buffer (held output, and the end of a
// rendering). So the event loop never waits for a writer.
const queueLength = 4*buffersPerStream + 16

// A writer writes chunks to the caller in a separate goroutine. It alone waits for a caller
// that does not read.
type writer struct {
	queue   chan chunk
	waiting atomic.Int32 // chunks that are not written yet
	taken   atomic.Int64 // bytes that the caller has taken
	watched atomic.Bool  // write in small pieces, so that taken shows whether the caller reads
}

func newWriter() *writer { return &writer{queue: make(chan chunk, queueLength)} }

func (w *writer) add(c chunk) {
	w.waiting.Add(1)
	w.queue <- c
}

// run writes until the queue or stop is closed. It calls lost once for each sink that takes no
// more.
func (w *writer) run(stop <-chan struct{}, lost func(*sink, error)) {
	var failed []*sink
	for c := range w.queue {
		select {
		case <-stop:
			return
		default:
		}
		for _, p := range c.parts {
			if slices.Contains(failed, p.to) {
				continue
			}
			if err := p.to.write(p.data); err != nil {
				failed = append(failed, p.to)
				lost(p.to, err)
			}
		}
		if c.then != nil && !slices.Contains(failed, c.of) {
			c.then()
		}
		w.waiting.Add(-1)
		c.buffer.release()
	}
}

// outputs are both of the caller's streams.
type outputs struct {
	stdout, stderr *sink
	writers        []*writer // one if both streams are one file
	held           []part    // output that is held, in order of arrival
	heldSize       int       // in bytes
	writing        sync.WaitGroup
	taken          int64 // bytes that the caller had taken at the last beat
	idle           int   // beats since a signal without any taken output
}

// open makes sinks and writers. If stdout and stderr are one file, a single writer keeps their
// order.
func (o *outputs) open(stdout, stderr *os.File) {
	first := newWriter()
	last := first
	o.writers = []*writer{first}
	if !sameFile(stdout, stderr) {
		last = newWriter()
		o.writers = append(o.writers, last)
	}
	o.stdout, o.stderr = newSink(stdout, first), newSink(stderr, last)
}

// sameFile reports whether two descriptors refer to one file, as after 2>&1.
func sameFile(a, b *os.File) bool {
	infoA, _ := a.Stat()
	infoB, _ := b.Stat()
	return os.SameFile(infoA, infoB) // false if either Stat failed
}

// hold keeps data for later.
func (o *outputs) hold(to *sink, data []byte) {
	o.heldSize += len(data)
	if last := len(o.held) - 1; last >= 0 && o.held[last].to == to {
		o.held[last].data = append(o.held[last].data, data...)
		return
	}
	o.held = append(o.held, part{to, bytes.Clone(data)})
}

// show passes on the held output.
func (o *outputs) show() {
	for _, w := range o.writers {
		w.add(chunk{parts: slices.DeleteFunc(slices.Clone(o.held), func(p part) bool {
			return p.to.writer != w || p.to.gone
		})})
	}
	o.held, o.heldSize = nil, 0
}

// delivery returns how many bytes the caller has taken, and whether there is more for it.
func (o *outputs) delivery() (taken int64, waiting bool) {
	for _, w := range o.writers {
		taken += w.taken.Load()
		waiting = waiting || w.waiting.Load() > 0
	}
	return taken, waiting
}

// takes reports whether the caller's streams take more now.
func (o *outputs) takes() bool {
	out, _ := poll(o.stdout.fd, unix.POLLOUT, 0)
	errOut, _ := poll(o.stderr.fd, unix.POLLOUT, 0)
	return out != 0 && errOut != 0
}
