package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"reprise/ledger"
	"reprise/rewrite"
	"reprise/scripts/toolbox"
)

// topOn starts shimctl top on a terminal, with a ledger.
func topOn(t *testing.T, path string, env ...string) *screen {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "top")
	cmd.Args[0] = "shimctl"
	cmd.Env = append(toolbox.Home(t.TempDir()), append([]string{"XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(path)), "TERM=xterm-256color",
		"LANG=C.UTF-8", "PATH=" + tools, hurry}, env...)...)
	return showOn(t, cmd)
}

// press types keys, and waits for a text on the screen. It changes the size of the terminal until the text is there, since
// only then all of the screen is drawn again.
func (s *screen) press(keys, text string) {
	s.t.Helper()
	s.typing(keys)
	seen, stopped := make(chan struct{}), make(chan error)
	go func() { stopped <- s.redraw(seen) }()
	s.until(text)
	close(seen)
	if err := <-stopped; err != nil {
		s.t.Fatal(err)
	}
}

func (s *screen) redraw(until <-chan struct{}) error {
	for {
		select {
		case <-until:
			return nil
		case <-time.After(100 * time.Millisecond): // as it is, a key may still be the beginning of another
		}
		size, err := pty.GetsizeFull(s.master)
		if err != nil {
			return err
		}
		size.Cols ^= 1
		if err := pty.Setsize(s.master, size); err != nil {
			return err
		}
	}
}

func TestTop(t *testing.T) {
	path := sampleLedger(t, 300, false)
	s := topOn(t, path)
	s.until("chains by last used")
	s.press("?", "any key goes back")
	s.press("x", "chains by last used")
	s.press("s", "chains by calls")
	s.press("s", "chains by resumed")
	s.press("/CODERx\x7f\r", `chains by resumed, only with "CODER"`)
	s.press("jjk\x1b[B", "> ")
	s.press("\r", "calls of chain ")
	s.press("G\x1b[6~k", "calls of chain ")
	s.press("\x1b", `chains by resumed, only with "CODER"`)
	s.press("\x1b", "chains by resumed\x1b")
	s.press("/nothing of the kind\r", "there is no such chain yet")
	s.press("p", "PAUSED")
	s.press("p", "q leave")
	s.typing("q")
	if shown := s.end(); !strings.Contains(shown, "\x1b[?1049l") {
		t.Error("the screen from before does not come back")
	}
}

// A call is shown from its beginning to its end, and a loop is warned about.
func TestTopIsUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reprise", "ledger.db")
	s := topOn(t, path, "NO_COLOR=1")
	s.until("no such chain yet")
	l, err := ledger.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var last *ledger.Ticket
	for i := range 62 {
		call := &ledger.Call{Tool: "claude", Cwd: "/home/me/src/shop", Home: "/home/me/.claude", Task: "T-1", Format: rewrite.Text,
			Prompt: rewrite.NewPrompt("Go on", l.Key()), Now: ledger.Millis(time.Now().UnixMilli()), Attempt: rewrite.NoAttempt,
			Stored: func(string, string, ledger.Stamp) ledger.StoredState { return ledger.StoredSame }}
		if _, last, err = ledger.Begin(l, call); err != nil {
			t.Fatal(err)
		}
		if i == 61 {
			break
		}
		if err := l.Finish(last, &ledger.Outcome{Now: call.Now + 1, Exit: 1}); err != nil {
			t.Fatal(err)
		}
	}
	s.until("running calls")
	s.press("", "warning: chain 1 made 62 calls within an hour")
	s.press("", "running calls")
	if err := l.Finish(last, &ledger.Outcome{Now: ledger.Millis(time.Now().UnixMilli())}); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		from := s.shown.Len()
		s.press("", "q leave")
		if !strings.Contains(s.shown.String()[from:], "running calls") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the call that has ended is shown as running")
		}
	}
	s.typing("q")
	if shown := s.end(); strings.Contains(shown, "\x1b[33m") || strings.Contains(shown, "\x1b[1m") {
		t.Errorf("there are colours: %q", shown)
	}
}

func TestTopNeedsATerminal(t *testing.T) {
	for _, term := range []string{"TERM=dumb", "TERM="} {
		s := topOn(t, filepath.Join(t.TempDir(), "reprise", "ledger.db"), term)
		s.until("hint: shimctl status shows the same once, shimctl tail follows the calls\r\n")
		if err := s.cmd.Wait(); err == nil {
			t.Error("it leaves well")
		}
	}
}
