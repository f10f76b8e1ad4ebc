package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"reprise/test/toolbox"

	"golang.org/x/sys/unix"
)

// compiled is testdata/fake/tool.c, ready to run.
var compiled = sync.OnceValues(func() (string, error) {
	tool := filepath.Join(tools, "fake-tool")
	out, err := exec.Command("cc", "-o", tool, "../../testdata/fake/tool.c").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return tool, nil
})

// A twin is one call of the tool in tool.c in two shapes, which must look alike:
// straight, and through the shim.
type twin struct{ direct, shim *exec.Cmd }

// twins prepares a managed call. The launcher's options come first, then the script that the tool
// runs.
func twins(t *testing.T, launch []string, does string, env ...string) twin {
	t.Helper()
	tool, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	shim := shimmed(t, "", "-p", "hi", "--output-format", "stream-json", "--verbose")
	for _, name := range []string{"real/claude", "launch"} {
		path := filepath.Join(shim.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(tool, path); err != nil {
			t.Fatal(err)
		}
	}
	real := filepath.Join(shim.Dir, "real")
	shim.Env = append(shim.Env, "PATH="+real+":"+tools, "TOOL="+does)
	shim.Env = append(shim.Env, env...)
	make := func(path string) *exec.Cmd {
		args := append([]string{"launch"}, launch...)
		args = append(append(args, path), shim.Args...)
		return &exec.Cmd{Path: filepath.Join(shim.Dir, "launch"), Args: args, Env: shim.Env,
			Dir: shim.Dir}
	}
	return twin{make(filepath.Join(real, "claude")), make(shim.Path)}
}

// doing is the same call of a tool that does something else.
func (c twin) doing(does string) twin {
	again := func(cmd *exec.Cmd) *exec.Cmd {
		return &exec.Cmd{Path: cmd.Path, Args: cmd.Args,
			Env: append(slices.Clone(cmd.Env), "TOOL="+does), Dir: cmd.Dir}
	}
	return twin{again(c.direct), again(c.shim)}
}

func TestEveryExitCode(t *testing.T) {
	call := twins(t, nil, "")
	codes := rand.New(rand.NewPCG(toolbox.Seed(t), 0)).Perm(256)[:toolbox.Part(256)]
	for _, code := range append(codes, 0, 1, 2, 126, 127, 128, 129, 255) {
		if ws := ended(t, call.doing(fmt.Sprint("exit ", code)).shim); !ws.Exited() ||
			ws.ExitStatus() != code {
			t.Errorf("exit %d is seen as %v", code, ws)
		}
	}
}

// someDeadly are the deadly signals with a name of their own, and a drawn part of those without,
// which are alike.
func someDeadly(t *testing.T) []int {
	t.Helper()
	all := deadly()
	unnamed := slices.IndexFunc(all, func(sig int) bool { return sig > 31 })
	nameless := all[unnamed:]
	some := all[:unnamed:unnamed]
	for _, i := range rand.New(rand.NewPCG(toolbox.Seed(t), 0)).Perm(
		len(nameless))[:toolbox.Part(len(nameless))] {
		some = append(some, nameless[i])
	}
	return some
}

// deadly are the signals that a process can die by.
func deadly() []int {
	var all []int
	for sig := 1; sig <= 64; sig++ {
		switch syscall.Signal(sig) {
		case syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN,
			syscall.SIGTTOU,
			syscall.SIGURG, syscall.SIGWINCH, 32, 33:
		default:
			all = append(all, sig)
		}
	}
	return all
}

// reserved reports whether the C library of an installed shim, musl, keeps a signal for itself: a
// caller's block of it is not honored before the tool runs (docs/explanation/transparency.md).
func reserved(sig int) bool { return sig == 34 && os.Getenv("REPRISE_TEST_SHIM") != "" }

// The caller sees the tool's death as it was, whether cores are allowed or not; and
// there is never a core of ours, which would have prompts in it.
func TestEveryDeath(t *testing.T) {
	for _, launch := range [][]string{nil, {"-c"}} {
		first := twins(t, launch, "")
		for _, sig := range someDeadly(t) {
			call := first.doing(fmt.Sprint("die ", sig))
			var stderr strings.Builder
			call.shim.Stderr = &stderr
			got, want := ended(t, call.shim), ended(t, call.direct)
			if got != want || stderr.Len() > 0 {
				t.Errorf("death by %d, launched with %v: %x, want %x; stderr %q", sig, launch, got,
					want, stderr.String())
			}
			if cores, err := filepath.Glob(filepath.Join(call.shim.Dir, "*core*")); err != nil ||
				len(cores) > 0 {
				t.Errorf("death by %d: %v, %v", sig, cores, err)
			}
		}
	}
	// before the tool runs
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSYS} {
		if ws, _ := signalled(t, sig, "-c"); ws.Signal() != sig || ws.CoreDump() {
			t.Errorf("death by %v: %x", sig, ws)
		}
	}
}

// signalled sends a signal to a shim that reads the prompt from its stdin. If the caller blocks the
// signal, the prompt follows.
func signalled(t *testing.T, sig syscall.Signal, launch ...string) (ws syscall.WaitStatus,
	stderr string) {
	t.Helper()
	cmd := twins(t, launch, "exit 0").shim
	cmd.Args = slices.DeleteFunc(cmd.Args, func(arg string) bool { return arg == "hi" })
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if found, _ := filepath.Glob(filepath.Join(cmd.Dir,
			".local/state/reprise/ledger.db")); found != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(launch, "-b") {
		if _, err := in.Write([]byte("a prompt")); err != nil {
			t.Fatal(err)
		}
		in.Close()
	}
	_ = cmd.Wait() // only the state counts
	if cores, err := filepath.Glob(filepath.Join(cmd.Dir, "*core*")); err != nil || len(cores) > 0 {
		t.Errorf("%v before the tool: %v, %v", sig, cores, err)
	}
	return cmd.ProcessState.Sys().(syscall.WaitStatus), said.String()
}

// ownWork are the signals that the shim's own work can cause: it survives them.
var ownWork = []int{int(syscall.SIGPIPE), int(syscall.SIGXFSZ)}

// While the shim reads the prompt, a signal ends the call as it would end the tool, unless the
// caller blocks it.
func TestSignalsBeforeTheTool(t *testing.T) {
	for _, sig := range someDeadly(t) {
		if slices.Contains(ownWork, sig) {
			continue
		}
		sig := syscall.Signal(sig)
		if ws, stderr := signalled(t, sig, "-c"); !ws.Signaled() || ws.Signal() != sig ||
			stderr != "" {
			t.Errorf("%v: %x, stderr %q", sig, ws, stderr)
		}
		if sig == syscall.SIGKILL || reserved(int(sig)) {
			continue
		}
		if ws, stderr := signalled(t, sig, "-b", strconv.Itoa(int(sig))); !ws.Exited() ||
			ws.ExitStatus() != 0 || stderr != "" {
			t.Errorf("%v, blocked: %x, stderr %q", sig, ws, stderr)
		}
	}
}

// So it does while Go starts, when its runtime would handle signals.
func TestSignalsAtTheStart(t *testing.T) {
	ends := func(ws syscall.WaitStatus) string {
		if ws.Signaled() {
			return ws.Signal().String()
		}
		return fmt.Sprint("exit ", ws.ExitStatus())
	}
	for _, test := range []struct {
		sig    syscall.Signal
		launch []string
		want   string
	}{
		{syscall.SIGTERM, []string{"-i", "15"}, "exit 0"},
		{syscall.SIGTERM, []string{"-b", "15"}, "exit 0"},
		{syscall.SIGQUIT, nil, "quit"},
		{syscall.SIGUSR1, nil, "user defined signal 1"},
		{syscall.SIGSEGV, nil, "segmentation fault"},
	} {
		first := twins(t, test.launch, "exit 0")
		for _, moment := range rand.New(rand.NewPCG(toolbox.Seed(t), uint64(test.sig))).Perm(
			30)[:toolbox.Part(30)] {
			cmd := first.doing("sleep").shim
			var stderr strings.Builder
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for until := time.Now().Add(time.Second); !started(cmd.Process.Pid) &&
				time.Now().Before(until); {
			}
			time.Sleep(time.Duration(moment) * 300 * time.Microsecond)
			if err := cmd.Process.Signal(test.sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // only the state counts
			if got := ends(cmd.ProcessState.Sys().(syscall.WaitStatus)); got != test.want ||
				stderr.Len() > 0 {
				t.Errorf("%v in moment %d, launched with %v: %s, want %s; stderr %q", test.sig,
					moment, test.launch, got, test.want, stderr.String())
			}
		}
	}
}

// started reports whether a process of twins runs the shim, and no longer the launcher.
func started(pid int) bool {
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err != nil || filepath.Base(program) != "launch" && filepath.Base(program) != "fake-tool"
}

// Nothing that a program inherits is another behind the shim: ignored and blocked
// signals, limits, descriptors and their flags.
func TestInherited(t *testing.T) {
	var every []string
	for _, sig := range deadly() {
		if sig != int(syscall.SIGKILL) {
			every = append(every, "-i", strconv.Itoa(sig))
		}
	}
	var pending []string
	for _, sig := range append(deadly(), int(syscall.SIGCHLD), int(syscall.SIGTSTP),
		int(syscall.SIGWINCH)) {
		if sig != int(syscall.SIGKILL) && !reserved(sig) {
			pending = append(pending, "-p", strconv.Itoa(sig))
		}
	}
	tests := map[string][]string{
		"nothing odd":              nil,
		"TERM ignored":             {"-i", "15"},
		"HUP and INT ignored":      {"-i", "1", "-i", "2"},
		"PIPE ignored":             {"-i", "13"},
		"CHLD ignored":             {"-i", "17"},
		"TSTP, TTIN, TTOU ignored": {"-i", "20", "-i", "21", "-i", "22"},
		"everything ignored":       every,
		"USR1 and TERM blocked":    {"-b", "10", "-b", "15"},
		"CHLD blocked":             {"-b", "17"},
		"URG blocked":              {"-b", "23"},
		"PIPE and SEGV blocked":    {"-b", "13", "-b", "11"},
		"a real-time one blocked":  {"-b", "40"},
		"everything pending":       pending,
		"few files":                {"-f", "256"},
		"cores allowed":            {"-c"},
		"non-blocking stdin":       {"-n"},
	}
	for name, launch := range tests {
		t.Run(name, func(t *testing.T) {
			call := twins(t, launch, "probe")
			want, err := call.direct.Output()
			if err != nil {
				t.Fatal(err)
			}
			got, err := call.shim.Output()
			if err != nil || string(got) != string(want) {
				t.Errorf("%v\n%s", err, lineDiff(string(want), string(got)))
			}
		})
	}
}

func lineDiff(want, got string) string {
	var b strings.Builder
	has := strings.Split(got, "\n")
	for i, line := range strings.Split(want, "\n") {
		if i >= len(has) || has[i] != line {
			fmt.Fprintf(&b, "-%s\n", line)
			if i < len(has) {
				fmt.Fprintf(&b, "+%s\n", has[i])
			}
		}
	}
	return b.String()
}

// A counting is a run of the tool that counts signals.
type counting struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  *bufio.Scanner
	tool int // its pid
}

func startCounting(t *testing.T, cmd *exec.Cmd) *counting {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &counting{t: t, cmd: cmd, out: bufio.NewScanner(out)}
	if !c.out.Scan() {
		t.Fatal("the tool says nothing")
	}
	if _, err := fmt.Sscanf(c.out.Text(), `{"pid":%d}`, &c.tool); err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(time.Minute, func() {
		t.Errorf("stuck\n%s", family(cmd.Process.Pid, c.tool))
		_ = syscall.Kill(c.tool, syscall.SIGKILL)
		_ = cmd.Process.Kill()
	})
	t.Cleanup(func() {
		watchdog.Stop()
		_ = syscall.Kill(c.tool, syscall.SIGKILL) // where the test has failed
		_ = cmd.Process.Kill()
	})
	return c
}

// family returns the states of some processes, as the system sees them.
func family(pids ...int) string {
	var b strings.Builder
	for _, pid := range pids {
		for _, file := range []string{"stat", "status"} {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
			fmt.Fprintf(&b, "%s%v\n", text, err)
		}
	}
	return b.String()
}

func (c *counting) send(pid int, sig syscall.Signal) {
	c.t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		c.t.Fatal(err)
	}
}

// until reads the tool's counts, up to a signal.
func (c *counting) until(sig syscall.Signal) (got []syscall.Signal) {
	for c.out.Scan() {
		var n syscall.Signal
		if _, err := fmt.Sscanf(c.out.Text(), "got %d", &n); err != nil {
			c.t.Error(err)
		}
		got = append(got, n)
		if n == sig {
			break
		}
	}
	return got
}

// settled reads the tool's count of signals. A signal that is still on its way comes before the
// second of two signals that are sent one after the other, unless it waits for a thread of the
// shim: a tool that blocks one signal takes the other.
func (c *counting) settled() (got []syscall.Signal) {
	for signalsWait(c.cmd.Process.Pid) {
		time.Sleep(time.Millisecond)
	}
	for range 2 {
		c.send(c.cmd.Process.Pid, syscall.SIGUSR2)
		got = append(got, c.until(syscall.SIGUSR2)...)
	}
	return slices.DeleteFunc(got, func(sig syscall.Signal) bool { return sig == syscall.SIGUSR2 })
}

// signalsWait reports whether a process has signals that none of its threads has taken.
func signalsWait(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, pending, found := strings.Cut(string(status), "\nShdPnd:\t")
	return err == nil && found && !strings.HasPrefix(pending, "0000000000000000\n")
}

func (c *counting) end() {
	c.send(c.tool, 50)
	if err := c.cmd.Wait(); err != nil {
		c.t.Error(err)
	}
}

// reachable are the signals that are passed on, but SIGUSR2, which settled uses. A stop right
// behind a SIGCONT counts as taken back by it, so it comes first.
var reachable = []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGABRT,
	syscall.SIGUSR1,
	syscall.SIGALRM, syscall.SIGTERM, syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGWINCH,
	syscall.SIGVTALRM, syscall.SIGIO,
	syscall.SIGPWR, syscall.SIGXCPU, syscall.SIGSYS, syscall.SIGTRAP, syscall.SIGSEGV,
	syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL}

// unreachable are signals that are not passed on, and do not end the shim.
var unreachable = []syscall.Signal{syscall.SIGXFSZ, syscall.SIGURG, syscall.SIGPIPE}

// Of the other signals that end a program, those that cannot be passed on end the call.
func TestSignalsThatEndTheCall(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGPROF, 34, 40, 64} {
		cmd := twins(t, nil, "count").shim
		c := startCounting(t, cmd)
		c.send(cmd.Process.Pid, sig)
		_ = cmd.Wait() // only the state counts
		if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != sig {
			t.Errorf("%v: %x", sig, ws)
		}
	}
}

// A signal reaches the tool once, even if other processes get it too, and also where the
// caller ignores or blocks it, or where no signal can be queued.
func TestSignalsArriveOnce(t *testing.T) {
	for _, launch := range [][]string{nil, {"-i", "15", "-i", "2", "-i", "10"},
		{"-b", "15", "-b", "2", "-b", "10"}, {"-q", "0"}} {
		cmd := twins(t, launch, "count").shim
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		c := startCounting(t, cmd)
		for _, sig := range reachable {
			for to, pid := range map[string]int{"us": cmd.Process.Pid,
				"the group": -cmd.Process.Pid} {
				c.send(pid, sig)
				got := append(c.until(sig), c.settled()...)
				if len(got) != 1 || got[0] != sig {
					t.Fatalf("%d to %s, launched with %v: %d arrive", sig, to, launch, got)
				}
			}
		}
		for _, sig := range unreachable {
			c.send(cmd.Process.Pid, sig)
			if got := c.settled(); len(got) > 0 {
				t.Errorf("%d to us, launched with %v: %d arrive", sig, launch, got)
			}
		}
		c.end()
	}
}

// The terminal sends to the whole group: the tool has the signal already.
func TestTerminalSignalsArriveOnce(t *testing.T) {
	master, slave := terminal(t)
	cmd := twins(t, nil, "count").shim
	cmd.Stdin, cmd.Stderr = slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	c := startCounting(t, cmd)
	for _, test := range []struct {
		sig  syscall.Signal
		send func() error
	}{
		{syscall.SIGINT, func() error { _, err := master.Write([]byte{3}); return err }},
		{syscall.SIGQUIT, func() error { _, err := master.Write([]byte{28}); return err }},
		{syscall.SIGTSTP, func() error { _, err := master.Write([]byte{26}); return err }},
		{syscall.SIGWINCH, func() error {
			return unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ,
				&unix.Winsize{Row: 7, Col: 7})
		}},
		// by a program all the same
		{syscall.SIGINT, func() error { return syscall.Kill(cmd.Process.Pid, syscall.SIGINT) }},
		{syscall.SIGHUP, func() error { return master.Close() }},
	} {
		if err := test.send(); err != nil {
			t.Fatal(err)
		}
		got := append(c.until(test.sig), c.settled()...)
		if test.sig == syscall.SIGHUP { // a hang-up wakes those it finds stopped
			got = slices.DeleteFunc(got, func(sig syscall.Signal) bool {
				return sig == syscall.SIGCONT
			})
		}
		if len(got) != 1 || got[0] != test.sig {
			t.Errorf("%d: %d arrive", test.sig, got)
		}
	}
	c.end()
}

// A call that is killed, tool or shim, as the tool refuses a resume: the caller sees a
// death, and no word of a resume that it has not asked for.
func TestKilledAsItRefuses(t *testing.T) {
	fake, err := os.ReadFile("../../testdata/fake/claude")
	if err != nil {
		t.Fatal(err)
	}
	for name, kill := range map[string]string{"the tool": "kill -TERM $$",
		"us": "kill -TERM $PPID; exec sleep 60"} {
		t.Run(name, func(t *testing.T) {
			prompt := "You are the coder.\n\n" + strings.Repeat("Keep it small. ", 40)
			cmd := shimmed(t,
				`case "$*" in *--resume*) echo "No conversation found with session ID: x" >&2; `+kill+" ;; esac\n"+string(fake), "-p", prompt)
			cmd.Env = append(cmd.Env, "FAKE="+cmd.Dir)
			first := *cmd
			if out, err := first.Output(); err != nil || string(out) != "answer 1\n" {
				t.Fatalf("%q, %v", out, err)
			}
			cmd.Args[2] += "\n\nYour change failed a test."
			var seen strings.Builder
			cmd.Stdout, cmd.Stderr = &seen, &seen
			if ws := ended(t, cmd); ws.Signal() != syscall.SIGTERM || seen.Len() > 0 {
				t.Errorf("%x, %q", ws, seen.String())
			}
			if _, err := os.Stat(filepath.Join(cmd.Dir, "2.args")); err == nil {
				t.Error("it was run again")
			}
		})
	}
}

// waitStopped waits until a child has stopped or ended.
func waitStopped(t *testing.T, pid int) syscall.WaitStatus {
	t.Helper()
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, syscall.WUNTRACED, nil); err != nil {
		t.Fatal(err)
	}
	return ws
}

// Where the tool stops, the caller sees us stop, by the same signal; and we go on
// together.
func TestJobControl(t *testing.T) {
	tests := map[string]struct {
		stop, cont func(us int) (pid int, sig syscall.Signal)
	}{
		"the group stops":           {group(syscall.SIGTSTP), group(syscall.SIGCONT)},
		"we are told to stop":       {us(syscall.SIGTSTP), us(syscall.SIGCONT)},
		"the group, then we go on":  {group(syscall.SIGTSTP), us(syscall.SIGCONT)},
		"all are stopped, we go on": {group(syscall.SIGSTOP), us(syscall.SIGCONT)},
		"all are stopped":           {group(syscall.SIGSTOP), group(syscall.SIGCONT)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := twins(t, nil, "count", "FREE=20").shim
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			c := startCounting(t, cmd)
			for round := range 5 {
				pid, sig := test.stop(cmd.Process.Pid)
				c.send(pid, sig)
				if ws := waitStopped(t, cmd.Process.Pid); !ws.Stopped() || ws.StopSignal() != sig {
					t.Fatalf("round %d: %x", round, ws)
				}
				pid, sig = test.cont(cmd.Process.Pid)
				c.send(pid, sig)
				if got := append(c.until(syscall.SIGCONT), c.settled()...); len(got) != 1 {
					t.Errorf("round %d: %d arrive", round, got)
				}
			}
			c.end()
		})
	}
}

func group(sig syscall.Signal) func(int) (int, syscall.Signal) {
	return func(us int) (int, syscall.Signal) { return -us, sig }
}

func us(sig syscall.Signal) func(int) (int, syscall.Signal) {
	return func(us int) (int, syscall.Signal) { return us, sig }
}

// A stop that is over at once leaves nobody behind.
func TestShortStops(t *testing.T) {
	cmd := twins(t, nil, "count", "FREE=20").shim
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c := startCounting(t, cmd)
	for range 300 {
		c.send(-cmd.Process.Pid, syscall.SIGTSTP)
		c.send(-cmd.Process.Pid, syscall.SIGCONT)
	}
	c.settled()
	c.end()
}

// A tool that is stopped and woken by its own number, which nobody tells us of, does not
// leave us behind.
func TestToolStoppedAlone(t *testing.T) {
	cmd := shimmed(t, `(sleep 0.2; kill -CONT $$) & kill -STOP $$; cat >/dev/null; echo awake`,
		"-p", "hi", "--output-format", "stream-json", "--verbose")
	var out bytes.Buffer
	cmd.Stdout = &out
	watchdog := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer watchdog.Stop()
	if ws := ended(t, cmd); ws.ExitStatus() != 0 || out.String() != "awake\n" {
		t.Errorf("%x, stdout %q", ws, out.String())
	}
}
