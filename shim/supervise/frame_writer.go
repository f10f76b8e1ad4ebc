package supervise

import (
	"os"
	"sync"
)

// maxAhead is how many bytes may wait for a tool that does not read. Then no more is read from the
// caller.
const maxAhead = 256 << 10

// A frameWriter writes whole frames to the tool's stdin in a goroutine of its own. Adding to it never
// blocks. Attempt.takeFrame adds the caller's.
type frameWriter struct {
	file *os.File
	room chan struct{} // has a token after each write

	mu      sync.Mutex
	more    *sync.Cond
	waiting [][]byte
	size    int
	over    bool // nothing more will be added
}

func newFrameWriter(file *os.File) *frameWriter {
	f := &frameWriter{file: file, room: make(chan struct{}, 1)}
	f.more = sync.NewCond(&f.mu)
	return f
}

func (f *frameWriter) add(data []byte) {
	if len(data) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = append(f.waiting, data)
	f.size += len(data)
	f.more.Signal()
}

// end closes the tool's stdin once everything has been written.
func (f *frameWriter) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	f.more.Signal()
}

// full reports whether maxAhead bytes are waiting.
func (f *frameWriter) full() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.size >= maxAhead
}

// run writes until the end. What is left for a tool that has closed its stdin is dropped, as in a
// pipe.
func (f *frameWriter) run() {
	defer f.file.Close()
	for data, ok := f.next(); ok; data, ok = f.next() {
		_, _ = f.file.Write(data)
		f.mu.Lock()
		f.size -= len(data)
		f.mu.Unlock()
		notify(f.room)
	}
}

func (f *frameWriter) next() (data []byte, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.waiting) == 0 && !f.over {
		f.more.Wait()
	}
	if len(f.waiting) == 0 {
		return nil, false
	}
	data, f.waiting = f.waiting[0], f.waiting[1:]
	return data, true
}

// close ends it at once, even if the tool does not read.
func (f *frameWriter) close() {
	f.file.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting, f.over = nil, true
	f.more.Signal()
}
