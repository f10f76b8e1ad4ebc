package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/rewrite"
	"reprise/test/toolbox"
)

// executable returns the shim that is tested: an installed one if $REPRISE_TEST_SHIM names it,
// else this program.
func executable(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return cmp.Or(os.Getenv("REPRISE_TEST_SHIM"), self)
}

// shimmed prepares a managed call of claude with a shell script as the real binary.
func shimmed(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	toolbox.Program(t, dir, "claude", "#!/bin/sh\n"+script)
	// see testdata/fake/claude
	if err := os.WriteFile(filepath.Join(dir, "edit"), []byte("work.txt\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(executable(t), args...)
	cmd.Args[0] = "claude" // see TestMain
	cmd.Env = append(toolbox.Home(dir), "PATH="+dir+":"+tools, "DIR="+dir, "TMPDIR="+dir, hurry)
	cmd.Dir = dir
	return cmd
}

// startPiped starts a call with a pipe as stdout, and returns the end to read from.
func startPiped(t *testing.T, cmd *exec.Cmd) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// ended returns the wait status of a call.
func ended(t *testing.T, cmd *exec.Cmd) syscall.WaitStatus {
	t.Helper()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.Sys().(syscall.WaitStatus)
}

func TestSignalsArePassedOn(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT,
		syscall.SIGUSR1} {
		cmd := shimmed(t, fmt.Sprintf("trap 'exit 7' %d\necho '{}'\nwhile :; do sleep 0.05; done",
			sig),
			"-p", "hi", "--output-format", "stream-json")
		// without a terminal that could have sent it
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 7 {
			t.Errorf("after %v: exit %d", sig, code)
		}
	}
}

// A caller that ends a resumed run before it has shown anything wants it ended, not
// run again.
func TestStoppedResumeIsNotRunAgain(t *testing.T) {
	fake, err := os.ReadFile("../../testdata/fake/claude")
	if err != nil {
		t.Fatal(err)
	}
	prompt := "You are the coder.\n\n" + strings.Repeat("Keep it small. ", 40)
	cmd := shimmed(t, string(fake), "-p", prompt)
	cmd.Env = append(cmd.Env, "FAKE="+cmd.Dir)
	first := *cmd
	if out, err := first.Output(); err != nil || string(out) != "answer 1\n" {
		t.Fatalf("%q, %v", out, err)
	}
	if err := os.WriteFile(filepath.Join(cmd.Dir, "mode"), []byte("stall"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.Args[2] += "\n\nYour change failed a test."
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if _, err := os.Stat(filepath.Join(cmd.Dir, "stalled")); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit %d", code)
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "3.args")); err == nil {
		t.Error("it was run again")
	}
}

func TestTheToolDiesWithUs(t *testing.T) {
	cmd := shimmed(t, "echo $$\nexec sleep 60", "-p", "hi", "--output-format", "stream-json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	for range 100 {
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("the tool lives on")
}

// A reader that goes away ends a tool that does not stop by itself.
func TestClosedStdout(t *testing.T) {
	cmd := shimmed(t, `while :; do echo '{"type":"x"}'; done`, "-p", "hi", "--output-format",
		"stream-json")
	r := startPiped(t, cmd)
	if _, err := bufio.NewReader(r).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	r.Close()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		cmd.Process.Kill()
		t.Error("the tool writes on into nothing")
	}
}

// If nobody reads the stdout from the start, the tool finds that out by itself.
func TestUnreadStdout(t *testing.T) {
	cmd := shimmed(t, `trap '' PIPE; echo word || exit 101`, "-p", "hi", "--output-format",
		"stream-json", "--verbose")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	cmd.Stdout = w
	if ws := ended(t, cmd); ws.ExitStatus() != 101 {
		t.Errorf("exit status %d", ws.ExitStatus())
	}
}

// Processes that the tool leaves behind can hold its stdout open; nobody waits for them.
func TestGrandchildHoldsStdout(t *testing.T) {
	cmd := shimmed(t, `(sleep 30) & echo '{"type":"x"}'`, "-p", "hi", "--output-format",
		"stream-json")
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout = out
	start := time.Now()
	ended(t, cmd)
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("took %v", took)
	}
	if text, err := os.ReadFile(out.Name()); err != nil || string(text) != "{\"type\":\"x\"}\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// Streams of every size and shape arrive as they were written.
func TestStreamsArriveWhole(t *testing.T) {
	scripts := map[string]string{
		"10 MB of lines":     `yes '{"type":"user","x":"0123456789 0123456789 0123456789"}' | head -c 10000000`,
		"a line of 5 MB":     `printf '{"x":"'; head -c 5000000 /dev/zero | tr '\0' 'x'; echo '"}'; echo '{"y":1}'`,
		"NUL bytes":          `printf 'a\0b\n\0\n'; head -c 70000 /dev/zero`,
		"no last newline":    `printf '{"a":1}\n{"b":2}'`,
		"nothing":            `:`,
		"only newlines":      `printf '\n\n\n'`,
		"invalid UTF-8":      `printf '\377\376{"type":"result"\n'`,
		"deeply nested":      `yes '[' | head -c 200000 | tr -d '\n'; echo '"result"'`,
		"duplicate keys":     `echo '{"type":"result","type":"user","session_id":"x","session_id":"y"}'`,
		"carriage returns":   `printf '{"a":1}\r\n{"b":2}\r\n'`,
		"escapes of a model": `printf '{"type":"assistant","text":"\\u001b[31m"}\n'`,
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			direct, err := exec.Command("sh", "-c", script).Output()
			if err != nil {
				t.Fatal(err)
			}
			got, err := shimmed(t, script, "-p", "hi", "--output-format", "stream-json").Output()
			if err != nil || !bytes.Equal(got, direct) {
				t.Errorf("%d bytes arrive of %d: %v", len(got), len(direct), err)
			}
		})
	}
}

// A caller gets the output of a tool from before it was killed, in every format.
func TestCutShort(t *testing.T) {
	const begun = `{"type":"system","subtype":"init"}`
	for _, format := range []string{"text", "json"} {
		got, _ := shimmed(t, `echo '`+begun+`'; kill -9 $$`, "-p", "hi", "--output-format",
			format).Output()
		if string(got) != begun+"\n" {
			t.Errorf("%s: %q", format, got)
		}
	}
}

// Bytes before the shim's own stdin must not be lost.
func TestStdinOfEveryKind(t *testing.T) {
	const text = "a prompt on stdin\n"
	file := filepath.Join(t.TempDir(), "prompt")
	if err := os.WriteFile(file, []byte("skipped "+text), 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if _, err := opened.Seek(8, 0); err != nil {
		t.Fatal(err)
	}
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	if _, err := ours.WriteString(text); err != nil {
		t.Fatal(err)
	}
	ours.Close()
	defer theirs.Close()
	for name, stdin := range map[string]any{"a pipe": strings.NewReader(text),
		"a file read in part": opened, "a socket": theirs} {
		t.Run(name, func(t *testing.T) {
			cmd := shimmed(t, `cat`, "-p")
			switch s := stdin.(type) {
			case *strings.Reader:
				cmd.Stdin = s
			case *os.File:
				cmd.Stdin = s
			}
			if got, err := cmd.Output(); err != nil || string(got) != text {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// A caller that keeps its end of stdin open is not waited for.
func TestOpenSilentStdin(t *testing.T) {
	cmd := shimmed(t, `echo passed "$@"`, "-p", "hi")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	got, err := cmd.Output()
	if err != nil || !strings.HasPrefix(string(got), "passed ") {
		t.Errorf("%q, %v", got, err)
	}
}

// No file of a repository changes anything: no configuration, no rule, no ledger and no
// binary is taken from the working directory.
func TestTheRepositoryChangesNothing(t *testing.T) {
	cmd := shimmed(t, `echo "$*"`, "-p", "hi")
	repo := t.TempDir()
	evil := "enabled = false\n[tool.claude]\npath = \"" + filepath.Join(repo, "claude") + "\"\n"
	for name, text := range map[string]string{
		"config.toml": evil, ".reprise.toml": evil, "reprise.toml": evil, "presets.toml": evil,
		".config/reprise/config.toml": evil, "reprise/config.toml": evil,
		".reprise/config.toml":           evil,
		".local/state/reprise/ledger.db": "no ledger", "ledger.db": "no ledger",
		"reprise/ledger.db": "no ledger",
		".env":              "REPRISE_OFF=1\n", ".envrc": "export REPRISE_OFF=1\n",
		"claude": "#!/bin/sh\necho evil\n",
	} {
		path := filepath.Join(repo, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, env := range [][]string{nil, {"XDG_CONFIG_HOME=", "XDG_STATE_HOME="},
		{"XDG_CONFIG_HOME=.config", "XDG_STATE_HOME=.local/state"}} {
		in := *cmd
		in.Dir, in.Env = repo, append(slices.Clone(cmd.Env), env...)
		got, err := in.Output()
		if err != nil || !strings.HasPrefix(string(got), "-p --session-id ") ||
			!strings.HasSuffix(strings.TrimSpace(string(got)), " hi") {
			t.Errorf("with %q: %q, %v", env, got, err)
		}
	}
}

// Without PATH the system's default path counts, not the working directory: before Go starts, and
// in it.
func TestWithoutPATH(t *testing.T) {
	// no installed tool there is run
	name := slices.IndexFunc(rewrite.Names, func(name string) bool {
		found, _ := filepath.Glob("/*/" + name)
		more, _ := filepath.Glob("/usr/*/" + name)
		return len(found)+len(more) == 0
	})
	if name < 0 {
		t.Skip("every tool is installed where the system looks")
	}
	for _, args := range [][]string{{"mcp"}, {"-p", "hi"}} {
		cmd := shimmed(t, "", args...)
		cmd.Args[0] = rewrite.Names[name]
		cmd.Env = append(toolbox.Home(cmd.Dir), hurry)
		if err := os.WriteFile(filepath.Join(cmd.Dir, cmd.Args[0]), []byte("#!/bin/sh\necho ran\n"),
			0o700); err != nil {
			t.Fatal(err)
		}
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if out, _ := cmd.Output(); len(out) > 0 ||
			!strings.Contains(stderr.String(), "no other executable of that name") {
			t.Errorf("%q: %q, %s", args, out, &stderr)
		}
	}
}

// Of a stdin without an end a tool gets all that it reads, and no more is swallowed than it takes
// to see that it is no prompt.
func TestEndlessStdin(t *testing.T) {
	for _, script := range []string{"head -c 5; exit 7", "exec head -c 40000000 | cksum"} {
		cmd := shimmed(t, script, "-p")
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = r
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r.Close()
		line := []byte(strings.Repeat("0123456789abcde\n", 4096))
		written := 0
		for err = error(nil); err == nil; {
			var n int
			n, err = w.Write(line)
			written += n
		}
		w.Close()
		cmd.Wait()
		got, code := out.String(), cmd.ProcessState.ExitCode()
		if strings.HasPrefix(script, "exec") {
			direct, err := exec.Command("sh", "-c",
				"yes 0123456789abcde | head -c 40000000 | cksum").Output()
			if err != nil || got != string(direct) || code != 0 {
				t.Errorf("%q, exit %d; want %q, %v", got, code, direct, err)
			}
		} else if got != "01234" || code != 7 || written > 20<<20 {
			t.Errorf("%q, exit %d, %d bytes are gone", got, code, written)
		}
		if !errors.Is(err, syscall.EPIPE) {
			t.Errorf("the writer sees %v", err)
		}
	}
}

// A program that cannot start is passed over as execvp does it, before Go starts and in it.
func TestWhatCannotStart(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		exit int // if there is no other
	}{
		"no interpreter":           {"#!/nonexistent/sh\necho bad\n", 127},
		"CRLF":                     {"#!/bin/sh\r\necho bad\r\n", 127},
		"interpreter below a file": {"#!/etc/passwd/sh\necho bad\n", 127},
		"interpreter without x":    {"#!/etc/passwd\necho bad\n", 126},
		"another machine's":        {"\x7fELF\x02\x01\x01\x00\necho bad\n", 126},
	} {
		for _, args := range [][]string{{"mcp"}, {"-p", "hi"},
			{"-p", "hi", "--output-format", "stream-json", "--verbose"}} {
			t.Run(name+" "+strings.Join(args, " "), func(t *testing.T) {
				cmd := shimmed(t, "echo good; exit 3", args...)
				bad := filepath.Join(cmd.Dir, "bad")
				if err := errors.Join(os.Mkdir(bad, 0o700),
					os.WriteFile(filepath.Join(bad, "claude"), []byte(test.text),
						0o700)); err != nil {
					t.Fatal(err)
				}
				alone := *cmd
				cmd.Env = append(cmd.Env, "PATH="+bad+":"+cmd.Dir+":"+tools)
				if out, _ := cmd.CombinedOutput(); string(out) != "good\n" ||
					cmd.ProcessState.ExitCode() != 3 {
					t.Errorf("%q, %v", out, cmd.ProcessState)
				}
				alone.Env = append(alone.Env, "PATH="+bad+":"+tools)
				out, _ := alone.CombinedOutput()
				if alone.ProcessState.ExitCode() != test.exit ||
					strings.Count(string(out), "reprise: claude: "+bad+"/claude: ") != 1 {
					t.Errorf("alone: %q, %v", out, alone.ProcessState)
				}
			})
		}
	}
}

// A FIFO that is non-blocking and has no writer is at its end, which no poll reports.
func TestStdinWithoutAWriter(t *testing.T) {
	cmd := twins(t, []string{"-n"}, "read").shim
	fifo := filepath.Join(cmd.Dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Open(fifo, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	stdin := os.NewFile(uintptr(fd), fifo)
	defer stdin.Close()
	cmd.Stdin = stdin
	watchdog := time.AfterFunc(soon, func() { _ = cmd.Process.Kill() })
	defer watchdog.Stop()
	if ws := ended(t, cmd); !ws.Exited() || ws.ExitStatus() != 0 {
		t.Errorf("%x", ws)
	}
}

// A tool that refuses an addition after it has taken late data of a silent stdin runs again with
// all of them.
func TestLateStdinOfATrial(t *testing.T) {
	cmd := shimmed(t, `case "$*" in *--session-id*)
		: >"$DIR/up"
		read -r line
		echo "error: unknown option '--session-id'" >&2
		exit 1 ;;
	esac
	exec cat`, "-p", "explain this")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out := startPiped(t, cmd)
	for _, err := os.Stat(filepath.Join(cmd.Dir, "up")); err != nil; {
		time.Sleep(10 * time.Millisecond)
		_, err = os.Stat(filepath.Join(cmd.Dir, "up"))
	}
	if _, err := io.WriteString(stdin, "late\ndata\n"); err != nil {
		t.Fatal(err)
	}
	stdin.Close()
	got, err := io.ReadAll(out)
	if err != nil || cmd.Wait() != nil || string(got) != "late\ndata\n" {
		t.Errorf("the tool has read %q, %v", got, err)
	}
}
