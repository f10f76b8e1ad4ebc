package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/test/toolbox"

	"golang.org/x/sys/unix"
)

// procField reads a number from a file of /proc, as "VmHWM:  123 kB".
func procField(t *testing.T, pid int, file, name string) (n int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), name+":")
	if _, err := fmt.Sscan(rest, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// flood runs a tool that writes a great deal, and gives how much arrives and the
// most memory that the shim had, in kB.
func flood(t *testing.T, does string) (size, memory int) {
	t.Helper()
	cmd := twins(t, nil, does).shim
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReaderSize(out, 64<<10)
	var tool int
	first, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(first, `{"pid":%d}`, &tool); err != nil {
		t.Fatal(err)
	}
	for {
		piece, err := r.ReadSlice('\n')
		if string(piece) == "end\n" {
			break
		}
		size += len(piece)
		if err != nil && err != bufio.ErrBufferFull {
			t.Fatal(err)
		}
	}
	memory = procField(t, cmd.Process.Pid, "status", "VmHWM")
	if err := syscall.Kill(tool, 50); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	return size, memory
}

// However much the tool writes, in lines or in one, memory does not grow with it.
func TestMuchOutput(t *testing.T) {
	toolbox.Long(t)
	for name, shape := range map[string]string{"1 GB of lines": "lines", "a line of 1 GB": "line"} {
		t.Run(name, func(t *testing.T) {
			_, little := flood(t, shape+" 4194304")
			size, memory := flood(t, shape+" 1073741824")
			t.Logf("%d kB of memory, of 4 MB %d kB", memory, little)
			if want := 1<<30 + 1; size != want || memory > 2*little {
				t.Errorf("%d bytes arrive of %d; %d kB of memory, and %d kB for little", size, want,
					memory, little)
			}
		})
	}
}

// Where the caller does not read the tool has to wait. Node gives its children sockets.
func TestBackPressure(t *testing.T) {
	for name, open := range map[string]func() (r, w *os.File, err error){
		"a pipe": os.Pipe, "a socket": socketPair} {
		t.Run(name, func(t *testing.T) { pressBack(t, open) })
	}
}

func socketPair() (r, w *os.File, err error) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(ends[0]), "ours"), os.NewFile(uintptr(ends[1]), "the call's"), nil
}

func pressBack(t *testing.T, open func() (r, w *os.File, err error)) {
	cmd := twins(t, nil, "lines 1073741824").shim
	out, w, err := open()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	r := bufio.NewReaderSize(out, 16)
	first, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var tool int
	if _, err := fmt.Sscanf(first, `{"pid":%d}`, &tool); err != nil {
		t.Fatal(err)
	}
	written := -1
	for now := 0; now != written; time.Sleep(300 * time.Millisecond) {
		written, now = now, procField(t, tool, "io", "wchar")
	}
	if written > 1<<20 {
		t.Errorf("%d bytes are written, and nobody reads", written)
	}
	out.Close()
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() !=
		syscall.SIGPIPE {
		t.Errorf("%v, want the tool's death", err)
	}
}

// The caller that waits for our end sees it when the tool ends, and a caller that reads to the end
// of the stream gets the later output of processes that the tool left.
func TestOutputAfterTheEnd(t *testing.T) {
	for _, format := range []string{"stream-json", "text"} {
		cmd := shimmed(t, `(while [ ! -e go ]; do sleep 0.05; done; echo late; head -c 200000 /dev/zero; printf end) &
			echo '{"type":"result","subtype":"success","result":"word"}'; exit 3`, "-p", "hi", "--verbose", "--output-format", format)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout = w
		if ws := ended(t, cmd); ws.ExitStatus() != 3 {
			t.Errorf("%s: exit status %d", format, ws.ExitStatus())
		}
		w.Close()
		if err := os.WriteFile(filepath.Join(cmd.Dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		first, rest, _ := strings.Cut(string(got), "\n")
		if !strings.Contains(first, "word") ||
			rest != "late\n"+strings.Repeat("\x00", 200000)+"end" {
			t.Errorf("%s: %q and %d bytes", format, first, len(rest))
		}
	}
}

// Where nobody reads any more, that reaches the processes that the tool left.
func TestOutputAfterTheEndUnread(t *testing.T) {
	cmd := shimmed(t,
		`(trap 'echo $? >ended' EXIT; while [ ! -e go ]; do sleep 0.05; done; while echo late; do :; done) & echo '{}'`,
		"-p", "hi", "--verbose", "--output-format", "stream-json")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	ended(t, cmd)
	w.Close()
	r.Close()
	if err := os.WriteFile(filepath.Join(cmd.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if inUse, err := exec.Command("sh", "-c", `for p in /proc/[0-9]*; do
			[ "$(readlink $p/cwd)" = "$0" ] && echo $p; done; :`, cmd.Dir).Output(); err == nil && len(inUse) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("it writes on into nothing")
}

// The caller's descriptors can be non-blocking, for others too: they stay so, and
// everything arrives.
func TestNonBlockingStreams(t *testing.T) {
	for _, kind := range []string{"pipes", "sockets"} {
		t.Run("non-blocking "+kind, func(t *testing.T) {
			var in, out [2]int
			var err error
			if kind == "pipes" {
				err = unix.Pipe2(in[:], unix.O_CLOEXEC)
				if err == nil {
					err = unix.Pipe2(out[:], unix.O_CLOEXEC)
				}
			} else {
				in, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
				if err == nil {
					out, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			// The tool writes on stderr first: that is the caller's own pipe, which is full later
			// on.
			cmd := shimmed(t,
				`cat >asked; echo oops >&2; yes '{"type":"x"}' | head -c 5000000; echo`,
				"-p", "--verbose", "--output-format", "stream-json")
			for _, fd := range []int{in[0], out[1]} {
				if err := unix.SetNonblock(fd, true); err != nil {
					t.Fatal(err)
				}
			}
			theirIn, theirOut := os.NewFile(uintptr(in[0]), "in"),
				os.NewFile(uintptr(out[1]), "out")
			ourIn, ourOut := os.NewFile(uintptr(in[1]), "in"), os.NewFile(uintptr(out[0]), "out")
			start := &exec.Cmd{Path: cmd.Path, Args: cmd.Args, Env: cmd.Env, Dir: cmd.Dir}
			// File.Fd would make it blocking: these are handed on by their numbers.
			attr := &syscall.ProcAttr{Dir: cmd.Dir, Env: start.Env,
				Files: []uintptr{uintptr(in[0]), uintptr(out[1]), uintptr(out[1])}}
			pid, err := syscall.ForkExec(start.Path, start.Args, attr)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				time.Sleep(50 * time.Millisecond) // an empty stdin at first
				_, _ = ourIn.WriteString("a prompt")
				ourIn.Close()
			}()
			got := make(chan []byte)
			go func() {
				var b bytes.Buffer
				buf := make([]byte, 30000)
				for b.Len() < 5000000+len("\noops\n") {
					n, err := ourOut.Read(buf)
					b.Write(buf[:n])
					if err != nil {
						break
					}
				}
				got <- b.Bytes()
			}()
			if b := <-got; len(b) != 5000000+len("\noops\n") {
				t.Errorf("%d bytes arrive", len(b))
			}
			var ws syscall.WaitStatus
			if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil || ws.ExitStatus() != 0 {
				t.Errorf("%v, %v", ws, err)
			}
			for _, fd := range []int{in[0], out[1]} {
				if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil ||
					flags&unix.O_NONBLOCK == 0 {
					t.Errorf("descriptor %d has become blocking", fd)
				}
			}
			if asked, err := os.ReadFile(filepath.Join(cmd.Dir, "asked")); err != nil ||
				string(asked) != "a prompt" {
				t.Errorf("%q, %v", asked, err)
			}
			theirIn.Close()
			theirOut.Close()
			ourOut.Close()
		})
	}
}
