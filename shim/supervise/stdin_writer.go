package supervise

import "os"

// A stdinWriter writes pieces, which are frames in a conversation, to the tool's stdin while the
// tool runs. A separate goroutine writes the pieces that the event loop, which alone uses these
// fields, sends on next.
type stdinWriter struct {
	file    *os.File
	next    chan []byte // nil once it is closed
	waiting [][]byte
	over    bool // nothing more will be added: the caller has closed its end
}

func (w *stdinWriter) add(data []byte) {
	if len(data) > 0 {
		w.waiting = append(w.waiting, data)
	}
}

// nextPiece returns the next piece for the tool, and where to send it. The channel is nil while
// nothing is waiting.
func (w *stdinWriter) nextPiece() (to chan<- []byte, piece []byte) {
	if w == nil || len(w.waiting) == 0 {
		return nil, nil
	}
	return w.next, w.waiting[0]
}

// sent removes the first piece, which is being written.
func (w *stdinWriter) sent() {
	w.waiting = w.waiting[1:]
	w.closeNext()
}

// end closes the tool's stdin once everything has been written.
func (w *stdinWriter) end() {
	w.over = true
	w.closeNext()
}

func (w *stdinWriter) closeNext() {
	if w.over && len(w.waiting) == 0 && w.next != nil {
		close(w.next)
		w.next = nil
	}
}

// write writes until the end. The rest for a tool that has closed the stdin is dropped, as in a
// pipe.
func (w *stdinWriter) write(pieces <-chan []byte) {
	defer w.file.Close()
	for piece := range pieces {
		_, _ = w.file.Write(piece)
	}
}

// close ends it at once, even if the tool does not read.
func (w *stdinWriter) close() {
	if w == nil {
		return
	}
	w.file.Close()
	w.waiting = nil
	w.end()
}
