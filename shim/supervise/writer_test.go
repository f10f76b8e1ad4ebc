package supervise

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// written has writers write all that they were given, and reports whether that failed.
func written(writers ...*writer) (failed bool) {
	for _, w := range writers {
		close(w.queue)
		w.run(nil, func(*sink, error) { failed = true })
	}
	return failed
}

// held returns a gate that holds the output to two files.
func held(t *testing.T, stdout, stderr *os.File) *gate {
	t.Helper()
	g := &gate{Options: Options{Stream: &scriptedStream{}}, state: stateHolding}
	g.open(stdout, stderr)
	return g
}

func TestHolding(t *testing.T) {
	a, b := []byte("a"), []byte("b")
	for name, test := range map[string]struct {
		do   func(*gate)
		want string
	}{
		"passed on": {func(g *gate) {
			g.letOut()
			g.write(g.stdout, a, nil)
			g.write(g.stdout, nil, nil)
			g.write(g.stdout, b, nil)
		}, "ab"},
		"held": {func(g *gate) { g.write(g.stdout, a, nil) }, ""},
		"let out": {func(g *gate) {
			g.write(g.stdout, a, nil)
			g.letOut()
			g.write(g.stdout, b, nil)
			g.letOut()
		}, "ab"},
		"refused": {func(g *gate) {
			g.write(g.stdout, a, nil)
			g.state = stateRefusing
			g.write(g.stdout, b, nil)
			g.letOut()
		}, ""},
		"gone": {func(g *gate) {
			g.write(g.stdout, a, nil)
			g.stdout.gone = true
			g.letOut()
			g.write(g.stdout, b, nil)
		}, ""},
	} {
		f := outputFile(t)
		g := held(t, f, devNull(t))
		test.do(g)
		if written(g.writers...) {
			t.Errorf("%s: it failed", name)
		}
		if got := contents(t, f); got != test.want {
			t.Errorf("%s: shown %q, want %q", name, got, test.want)
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
	b := &buffer{free: free}
	b.users.Store(1)
	for _, f := range []*os.File{outputFile(t), closed, closed} {
		newSink(f, w).pass([]byte("a"), b)
	}
	g := held(t, closed, closed)
	g.write(g.stdout, []byte("a"), b)
	if b.release(); len(free) != 0 {
		t.Error("it has gone back too early")
	}
	gone := 0
	close(w.queue)
	w.run(nil, func(*sink, error) { gone++ })
	if len(free) != 1 || gone != 2 {
		t.Errorf("%d have gone back, %d sinks are gone", len(free), gone)
	}
}

// More output than can be held is shown early, in order, and so is all that follows. No file has it.
func TestNoRoomToHold(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f := outputFile(t)
	g := held(t, f, devNull(t))
	var want bytes.Buffer
	for i := range 2 {
		piece := bytes.Repeat([]byte{byte('a' + i)}, maxHeld/2)
		want.Write(piece)
		g.write(g.stdout, piece, nil)
	}
	if g.state != stateHolding {
		t.Error("it is shown although there is room")
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("it is in a file: %v %v", left, err)
	}
	g.write(g.stdout, []byte("end"), nil)
	g.write(g.stdout, []byte("later"), nil)
	if written(g.writers...) || g.state != stateShowing || len(g.held) > 0 || g.heldSize > 0 {
		t.Errorf("state %d, %d bytes are held", g.state, g.heldSize)
	}
	if got := contents(t, f); got != want.String()+"endlater" {
		t.Errorf("%d bytes are shown, or in another order, want %d", len(got), want.Len()+8)
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
		g := held(t, w, devNull(t))
		if !hold {
			g.letOut()
		}
		g.write(g.stdout, []byte("a"), nil)
		g.letOut()
		g.write(g.stdout, []byte("b"), nil)
		if !written(g.writers...) {
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
	err := (&sink{fd: fds[1], writer: newWriter()}).write(make([]byte, 1<<20))
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

// A buffer goes back to its reader after the last user.
func TestABufferComesBack(t *testing.T) {
	var none *buffer
	none.retain()
	none.release()
	free := make(chan *buffer, buffersPerStream)
	b := &buffer{free: free}
	b.users.Store(1)
	b.retain()
	if b.release(); len(free) != 0 {
		t.Fatal("it went back before its last user")
	}
	if b.release(); len(free) != 1 || <-free != b {
		t.Fatal("it did not go back")
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
		lost, taken := newSink(broken, w), newSink(out, w)
		free, stop, gone := make(chan *buffer, 8), make(chan struct{}), 0
		for i, parts := range [][]part{
			{{taken, []byte("he")}, {lost, []byte("w")}, {taken, []byte("ld ")}},
			{{lost, []byte("x")}}, {{taken, []byte("one ")}}, {{lost, []byte("y")}},
			{{taken, []byte("two")}}} {
			c := chunk{parts: parts}
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
		line := []byte(strings.Repeat(letter, size) + "\n")
		calls.Go(func() {
			for i := range lines {
				g := held(t, f, devNull(t))
				if i%2 == 0 {
					g.letOut()
					g.write(g.stdout, line, nil)
				} else { // it is held as it came
					g.write(g.stdout, line[:size/2], nil)
					g.write(g.stdout, line[size/2:], nil)
					g.letOut()
				}
				if written(g.writers...) {
					t.Error("it failed")
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
