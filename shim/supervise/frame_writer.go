package supervise

import "os"

// A frameWriter writes data, such as whole frames, to the tool's stdin while the tool runs. A
// separate goroutine writes the data that the event loop, which alone uses these fields, sends on
// next.
type frameWriter struct {
	file    *os.File
	next    chan []byte // nil once it is closed
	waiting [][]byte
	over    bool // nothing more will be added
}

func newFrameWriter(file *os.File) *frameWriter {
	return &frameWriter{file: file, next: make(chan []byte)}
}

func (f *frameWriter) add(data []byte) {
	if len(data) > 0 {
		f.waiting = append(f.waiting, data)
	}
}

// nextFrame returns the next frame for the tool, and where to send it. The channel is nil while
// nothing is waiting.
func (f *frameWriter) nextFrame() (to chan<- []byte, frame []byte) {
	if f == nil || len(f.waiting) == 0 {
		return nil, nil
	}
	return f.next, f.waiting[0]
}

// sent removes the first frame, which is being written.
func (f *frameWriter) sent() {
	f.waiting = f.waiting[1:]
	f.closeNext()
}

// end closes the tool's stdin once everything has been written.
func (f *frameWriter) end() {
	f.over = true
	f.closeNext()
}

func (f *frameWriter) closeNext() {
	if f.over && len(f.waiting) == 0 && f.next != nil {
		close(f.next)
		f.next = nil
	}
}

// write writes until the end. The rest for a tool that has closed the stdin is dropped, as in a
// pipe.
func (f *frameWriter) write(frames <-chan []byte) {
	defer f.file.Close()
	for frame := range frames {
		_, _ = f.file.Write(frame)
	}
}

// close ends it at once, even if the tool does not read.
func (f *frameWriter) close() {
	if f == nil {
		return
	}
	f.file.Close()
	f.waiting = nil
	f.end()
}
