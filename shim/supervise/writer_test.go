package supervise

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// written has a writer write all that a sink was given, and reports whether that failed.
func written(w *writer) (failed bool) {
	gone := 0
	close(w.queue)
	w.run(nil, func(*sink, error) { gone++ })
	return gone > 0
}

func TestSink(t *testing.T) {
	tests := []struct {
		name string
		hold bool
		do   func(*sink)
		want string
	}{
		{"open", false,
			func(s *sink) { s.write([]byte("a"), nil); s.write(nil, nil); s.write([]byte("b"), nil) }, "ab"},
		{"held", true, func(s *sink) { s.write([]byte("a"), nil) }, ""},
		{"shown", true,
			func(s *sink) { s.write([]byte("a"), nil); s.show(); s.write([]byte("b"), nil); s.show() }, "ab"},
		{"dropped", true, func(s *sink) { s.write([]byte("a"), nil); s.drop(); s.show() }, ""},
		{"dropped twice", true,
			func(s *sink) { s.write([]byte("a"), nil); s.drop(); s.drop() }, ""},
		{"gone", true,
			func(s *sink) { s.write([]byte("a"), nil); s.gone = true; s.show(); s.write([]byte("b"), nil) }, ""},
	}
	for _, test := range tests {
		f, w := outputFile(t), newWriter()
		test.do(newSink(f, w, test.hold))
		if failed := written(w); failed {
			t.Errorf("%s: it failed", test.name)
		}
		if got := contents(t, f); got != test.want {
			t.Errorf("%s: shown %q, want %q", test.name, got, test.want)
		}
	}
}

// A buffer goes back to its reader after the last user, whether the bytes were written or not.
func TestBuffersGoBack(t *testing.T) {
	r, closed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer closed.Close()
	r.Close()
	free, w := make(chan *buffer, 1), newWriter()
	b := &buffer{rendered: make([]byte, keptRendering+1), free: free}
	b.users.Store(1)
	for _, f := range []*os.File{outputFile(t), closed, closed} {
		newSink(f, w, false).write([]byte("a"), b)
	}
	newSink(closed, w, true).write([]byte("a"), b)
	if b.release(); len(free) != 0 {
		t.Error("it has gone back too early")
	}
	gone := 0
	close(w.queue)
	w.run(nil, func(*sink, error) { gone++ })
	if len(free) != 1 || gone != 2 || b.rendered != nil {
		t.Errorf("%d have gone back, %d sinks are gone, %d bytes are kept", len(free), gone,
			len(b.rendered))
	}
}

func TestSpoolGoesToAFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f, w := outputFile(t), newWriter()
	s := newSink(f, w, true)
	var want bytes.Buffer
	for i := range 7 {
		piece := bytes.Repeat([]byte{byte('a' + i)}, 1<<20+i)
		want.Write(piece)
		s.write(piece, nil)
	}
	s.write([]byte("end"), nil)
	if s.held.file == nil || s.held.memory.Len() > heldMemory {
		t.Fatalf("%d bytes in memory, file %v", s.held.memory.Len(), s.held.file)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("the file has a name: %v %v", left, err)
	}
	s.show()
	written(w)
	if got := contents(t, f); got != want.String()+"end" {
		t.Errorf("%d bytes are shown, or in another order, want %d", len(got), want.Len()+3)
	}
}

// Where there is no room to hold output it is shown early.
func TestNoRoomToHold(t *testing.T) {
	big := bytes.Repeat([]byte("x"), heldMemory+1)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	f, w := outputFile(t), newWriter()
	s := newSink(f, w, true)
	s.write([]byte("a"), nil)
	s.write(big, nil)
	s.write([]byte("b"), nil)
	written(w)
	if got := contents(t, f); got != "a"+string(big)+"b" {
		t.Errorf("%d bytes are shown, want %d", len(got), len(big)+2)
	}
}

// TestDiskFillsUp runs itself again under a limit on the size of files: the held
// output is cut off in the middle of a write to its file.
func TestDiskFillsUp(t *testing.T) {
	if os.Getenv("SHIM_TEST_FULL") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestDiskFillsUp$")
		cmd.Env = append(os.Environ(), "SHIM_TEST_FULL=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE,
		&syscall.Rlimit{Cur: 3 << 19, Max: 3 << 19}); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		var b bytes.Buffer
		_, _ = b.ReadFrom(r)
		read <- b.String()
	}()
	writer := newWriter()
	s := newSink(w, writer, true)
	var want strings.Builder
	for i := range 8 {
		piece := strings.Repeat(string(rune('a'+i)), 1<<20)
		want.WriteString(piece)
		s.write([]byte(piece), nil)
	}
	failed := written(writer)
	w.Close()
	if got := <-read; got != want.String() || failed {
		t.Errorf("%d bytes are shown, or others, want %d; failed: %v", len(got), want.Len(), failed)
	}
}

func TestNobodyListens(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	for _, hold := range []bool{false, true} {
		writer := newWriter()
		s := newSink(w, writer, hold)
		s.write([]byte("a"), nil)
		s.show()
		s.write([]byte("b"), nil)
		if !written(writer) {
			t.Errorf("held %v: nobody is told", hold)
		}
	}
}

func TestSlowReader(t *testing.T) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	r := os.NewFile(uintptr(fds[0]), "r")
	defer r.Close()
	read := make(chan int)
	go func() {
		time.Sleep(20 * time.Millisecond)
		var b bytes.Buffer
		_, _ = b.ReadFrom(r)
		read <- b.Len()
	}()
	_, err := (&sink{fd: fds[1], writer: newWriter()}).Write(make([]byte, 1<<20))
	unix.Close(fds[1])
	if n := <-read; n != 1<<20 || err != nil {
		t.Errorf("%d bytes arrived, %v", n, err)
	}
}

func TestRing(t *testing.T) {
	var r ring
	for range 100 {
		r.write(bytes.Repeat([]byte("x"), 1000))
	}
	r.write([]byte("end"))
	if len(r.data) != ringSize || !bytes.HasSuffix(r.data, []byte("xend")) {
		t.Errorf("%d bytes", len(r.data))
	}
}

// A buffer goes back to its reader after the last user, and keeps no large rendering.
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

// A writer writes all that is queued, in its order; a stream that nobody reads any more is reported
// once, and the other is written on. Every buffer goes back.
func TestWriter(t *testing.T) {
	r, broken := pair(t, blockingPipe)
	r.Close()
	out := outputFile(t)
	for _, stopped := range []bool{false, true} {
		if err := out.Truncate(0); err != nil {
			t.Fatal(err)
		}
		w := newWriter()
		lost, taken := newSink(broken, w, false), newSink(out, w, false)
		held := &heldOutput{}
		if err := held.write(taken, []byte("held ")); err != nil {
			t.Fatal(err)
		}
		free, stop, gone := make(chan *buffer, 8), make(chan struct{}), 0
		for i, c := range []chunk{{to: taken, write: held.copyOut},
			{to: lost, write: lost.writing([]byte("x"))},
			{to: taken, write: taken.writing([]byte("one "))},
			{to: lost, write: lost.writing([]byte("y"))},
			{to: taken, write: taken.writing([]byte("two"))}} {
			if i > 0 {
				c.buffer = &buffer{free: free}
				c.buffer.users.Store(1)
			}
			w.add(c)
		}
		close(w.queue)
		want, reports, back := "held one two", 1, 4
		if stopped {
			close(stop)
			want, reports, back = "", 0, 0
		}
		w.run(stop, func(s *sink, err error) {
			if gone++; s != lost || err != syscall.EPIPE {
				t.Error("the wrong one is reported")
			}
		})
		got, err := os.ReadFile(out.Name())
		if err != nil || !bytes.Equal(bytes.Trim(got, "\x00"), []byte(want)) ||
			gone != reports || len(free) != back {
			t.Errorf("stopped %v: %q is written, %d reports, %d buffers are back, %v", stopped, got,
				gone, len(free), err)
		}
	}
}

// Calls that append to one file leave each other's lines whole, however long they are.
func TestLinesInASharedFile(t *testing.T) {
	const size, lines = 300_000, 20
	path := filepath.Join(t.TempDir(), "out")
	var calls sync.WaitGroup
	for _, letter := range []string{"a", "b", "c", "d"} {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s, line := newSink(f, newWriter(), false), []byte(strings.Repeat(letter, size)+"\n")
		calls.Go(func() {
			for i := range lines {
				held := &heldOutput{}
				if write := s.writing(line); i%2 == 0 {
					err = write()
				} else if err = held.write(s, line); err == nil {
					err = held.copyOut()
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	calls.Wait()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line != strings.Repeat(line[:1], size)+"\n" {
			t.Fatalf("a line of %d bytes is damaged", len(line))
		}
	}
}

// Held output is written as one, and the file of it is gone then; where nobody reads it, that is an
// error.
func TestWhatWasHeldIsWritten(t *testing.T) {
	r, broken := pair(t, blockingPipe)
	r.Close()
	for _, to := range []*os.File{outputFile(t), broken} {
		held, s := &heldOutput{}, newSink(to, newWriter(), false)
		if err := held.write(s, make([]byte, heldMemory+1)); err != nil {
			t.Fatal(err)
		}
		err := held.copyOut()
		if (err != nil) != (to == broken) {
			t.Errorf("%s: %v", to.Name(), err)
		}
		if info, err := to.Stat(); err != nil || to != broken && info.Size() != heldMemory+1 {
			t.Errorf("%d bytes are written, %v", info.Size(), err)
		}
		if err := held.file.Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("its file is open: %v", err)
		}
	}
}
