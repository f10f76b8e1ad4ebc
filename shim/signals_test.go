package shim

import (
	"os"
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
