package supervise

import (
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"testing"
	"time"
)

// However many signals come before one is looked at, each of them is there once, and
// the later of a stop and its end comes last.
func TestInbox(t *testing.T) {
	in := NewInbox()
	in.add(syscall.SIGTERM)
	for range 10_000 {
		in.add(syscall.SIGCONT)
		in.add(syscall.SIGTSTP)
	}
	in.add(syscall.SIGCONT)
	var got []syscall.Signal
	for range 3 {
		<-in.arrived
		got = append(got, in.next())
	}
	if want := []syscall.Signal{syscall.SIGTERM,
		syscall.SIGTSTP, syscall.SIGCONT}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if sig := in.next(); sig != 0 || len(in.arrived) != 0 {
		t.Errorf("%v is left", sig)
	}
}

// Every signal that is forwarded comes in, also one that was ignored; a reader that has gone ends
// nobody.
func TestCatch(t *testing.T) {
	if os.Getenv("CATCH") == "" {
		// nothing is to be caught in this process
		cmd := exec.Command(os.Args[0], "-test.run", "^TestCatch$")
		cmd.Env = append(os.Environ(), "CATCH=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGTERM)
	in := NewInbox()
	in.Catch()
	for _, sig := range append(slices.Clone(forwarded), syscall.SIGPIPE, syscall.SIGHUP) {
		time.Sleep(2 * together) // or the SIGCONT before takes SIGTSTP back
		if err := syscall.Kill(os.Getpid(), sig.(syscall.Signal)); err != nil {
			t.Fatal(err)
		}
		if sig == syscall.SIGPIPE {
			continue
		}
		<-in.arrived
		if got := in.next(); got != sig {
			t.Errorf("%v came in, want %v", got, sig)
		}
	}
}
