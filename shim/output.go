package shim

import (
	"bytes"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// A sink is one of the caller's streams, as the event loop sees it. While it is held, what
// is written waits; it is then either shown or dropped. Nothing here waits for the caller:
// its writer does.
type sink struct {
	fd     int
	writer *writer
	held   *spool // nil where output goes straight on
	gone   bool   // the caller has closed its end: nothing more is written
}

func newSink(f *os.File, w *writer, hold bool) *sink {
	s := &sink{fd: int(f.Fd()), writer: w}
	if hold {
		s.held = &spool{}
	}
	return s
}

// write shows or holds data, which are in that buffer, or in none and stay as they are.
func (s *sink) write(data []byte, from *buffer) {
	switch {
	case len(data) == 0 || s.gone:
	case s.held == nil:
		from.retain()
		s.writer.queue <- chunk{to: s, data: data, buffer: from}
	case s.held.write(data) != nil:
		// There is no room to hold it: early is better than lost.
		s.show()
		s.write(data, from)
	}
}

// show lets out what was held, and lets all that comes later pass.
func (s *sink) show() {
	if s.held != nil && !s.gone {
		s.writer.queue <- chunk{to: s, held: s.held}
	}
	s.held = nil
}

// drop throws away what was held.
func (s *sink) drop() {
	s.held.drop()
	s.held = nil
}

// writeAll writes to a descriptor that may be non-blocking. A *os.File would not
// do: on stdout it turns a closed pipe into our death.
func writeAll(fd int, data []byte) error {
	for len(data) > 0 {
		n, err := unix.Write(fd, data)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
			if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
				return err
			}
		case err != nil:
			return err
		default:
			data = data[n:]
		}
	}
	return nil
}

// hungUp tells of a pipe or socket whose other side is gone.
func hungUp(fd int) bool {
	fds := []unix.PollFd{{Fd: int32(fd)}}
	_, err := unix.Poll(fds, 0)
	return err == nil && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}

// spoolMemory is how much held output stays in memory; more goes to a file
// without a name.
const spoolMemory = 4 << 20

type spool struct {
	memory bytes.Buffer
	file   *os.File
	size   int64 // of the file
}

func (s *spool) write(data []byte) error {
	if s.file == nil && s.memory.Len()+len(data) <= spoolMemory {
		s.memory.Write(data)
		return nil
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "reprise-*")
		if err != nil {
			return err
		}
		if err := os.Remove(f.Name()); err != nil {
			return errors.Join(err, f.Close())
		}
		s.file = f
	}
	n, err := s.file.WriteAt(data, s.size)
	if err != nil {
		return err // a part that was written is not counted
	}
	s.size += int64(n)
	return nil
}

func (s *spool) copyTo(fd int) error {
	if err := writeAll(fd, s.memory.Bytes()); err != nil || s.file == nil {
		return err
	}
	buf := make([]byte, 64<<10)
	from := io.NewSectionReader(s.file, 0, s.size)
	for {
		n, err := from.Read(buf)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := writeAll(fd, buf[:n]); err != nil {
			return err
		}
	}
}

func (s *spool) drop() {
	if s != nil && s.file != nil {
		s.file.Close()
	}
}

// A ring keeps the end of a stream.
type ring struct{ data []byte }

const ringSize = 16 << 10

func (r *ring) write(data []byte) {
	r.data = append(r.data, data...)
	if over := len(r.data) - ringSize; over > 0 {
		r.data = append(r.data[:0], r.data[over:]...)
	}
}
