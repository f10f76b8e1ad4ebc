package supervise

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A sink is one of the caller's streams, as the event loop sees it. While output is held, a sink
// stores it; then it is either shown or dropped. A sink never waits for the caller: the writer
// does.
type sink struct {
	fd     int
	atOnce bool // the file takes all of a write at once: nothing of another process comes between
	writer *writer
	held   *heldOutput // nil if output is passed on at once; two sinks of one file share it
	// the caller has closed its end, or a write has failed; nothing more is written
	gone   bool
	failed error // why a write failed although the caller has not closed its end
}

func newSink(f *os.File, w *writer, hold bool) *sink {
	s := &sink{fd: int(f.Fd()), atOnce: takesAll(f), writer: w}
	if hold {
		s.held = &heldOutput{}
	}
	return s
}

// write shows or holds data. The data are in the buffer from; if that is nil they must not
// change later.
func (s *sink) write(data []byte, from *buffer) {
	switch {
	case len(data) == 0 || s.gone:
	case s.held == nil || s.held.shown:
		s.pass(data, from)
	case s.held.write(s, data) != nil:
		// There is no room to hold the output. Shown early is better than lost.
		s.show()
		s.write(data, from)
	}
}

// pass writes data although the sink can hold the output. The data must not change.
func (s *sink) pass(data []byte, from *buffer) {
	if !s.gone {
		from.retain()
		s.writer.add(chunk{s, s.writing(data), from})
	}
}

func (s *sink) writing(data []byte) func() error {
	return func() error {
		_, err := s.Write(data)
		return err
	}
}

// close closes the caller's stream once all output is written. Nothing can be written later.
func (s *sink) close() {
	s.writer.add(chunk{to: s, write: func() error { replace(s.fd); return nil }})
	s.gone = true
}

func (s *sink) holds() bool { return s.held != nil && s.held.memory.Len()+int(s.held.size) > 0 }

// show passes on the held output, and from then on all output at once.
func (s *sink) show() {
	if s.held != nil && !s.held.shown && !s.gone {
		s.held.shown = true
		s.writer.add(chunk{to: s, write: s.held.copyOut})
	}
	s.held = nil
}

func (s *sink) drop() {
	s.held.drop()
	s.held = nil
}

// smallPiece is how many bytes are written at once to a caller that is watched: a pipe takes them
// as soon as the reader has emptied a page.
const smallPiece = 4 << 10

// Write writes all of data, also to a descriptor that is non-blocking, and counts the data that the
// caller has taken. Only the sink's writer calls it. With *os.File a closed pipe on stdout would
// kill the shim.
func (s *sink) Write(data []byte) (written int, err error) {
	for written < len(data) {
		size := len(data) - written
		switch {
		case s.atOnce:
		case s.writer.watched.Load():
			size = min(size, smallPiece)
		default:
			size = min(size, pieceSize)
		}
		n, err := unix.Write(s.fd, data[written:written+size])
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			if _, err := poll(s.fd, unix.POLLOUT, -1); err != nil {
				return written, err
			}
		case err != nil:
			return written, err
		default:
			s.writer.taken.Add(int64(n))
			written += n
		}
	}
	return written, nil
}

// HungUp reports whether a descriptor is a pipe or socket with a closed other end.
func HungUp(fd int) bool {
	ready, err := poll(fd, 0, 0)
	return err == nil && ready&(unix.POLLERR|unix.POLLHUP) != 0
}

// heldMemory is how many bytes of held output stay in memory. More goes to an unnamed file.
const heldMemory = 4 << 20

// A heldOutput stores the output of one stream, or of two in order of arrival, until it is shown or
// dropped.
type heldOutput struct {
	memory bytes.Buffer
	file   *os.File
	size   int64 // of the file
	runs   []run
	shown  bool // a writer has it
}

// A run is held output of one stream without any of the other's in between.
type run struct {
	to   *sink
	size int64
}

func (s *heldOutput) write(to *sink, data []byte) error {
	if err := s.store(data); err != nil {
		return err
	}
	if last := len(s.runs) - 1; last < 0 || s.runs[last].to != to {
		s.runs = append(s.runs, run{to: to})
	}
	s.runs[len(s.runs)-1].size += int64(len(data))
	return nil
}

func (s *heldOutput) store(data []byte) error {
	if s.file == nil && s.memory.Len()+len(data) <= heldMemory {
		s.memory.Write(data)
		return nil
	}
	if s.file == nil {
		f, err := unlinkedFile()
		if err != nil {
			return err
		}
		s.file = f
	}
	n, err := s.file.WriteAt(data, s.size)
	if err != nil {
		return err // size stays, so that a part that was written is ignored
	}
	s.size += int64(n)
	return nil
}

func (s *heldOutput) copyOut() error {
	defer s.drop()
	// without a file the size is 0
	from := io.MultiReader(&s.memory, io.NewSectionReader(s.file, 0, s.size))
	for _, r := range s.runs {
		whole := make([]byte, min(r.size, heldMemory))
		n, err := io.CopyBuffer(r.to, io.LimitReader(from, r.size), whole)
		if err == nil && n < r.size {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *heldOutput) drop() {
	if s != nil && s.file != nil {
		s.file.Close()
	}
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

// keptRendering is the largest capacity, in bytes, of a rendering that a buffer keeps for the
// next piece.
const keptRendering = 256 << 10

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
		free <- &buffer{free: free}
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
	if b == nil || b.users.Add(-1) > 0 {
		return
	}
	if cap(b.rendered) > keptRendering {
		b.rendered = nil
	}
	b.free <- b // never blocks: the channel has room for all of a stream's buffers
}

// A chunk is the data that a writer writes at once.
type chunk struct {
	to     *sink
	write  func() error
	buffer *buffer // the buffer that contains the data, or nil
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
		if !slices.Contains(failed, c.to) {
			if err := c.write(); err != nil {
				failed = append(failed, c.to)
				lost(c.to, err)
			}
		}
		w.waiting.Add(-1)
		c.buffer.release()
	}
}

// outputs are both of the caller's streams.
type outputs struct {
	stdout, stderr *sink
	writers        []*writer // one if both streams are one file
	writing        sync.WaitGroup
	taken          int64 // bytes that the caller had taken at the last beat
	idle           int   // beats since a signal without any taken output
}

// open makes sinks and writers. If stdout and stderr are one file, a single writer and a single
// heldOutput keep their order.
func (o *outputs) open(stdout, stderr *os.File, hold bool) {
	first, one := newWriter(), sameFile(stdout, stderr)
	o.writers = []*writer{first}
	if !one {
		o.writers = append(o.writers, newWriter())
	}
	o.stdout, o.stderr = newSink(stdout, first, hold),
		newSink(stderr, o.writers[len(o.writers)-1], hold)
	if one {
		o.stderr.held = o.stdout.held
	}
}

// sameFile reports whether two descriptors refer to one file, as after 2>&1.
func sameFile(a, b *os.File) bool {
	infoA, _ := a.Stat()
	infoB, _ := b.Stat()
	return os.SameFile(infoA, infoB) // false if either Stat failed
}

func (o *outputs) startWriters(stop <-chan struct{}, lost func(*sink, error)) {
	for _, w := range o.writers {
		o.writing.Go(func() { w.run(stop, lost) })
	}
}

// show passes on the held output, in order of arrival if both streams are one file.
func (o *outputs) show() {
	o.stdout.show()
	o.stderr.show()
}

func (o *outputs) drop() {
	o.stdout.drop()
	o.stderr.drop()
}

// deliver closes the writers' queues, and calls done, in a goroutine, when they are written.
func (o *outputs) deliver(done func()) {
	for _, w := range o.writers {
		close(w.queue)
	}
	go func() {
		o.writing.Wait()
		done()
	}()
}

// watchCaller has the writers show whether the caller takes the output.
func (o *outputs) watchCaller() {
	o.taken, _ = o.delivery()
	for _, w := range o.writers {
		w.watched.Store(true)
	}
}

// countBeat counts a beat as idle if the caller has taken nothing since the last one, although
// there is output for it. Of a tool that a signal has killed, it is none either if the caller could
// take more.
func (o *outputs) countBeat(died bool) {
	taken, waiting := o.delivery()
	o.idle++
	if taken != o.taken || !waiting || died && o.takes() {
		o.taken, o.idle = taken, 0
	}
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
