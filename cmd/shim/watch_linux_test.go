package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/test/toolbox"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// watchOn starts shimctl status --watch on a terminal, with a ledger.
func watchOn(t *testing.T, path string, env ...string) *screen {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "status", "--watch")
	cmd.Args[0] = "shimctl"
	cmd.Env = append(toolbox.Home(t.TempDir()), append([]string{"XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(path)), "TERM=xterm-256color",
		"LANG=C.UTF-8", "PATH=" + tools}, env...)...)
	return showOn(t, cmd)
}

// A call is shown from its beginning to its end, in a window that changes, and the screen from before comes back.
func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reprise", "ledger.db")
	s := watchOn(t, path, "NO_COLOR=1")
	s.until("\x1b[?1049h")
	s.until("no managed call has been made")
	l, err := ledger.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	call := &ledger.Call{Tool: "claude", Cwd: "/home/me/src/shop", Home: "/home/me/.claude", Task: "T-1", Format: rewrite.Text,
		Prompt: prompt.New("Go on", l.Key()), Now: decide.MillisOf(time.Now()), Attempt: rewrite.NoAttempt,
		Stored: func(string, string, decide.Stamp) decide.StoredState { return decide.StoredSame }}
	_, ticket, err := ledger.Begin(l, call)
	if err != nil {
		t.Fatal(err)
	}
	s.until("running calls")
	s.until("last decisions")
	s.until("q leaves")
	if err := l.Finish(ticket, &ledger.Outcome{Now: call.Now + 1}); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		from := s.shown.Len()
		s.until("\x1b[J")
		s.until("\x1b[J")
		if frame := s.shown.String()[from:]; !strings.Contains(frame, "running calls") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the call that has ended is shown as running")
		}
	}
	if err := pty.Setsize(s.master, &pty.Winsize{Rows: 6, Cols: 40}); err != nil {
		t.Fatal(err)
	}
	s.until("\x1b[J")
	from := s.shown.Len()
	s.until("\x1b[J")
	if lines := strings.Count(s.shown.String()[from:], "\r\n"); lines > 5 {
		t.Errorf("%d lines on a screen of 6", lines)
	}
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	s.until("\x1b[?25h\x1b[?1049l")
	_ = s.cmd.Wait()
	if code := s.cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGINT) {
		t.Errorf("exit status %d", code)
	}
}

// What is typed leaves the screen at once, and the terminal has its settings back.
func TestWatchIsLeft(t *testing.T) {
	for typed, want := range map[string]int{"xq": 0, "Q": 0, "\x03": 128 + int(syscall.SIGINT)} {
		s := watchOn(t, filepath.Join(t.TempDir(), "reprise", "ledger.db"))
		settings := func() *unix.Termios {
			is, err := unix.IoctlGetTermios(int(s.master.Fd()), unix.TCGETS)
			if err != nil {
				t.Fatal(err)
			}
			return is
		}
		before := settings()
		s.until("q leaves")
		if *settings() == *before {
			t.Error("no key can be read")
		}
		s.typing(typed)
		s.until("\x1b[?25h\x1b[?1049l")
		_ = s.cmd.Wait()
		if code := s.cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("%q: exit status %d, want %d", typed, code, want)
		}
		if *settings() != *before {
			t.Errorf("%q: the terminal is left changed", typed)
		}
	}
}

func TestWatchNeedsATerminal(t *testing.T) {
	for _, term := range []string{"TERM=dumb", "TERM="} {
		s := watchOn(t, filepath.Join(t.TempDir(), "reprise", "ledger.db"), term)
		s.until("hint: shimctl log --follow shows the calls as they happen\r\n")
		if err := s.cmd.Wait(); err == nil {
			t.Error("it leaves well")
		}
	}
}
