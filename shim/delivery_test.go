package shim

import (
	"bytes"
	"errors"
	"os"
	"testing"
)

// A buffer goes back to its reader after its last user, and keeps no large rendering.
func TestABufferComesBack(t *testing.T) {
	var none *buffer
	none.retain()
	none.release()
	free := make(chan *buffer, buffersPerStream)
	for size, kept := range map[int]bool{0: true, keptRendering: true, keptRendering + 1: false} {
		b := &buffer{free: free, rendered: make([]byte, 0, size)}
		b.users.Store(1)
		b.retain()
		if b.release(); len(free) != 0 {
			t.Fatal("it went back before its last user")
		}
		if b.release(); len(free) != 1 || <-free != b {
			t.Fatal("it did not go back")
		}
		if (b.rendered != nil) != kept {
			t.Errorf("a rendering of %d bytes: kept %v", size, b.rendered != nil)
		}
	}
}

// A writer writes all that is queued, in its order; a stream that nobody reads any more is reported once, and the other is
// written on. Every buffer goes back.
func TestWriter(t *testing.T) {
	r, broken := pair(t, blockingPipe)
	r.Close()
	out := outputFile(t)
	held := &spool{}
	if err := held.write([]byte("held ")); err != nil {
		t.Fatal(err)
	}
	for _, stopped := range []bool{false, true} {
		if err := out.Truncate(0); err != nil {
			t.Fatal(err)
		}
		w := newWriter()
		lost, taken := newSink(broken, w, false), newSink(out, w, false)
		free, stop, gone := make(chan *buffer, 8), make(chan struct{}), make(chan *sink, 8)
		for i, c := range []chunk{{to: taken, held: held}, {to: lost, data: []byte("x")}, {to: taken, data: []byte("one ")}, {to: lost, data: []byte("y")},
			{to: taken, data: []byte("two")}} {
			if i > 0 {
				c.buffer = &buffer{free: free}
				c.buffer.users.Store(1)
			}
			w.queue <- c
		}
		close(w.queue)
		want, reports, back := "held one two", 1, 4
		if stopped {
			close(stop)
			want, reports, back = "", 0, 0
		}
		w.run(stop, gone)
		got, err := os.ReadFile(out.Name())
		if err != nil || !bytes.Equal(bytes.Trim(got, "\x00"), []byte(want)) || len(gone) != reports || len(free) != back {
			t.Errorf("stopped %v: %q is written, %d reports, %d buffers are back, %v", stopped, got, len(gone), len(free), err)
		}
		if reports > 0 && <-gone != lost {
			t.Error("the wrong one is reported")
		}
	}
}

// What was held is written as one, and its file is gone then; where nobody reads it, that is an error.
func TestWhatWasHeldIsWritten(t *testing.T) {
	r, broken := pair(t, blockingPipe)
	r.Close()
	for _, to := range []*os.File{outputFile(t), broken} {
		held := &spool{}
		if err := held.write(make([]byte, spoolMemory+1)); err != nil {
			t.Fatal(err)
		}
		err := chunk{to: newSink(to, nil, false), held: held}.write()
		if (err != nil) != (to == broken) {
			t.Errorf("%s: %v", to.Name(), err)
		}
		if info, err := to.Stat(); err != nil || to != broken && info.Size() != spoolMemory+1 {
			t.Errorf("%d bytes are written, %v", info.Size(), err)
		}
		if err := held.file.Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("its file is open: %v", err)
		}
	}
}
