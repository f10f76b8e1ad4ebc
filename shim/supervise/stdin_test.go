package supervise

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/rewrite"
	"reprise/rewrite/reason"

	"golang.org/x/sys/unix"
)

// pair returns the two ends of a pipe, or of a socket.
func pair(t *testing.T, make func(*[2]int) error) (r, w *os.File) {
	t.Helper()
	var fds [2]int
	if err := make(&fds); err != nil {
		t.Fatal(err)
	}
	r, w = os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func blockingPipe(fds *[2]int) error { return unix.Pipe2(fds[:], unix.O_CLOEXEC) }
func nonblockingPipe(fds *[2]int) error {
	return unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK)
}
func socketPair(fds *[2]int) (err error) {
	*fds, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	return err
}

func TestStage(t *testing.T) {
	fed := func(make func(*[2]int) error, pieces ...string) func(*testing.T) *os.File {
		return func(t *testing.T) *os.File {
			r, w := pair(t, make)
			go func() {
				for _, p := range pieces {
					_, _ = io.WriteString(w, p)
					time.Sleep(5 * time.Millisecond)
				}
				w.Close()
			}()
			return r
		}
	}
	silent := func(t *testing.T) *os.File { r, _ := pair(t, blockingPipe); return r }
	late := func(t *testing.T) *os.File {
		r, w := pair(t, blockingPipe)
		go func() {
			time.Sleep(waitAppended + waitAppended/2)
			_, _ = io.WriteString(w, "late")
			w.Close()
		}()
		return r
	}
	file := func(text string, at int64) func(*testing.T) *os.File {
		return func(t *testing.T) *os.File {
			f := outputFile(t)
			if _, err := f.WriteString(text); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Seek(at, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			return f
		}
	}
	closed := func(t *testing.T) *os.File { f := outputFile(t); f.Close(); return f }
	large := strings.Repeat("0123456789abcdef", 1<<16)

	type how struct{ awaits, preview bool }
	tests := []struct {
		name   string
		stdin  func(*testing.T) *os.File
		use    rewrite.StdinUse
		how    how
		data   string
		used   bool
		reason error
	}{
		{"unused", silent, rewrite.StdinUnused, how{}, "", false, nil},
		{"file", file("hello", 0), rewrite.StdinPrompt, how{}, "hello", false, nil},
		{"file with offset", file("hello", 2), rewrite.StdinPrompt, how{}, "llo", false, nil},
		{"file at its end", file("hello", 5), rewrite.StdinPrompt, how{}, "", false, nil},
		{"file beyond its end", file("hello", 9), rewrite.StdinPrompt, how{}, "", false, nil},
		{"empty file", file("", 0), rewrite.StdinAppended, how{}, "", false, nil},
		{"pipe", fed(blockingPipe, "he", "llo"), rewrite.StdinPrompt, how{}, "hello", true, nil},
		{"non-blocking pipe", fed(nonblockingPipe, "he", "llo"), rewrite.StdinPrompt, how{},
			"hello", true, nil},
		{"socket", fed(socketPair, "he", "llo"), rewrite.StdinPrompt, how{}, "hello", true, nil},
		{"large", fed(blockingPipe, large), rewrite.StdinPrompt, how{}, large, true, nil},
		{"pipe without data", fed(blockingPipe), rewrite.StdinAppended, how{}, "", false, nil},
		{"no data but NUL", fed(blockingPipe, "\x00"), rewrite.StdinPrompt, how{}, "\x00", true,
			nil},
		{"null device", devNull, rewrite.StdinPrompt, how{}, "", false, nil},
		{"silent pipe, awaited in a preview", silent, rewrite.StdinAppended, how{true, true}, "",
			false, reason.StdinOpen},
		{"silent pipe, skipped", silent, rewrite.StdinAppended, how{}, "", false, nil},
		{"late pipe, awaited", late, rewrite.StdinAppended, how{true, false}, "late", true, nil},
		{"closed", closed, rewrite.StdinPrompt, how{}, "", false, reason.StdinOpen},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			stdin := test.stdin(t)
			began := time.Now()
			got, err := Stage(stdin, test.use, test.how.awaits, test.how.preview)
			if err != test.reason || got.Data != test.data || got.used != test.used {
				t.Errorf("%d bytes, used %v, %v", len(got.Data), got.used, err)
			}
			if spent := time.Since(began); spent > 2*time.Second {
				t.Errorf("it took %v", spent)
			}
		})
	}
}

func TestStageLeavesAFileWhereItStands(t *testing.T) {
	f := outputFile(t)
	if _, err := f.WriteString("hello"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(2, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	s, err := Stage(f, rewrite.StdinPrompt, false, false)
	if err != nil || s.Data != "llo" {
		t.Fatalf("%q, %v", s.Data, err)
	}
	rest, err := io.ReadAll(f)
	if again, _ := s.HandOn(); err != nil || string(rest) != "llo" || again != nil {
		t.Errorf("the caller's descriptor gives %q, %v", rest, err)
	}
}

// Too much to be a prompt: the tool still gets all of it.
func TestTooMuchIsHandedOnWhole(t *testing.T) {
	text := pattern(maxStdin + 3<<20) // before anything waits for it
	for name, make := range map[string]func(*[2]int) error{
		"pipe": blockingPipe, "non-blocking pipe": nonblockingPipe, "socket": socketPair,
	} {
		r, w := pair(t, make)
		go func() {
			_, _ = w.Write(text)
			w.Close()
		}()
		s, err := Stage(r, rewrite.StdinPrompt, false, false)
		if err != reason.StdinTooBig {
			t.Fatalf("%s: %v", name, err)
		}
		f, err := s.HandOn()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := io.ReadAll(f)
		f.Close()
		if err != nil || string(got) != string(text) {
			t.Errorf("%s: %d bytes of %d are handed on, or others; %v", name, len(got), len(text),
				err)
		}
	}
}

// Found by test/chaos: a prompt longer than ulimit -f allows a file to be ended the
// call with 126.
func TestStdinUnderALimitOnFiles(t *testing.T) {
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	tight := unix.Rlimit{Cur: 4096, Max: before.Max}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &tight); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
			t.Error(err)
		}
	}()
	text := strings.Repeat("all of it ", 50_000)
	f, err := textFile(text)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := io.ReadAll(f); err != nil || string(got) != text {
		t.Errorf("stdin gives %d bytes of %d: %v", len(got), len(text), err)
	}
}

func TestLargeFileIsLeftAlone(t *testing.T) {
	f := outputFile(t)
	if err := f.Truncate(maxStdin + 1); err != nil {
		t.Fatal(err)
	}
	s, err := Stage(f, rewrite.StdinPrompt, false, false)
	if again, _ := s.HandOn(); err != reason.StdinTooBig || s.used || again != nil {
		t.Errorf("used %v, %v", s.used, err)
	}
}

func pattern(n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(i * 7 >> 3)
	}
	return out
}

func TestStdinOf(t *testing.T) {
	for _, text := range []string{"", "a\x00b\n", strings.Repeat("x", 1<<20)} {
		f, err := textFile(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := contents(t, f); got != text {
			t.Errorf("%d bytes, want %d", len(got), len(text))
		}
		f.Close()
	}
}

// The end of a file is counted from its beginning, wherever the caller has set it.
func TestEndOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prompt")
	if err := os.WriteFile(path, []byte("skipped a prompt"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(8, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	s, err := Stage(f, rewrite.StdinPrompt, true, false)
	if err != nil || s.Data != "a prompt" {
		t.Fatalf("%q, %v", s.Data, err)
	}
	if _, err := f.Seek(12, io.SeekStart); err != nil { // another process, which has the file too
		t.Fatal(err)
	}
	in, err := s.ForRun(rewrite.Plan{HasStdin: true, Stdin: "more"})
	if err != nil || in.End != 16 {
		t.Errorf("the end is %d, %v", in.End, err)
	}
	in.File.Close()
	if at, err := f.Seek(0, io.SeekCurrent); err != nil || at != 12 {
		t.Errorf("the first run moves the file to %d, %v", at, err)
	}
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if in, err = s.ForRun(rewrite.Plan{}); err != nil || in.File != f {
		t.Errorf("the next run gets another file, %v", err)
	}
	if at, err := f.Seek(0, io.SeekCurrent); err != nil || at != 8 {
		t.Errorf("the next run reads from %d, %v", at, err)
	}
}
