package shim

import (
	"slices"
	"sync/atomic"
)

// pieceSize is how many bytes are read from the tool at once.
const pieceSize = 64 << 10

// buffersPerStream is how many buffers a stream has. All of them may wait for a caller
// that does not read; the tool has to wait then.
const buffersPerStream = 3

// keptRendering is the capacity, in bytes, beyond which a buffer's rendering is not kept
// for the next piece.
const keptRendering = 256 << 10

// A buffer carries a piece of one of the tool's streams from its reader through the event
// loop to the writers, and goes back to the reader when it has been written. So the number
// of buffers bounds what is under way.
type buffer struct {
	piece    []byte // what was read
	rendered []byte // what was made of it, where that is not a part of the piece
	users    atomic.Int32
	free     chan<- *buffer
}

// retain adds a user.
func (b *buffer) retain() {
	if b != nil {
		b.users.Add(1)
	}
}

// release returns the buffer to its reader after the last user.
func (b *buffer) release() {
	if b == nil || b.users.Add(-1) > 0 {
		return
	}
	if cap(b.rendered) > keptRendering {
		b.rendered = nil
	}
	b.free <- b // never blocks: there is room for all of a stream's buffers
}

// A chunk is what a writer writes in one go: data, or all that was held.
type chunk struct {
	to     *sink
	data   []byte
	held   *spool
	buffer *buffer // which the data are in, nil where they are in none
}

func (c chunk) write() error {
	if c.held == nil {
		return writeAll(c.to.fd, c.data)
	}
	defer c.held.drop()
	return c.held.copyTo(c.to.fd)
}

// queueLength is more than a writer can have to write: a chunk to each of the caller's
// streams for each buffer, and a few that have none (what was held, and what a stream
// returns at its end). So the event loop never waits for a writer.
const queueLength = 4*buffersPerStream + 16

// A writer writes to the caller, chunk after chunk, in a goroutine of its own. Nothing
// but the writer waits for a caller that does not read.
type writer struct{ queue chan chunk }

func newWriter() *writer { return &writer{make(chan chunk, queueLength)} }

// run writes until the queue is closed or stop is. It reports each sink that can no
// longer be written to, once.
func (w *writer) run(stop <-chan struct{}, gone chan<- *sink) {
	var failed []*sink
	for c := range w.queue {
		select {
		case <-stop:
			return
		default:
		}
		if !slices.Contains(failed, c.to) {
			if err := c.write(); err != nil {
				failed = append(failed, c.to)
				gone <- c.to
			}
		}
		c.buffer.release()
	}
}
