package shim

import (
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
)

// However many signals come before one is looked at, each of them is there once, and
// the later of a stop and its end comes last.
func TestInbox(t *testing.T) {
	in := newInbox()
	in.add(syscall.SIGTERM)
	for range 10_000 {
		in.add(syscall.SIGCONT)
		in.add(syscall.SIGTSTP)
	}
	in.add(syscall.SIGCONT)
	var got []os.Signal
	for range 3 {
		<-in.arrived
		got = append(got, in.take())
	}
	if want := []os.Signal{syscall.SIGTERM, syscall.SIGTSTP, syscall.SIGCONT}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if sig := in.take(); sig != nil || len(in.arrived) != 0 {
		t.Errorf("%v is left", sig)
	}
}

// A fault of our own is no signal for the tool: it stays a panic, which can be
// recovered from. What somebody sends comes in, be it of the same name.
func TestFaultsStayOurs(t *testing.T) {
	if os.Getenv("CATCH") == "" {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestFaultsStayOurs$") // nothing is to be caught in this process
		cmd.Env = append(os.Environ(), "CATCH=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	in := openInbox()
	if err := in.catch(); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("there was no panic")
			}
		}()
		var nothing *struct{ field int }
		nothing.field = 1
	}()
	for _, sig := range []syscall.Signal{syscall.SIGSEGV, syscall.SIGTERM, syscall.SIGPIPE} {
		if err := syscall.Kill(os.Getpid(), sig); err != nil {
			t.Fatal(err)
		}
		<-in.arrived
		if got := in.take(); got != sig {
			t.Errorf("%v came in, want %v", got, sig)
		}
	}
}
