package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// terminal makes a pseudo-terminal.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { master.Close(); slave.Close() })
	return master, slave
}

// A screen is a terminal of a call's own, and the text that it shows.
type screen struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	shown  strings.Builder
}

// showOn starts a call with a terminal of 24 lines as each stream that it does not have already.
func showOn(t *testing.T, cmd *exec.Cmd) *screen {
	return showSized(t, cmd, pty.Winsize{Rows: 24, Cols: 80})
}

func showSized(t *testing.T, cmd *exec.Cmd, size pty.Winsize) *screen {
	t.Helper()
	master, slave := terminal(t)
	if err := pty.Setsize(master, &size); err != nil {
		t.Fatal(err)
	}
	if cmd.Stdin == nil {
		cmd.Stdin = slave
	}
	cmd.Stdout = slave
	if cmd.Stderr == nil {
		cmd.Stderr = slave
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	return &screen{t: t, cmd: cmd, master: master}
}

// until reads until the screen has shown a text.
func (s *screen) until(text string) {
	s.t.Helper()
	// Not by a deadline: a terminal has none after its descriptor was asked for.
	defer time.AfterFunc(time.Minute, func() { s.cmd.Process.Kill() }).Stop()
	for piece := make([]byte, 1); !strings.HasSuffix(s.shown.String(), text); {
		if _, err := s.master.Read(piece); err != nil {
			s.t.Fatalf("%v, and the screen shows %q", err, s.shown.String())
		}
		s.shown.Write(piece)
	}
}

func (s *screen) typing(keys string) {
	s.t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// end returns all that was shown, when the call has ended.
func (s *screen) end() string {
	s.t.Helper()
	if code := s.exit(); code != 0 {
		s.t.Errorf("exit %d, and the screen shows %q", code, s.shown.String())
	}
	return s.shown.String()
}

// exit waits until the call has ended, and returns its exit code, -1 if it had to be killed.
func (s *screen) exit() int {
	defer time.AfterFunc(time.Minute, func() { s.cmd.Process.Kill() }).Stop()
	_, _ = io.Copy(&s.shown, s.master) // a terminal that nobody has open any more ends in an error
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

// saying is a script that answers with a text as the shell expands it. Descriptor 3 is its stdout.
func saying(answer string) string {
	return `exec 3>&1
answer="` + answer + `"
printf '%b\n' "$answer"
`
}

// A call with output to a terminal is managed: the tool is given a session, has a terminal of the
// same kind, and the screen shows the same as without the shim.
func TestManagedAtATerminal(t *testing.T) {
	tests := []struct{ name, script, args, want string }{
		{"text", saying(`$(echo "$*" | sed 's/[-0-9a-f]\{36\}/ID/')\ntwo\tparts`), "-p hi",
			"-p --session-id ID hi\r\ntwo\tparts\r\n"},
		{"terminals", saying(`$(for fd in 0 2 3; do [ -t $fd ] && printf $fd; done)`), "-p hi",
			"023\r\n"},
		{"size", saying(`$(stty size <&3)`), "-p hi", "24 80\r\n"},
		{"modes",
			saying(`$(stty -a <&3 | tr ' ' '\n' | grep -x -- '-*opost\|-*echo\|-*isig' | xargs)`),
			"-p hi", "-opost isig echo\r\n"},
		{"the caller's own", saying(`$(stty -a </dev/tty | tr ' ' '\n' | grep -x -- '-*opost')`),
			"-p hi", "opost\r\n"},
		{"bytes", `printf 'a\rb\033[31mc\n\td\ne'`, "-p hi", "a\rb\x1b[31mc\r\n\td\r\ne"},
		{"interactive", `echo "all: $*"`, "hi", "all: hi\r\n"},
		{"observed", `echo "all: $*"`, "-p hi --output-format json --resume " +
			"11111111-2222-4333-8444-555555555555",
			"all: -p hi --output-format json --resume 11111111-2222-4333-8444-555555555555\r\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := showOn(t, shimmed(t, test.script, strings.Fields(test.args)...)).end(); got !=
				test.want {
				t.Errorf("the screen shows %q, want %q", got, test.want)
			}
		})
	}
}

// All of a long answer gets there, also where its end is still in the terminal when the tool has
// ended.
func TestLongAnswerAtATerminal(t *testing.T) {
	shown := showOn(t, shimmed(t, saying(`$(head -c 300000 /dev/zero | tr '\0' x)end`), "-p",
		"hi")).end()
	if len(shown) != 300_000+len("end\r\n") || !strings.HasSuffix(shown, "xend\r\n") {
		t.Errorf("%d bytes are shown", len(shown))
	}
}

// A tool that looks at its size whenever it is told of a new one ends with the new one. The kernel
// tells it of the caller's terminal, so it can look before the shim has given the new size to its
// own and told it once more.
func TestResize(t *testing.T) {
	s := showOn(t, shimmed(t, `trap 'stty size <&1' WINCH
trap 'echo done; exit 0' INT
echo ready
while :; do sleep 0.05; done`, "-p", "hi"))
	s.until("ready\r\n")
	if err := pty.Setsize(s.master, &pty.Winsize{Rows: 7, Cols: 90}); err != nil {
		t.Fatal(err)
	}
	s.until("7 90\r\n")
	s.typing("\x03")
	if got := s.end(); !strings.HasSuffix(got, "done\r\n") {
		t.Errorf("the screen shows %q", got)
	}
}

// Ctrl-C, and Ctrl-Z with the shell's reaction, are as without us.
func TestKeys(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	// The tool has no child between fork and exec when the key comes: a shell that waits for a
	// stopped one to exec cannot stop.
	const tool = `sleep 60 &
trap 'echo interrupted; kill $! 2>/dev/null; exit 0' INT
trap 'echo back' CONT
echo ready
while :; do wait $!; done`
	// With noflsh: the terminal else drops the output between a key's signal and its echo.
	const job = `stty noflsh
set -m
(exec -a claude "$0" -p hi)
echo "left with $?"
fg >/dev/null
echo "ended with $?"`
	cmd := shimmed(t, tool)
	for name, path := range map[string]string{"direct": filepath.Join(cmd.Dir, "claude"),
		"with the shim": cmd.Path} {
		t.Run(name, func(t *testing.T) {
			around := exec.Command("bash", "-c", job, path)
			around.Env, around.Dir = cmd.Env, cmd.Dir
			s := showOn(t, around)
			s.until("ready\r\n")
			s.typing("\x1a")
			s.until("left with 148\r\n")
			s.until("back\r\n")
			s.typing("\x03")
			if got := s.end(); strings.Count(got, "^C") != 1 ||
				!strings.HasSuffix(strings.Replace(got, "^C", "", 1),
					"back\r\ninterrupted\r\nended with 0\r\n") {
				t.Errorf("the screen shows %q", got)
			}
		})
	}
}
