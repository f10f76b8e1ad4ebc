package supervise

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A shell that waits for a child stands for a tool that has relaunched itself.
func TestChildrenOf(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 60 & echo; wait $!")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	children := childrenOf(cmd.Process.Pid)
	for _, child := range children {
		if err := child.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	if len(children) != 1 {
		_ = cmd.Process.Kill()
	}
	_ = cmd.Wait() // its exit status is looked at
	if got := cmd.ProcessState.ExitCode(); got != 128+int(syscall.SIGTERM) || len(children) != 1 {
		t.Errorf("%d children, exit %d", len(children), got)
	}
}

// Of a run that is given up nothing works on: no child, no child of a child, in whatever session.
func TestNothingOutlivesARunThatIsGivenUp(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	null := devNull(t)
	script := "sleep 60 & echo $!; sh -c 'setsid sleep 61 & echo $!; wait' & wait"
	p, err := start("/bin/sh", []string{"sh", "-c", script}, os.Environ(), [3]*os.File{null, w, w},
		false)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	defer p.witness.Close()
	var pids []string
	for lines := bufio.NewScanner(r); len(pids) < 2 && lines.Scan(); {
		pids = append(pids, lines.Text())
	}
	p.end()
	for ended := false; !ended; _, ended = p.poll() {
		time.Sleep(10 * time.Millisecond)
	}
	for _, pid := range pids {
		alive := true
		for i := 0; alive && i < 500; i++ {
			state, err := os.ReadFile("/proc/" + pid + "/stat")
			alive = err == nil && !strings.Contains(string(state), ") Z ")
			time.Sleep(10 * time.Millisecond)
		}
		if alive {
			t.Errorf("process %s lives on", pid)
		}
	}
}

// A tool that starts one child after the other starts none that is overlooked.
func TestNoChildIsOverlooked(t *testing.T) {
	null := devNull(t)
	for range 20 {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		script := "i=0; while [ $((i+=1)) -lt 999 ]; do sleep 60 & echo; done; wait"
		p, err := start("/bin/sh", []string{"sh", "-c", script}, os.Environ(),
			[3]*os.File{null, w, null}, false)
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		if _, err := r.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		p.end()
		for ended := false; !ended; _, ended = p.poll() {
			time.Sleep(time.Millisecond)
		}
		p.witness.Close()
		// each child has the pipe
		if err := r.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Fatalf("a child lives on: %v", err)
		}
	}
}

// A tool that does not wait until a full pipe takes more (gemini, claude 2.1.197) finds it wide, if
// the caller has a file.
func TestAHastyToolLosesNothing(t *testing.T) {
	got, _ := try(t, "dd if=/dev/zero bs=800000 count=1 iflag=fullblock oflag=nonblock 2>/dev/null",
		rewrite.Plan{})
	if len(got) != 800000 {
		t.Errorf("%d bytes are shown", len(got))
	}
}

// A witness that somebody has killed is given up at once, not listened to.
func TestDeadWitness(t *testing.T) {
	w := newWitness()
	if w == nil {
		t.Fatal("there is no witness")
	}
	defer w.Close()
	if err := w.wake(); err != nil {
		t.Errorf("it lives: %v", err)
	}
	if err := syscall.Kill(w.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for err := error(nil); err == nil; {
		if err = w.wake(); err != nil && !errors.Is(err, syscall.ECHILD) {
			t.Error(err)
		}
	}
	if w.saw(syscall.SIGTERM) {
		t.Error("it has told of a signal")
	}
}

// A caller that goes away while a resumed run is held ends the tool, as it would have
// without us. That says nothing about the session.
func TestACallerThatHasGoneIsNoRefusal(t *testing.T) {
	r, w := pair(t, blockingPipe)
	r.Close()
	tool := scriptedTool{stream: &scriptedStream{}, refused: reason.RefusedSilent}
	a, st := perform(t, tool, rewrite.Plan{Resume: "x", Whole: true},
		"trap '' PIPE; while echo word; do sleep 0.02; done 2>/dev/null; exit 3", time.Minute, w)
	if a.state != stateDelivered || a.Refusal != "" || st != (Status{Exit: 3}) {
		t.Errorf("state %d, refusal %q, %+v", a.state, a.Refusal, st)
	}
}

// A signal that comes as the tool ends is for the shim itself, unless the group and so the tool got
// it.
func TestASignalAtTheEnd(t *testing.T) {
	for _, group := range []bool{true, false} {
		tool := exec.Command("true")
		if err := tool.Start(); err != nil {
			t.Fatal(err)
		}
		a := &Attempt{gate: gate{Options: Options{Signals: NewInbox()},
			process: &process{pid: tool.Process.Pid, witness: newWitness()}}}
		a.reading = 1 // its streams are not at their end
		a.process.witness.seen[syscall.SIGTERM] = group
		a.Signals.add(syscall.SIGTERM)
		for a.ended == nil {
			a.checkTool()
			time.Sleep(time.Millisecond)
		}
		a.Close()
		if a.Stopped != syscall.SIGTERM || (a.late == 0) != group {
			t.Errorf("to the group: %v; stopped by %v, late %v", group, a.Stopped, a.late)
		}
	}
}

// Once a file has named the session and the output is shown, the files are read more rarely. The last
// line is read all the same.
func TestLastLineOfARelaxedRun(t *testing.T) {
	dir := t.TempDir()
	got, _ := try(t, `echo "go on" >$1/a.jsonl; sleep 0.1; echo last >>$1/a.jsonl`, rewrite.Plan{
		Args: []string{dir}, Resume: "x",
		Follow: []rewrite.Follow{{Dir: dir, Name: "*.jsonl", Lines: true}},
	})
	if !strings.HasSuffix(got, "a.jsonl: last\n") {
		t.Errorf("shown %q", got)
	}
}
