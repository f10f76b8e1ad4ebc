package shim

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestSink(t *testing.T) {
	tests := []struct {
		name string
		hold bool
		do   func(*sink)
		want string
	}{
		{"open", false, func(s *sink) { s.write([]byte("a")); s.write(nil); s.write([]byte("b")) }, "ab"},
		{"held", true, func(s *sink) { s.write([]byte("a")) }, ""},
		{"shown", true, func(s *sink) { s.write([]byte("a")); s.show(); s.write([]byte("b")); s.show() }, "ab"},
		{"dropped", true, func(s *sink) { s.write([]byte("a")); s.drop(); s.write([]byte("b")) }, ""},
		{"dropped twice", true, func(s *sink) { s.drop(); s.drop(); s.write([]byte("b")) }, ""},
		{"dropped for good", true, func(s *sink) { s.write([]byte("a")); s.drop(); s.show(); s.write([]byte("b")) }, ""},
	}
	for _, test := range tests {
		f := outputFile(t)
		test.do(newSink(f, test.hold))
		if got := contents(t, f); got != test.want {
			t.Errorf("%s: shown %q, want %q", test.name, got, test.want)
		}
	}
}

func TestSpoolGoesToAFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f := outputFile(t)
	s := newSink(f, true)
	var want bytes.Buffer
	for i := range 7 {
		piece := bytes.Repeat([]byte{byte('a' + i)}, 1<<20+i)
		want.Write(piece)
		s.write(piece)
	}
	s.write([]byte("end"))
	if s.held.file == nil || s.held.memory.Len() > spoolMemory {
		t.Fatalf("%d bytes in memory, file %v", s.held.memory.Len(), s.held.file)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("the file has a name: %v %v", left, err)
	}
	s.show()
	if got := contents(t, f); got != want.String()+"end" {
		t.Errorf("%d bytes are shown, or in another order, want %d", len(got), want.Len()+3)
	}
}

// Where there is no room to hold output it is shown early, but never what was to be
// thrown away.
func TestNoRoomToHold(t *testing.T) {
	big := bytes.Repeat([]byte("x"), spoolMemory+1)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	f := outputFile(t)
	s := newSink(f, true)
	s.write([]byte("a"))
	s.write(big)
	s.write([]byte("b"))
	if got := contents(t, f); got != "a"+string(big)+"b" {
		t.Errorf("%d bytes are shown, want %d", len(got), len(big)+2)
	}
	f = outputFile(t)
	s = newSink(f, true)
	s.drop()
	s.write(big)
	if got := contents(t, f); got != "" {
		t.Errorf("%d bytes of what was dropped are shown", len(got))
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
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 3 << 19, Max: 3 << 19}); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		var b bytes.Buffer
		_, _ = b.ReadFrom(r)
		read <- b.String()
	}()
	s := newSink(w, true)
	var want strings.Builder
	for i := range 8 {
		piece := strings.Repeat(string(rune('a'+i)), 1<<20)
		want.WriteString(piece)
		s.write([]byte(piece))
	}
	w.Close()
	if got := <-read; got != want.String() || s.err != nil {
		t.Errorf("%d bytes are shown, or others, want %d; %v", len(got), want.Len(), s.err)
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
		s := newSink(w, hold)
		s.write([]byte("a"))
		s.show()
		s.write([]byte("b"))
		if !errors.Is(s.err, syscall.EPIPE) {
			t.Errorf("held %v: %v, want EPIPE", hold, s.err)
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
	err := writeAll(fds[1], make([]byte, 1<<20))
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
