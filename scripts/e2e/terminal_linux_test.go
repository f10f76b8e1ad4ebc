package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// claude repeats an error on stderr if that is a terminal and stdout is not.
func TestErrorsOnATerminal(t *testing.T) {
	for _, args := range []string{"-p|HTTP429", "-p|RUNTOOL x|--max-turns|1", "-p|hi", "-p|HTTP429|--output-format|json"} {
		direct, shimmed := newWorld(t, "claude", false), newWorld(t, "claude", true)
		outA, errA := direct.onTerminal(list(args))
		outB, errB := shimmed.onTerminal(list(args))
		same(t, args+": stdout", direct.mask(outA), shimmed.mask(outB))
		same(t, args+": stderr", direct.mask(errA), shimmed.mask(errB))
	}
}

// onTerminal runs claude with a terminal for stderr.
func (w *world) onTerminal(args []string) (stdout, stderr string) {
	w.t.Helper()
	ours, theirs := terminal(w.t)
	defer ours.Close()
	cmd := exec.Command(w.lookup("claude"), args...)
	cmd.Args[0] = "claude"
	cmd.Dir, cmd.Env, cmd.Stderr = w.project, w.env, theirs
	out, _ := cmd.Output() // its exit status is compared elsewhere
	theirs.Close()
	var seen bytes.Buffer
	_, _ = seen.ReadFrom(ours) // a terminal nobody has open any more ends in an error
	return string(out), seen.String()
}

func terminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(filepath.Join("/dev/pts", fmt.Sprint(n)), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}
