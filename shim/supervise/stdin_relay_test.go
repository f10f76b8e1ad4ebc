package supervise

import (
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// startRelay returns a running relay, the caller's end of it and the tool's.
func startRelay(t *testing.T, first string, hold bool) (r *relay, caller, tool *os.File) {
	t.Helper()
	from, caller := pair(t, socketPair)
	r, tool, err := newRelay(from, []byte(first), hold, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tool.Close() })
	r.start()
	return r, caller, tool
}

func TestRelay(t *testing.T) {
	for _, test := range []struct{ name, first, data string }{
		{"nothing", "", ""},
		{"late data", "", "late"},
		{"more than was read before", "first ", "and late"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, caller, tool := startRelay(t, test.first, false)
			defer r.end()
			if _, err := caller.WriteString(test.data); err != nil {
				t.Fatal(err)
			}
			caller.Close()
			if got, err := io.ReadAll(tool); err != nil || string(got) != test.first+test.data {
				t.Errorf("the tool gets %q, %v", got, err)
			}
			if want := test.first + test.data; r.kept() != want {
				t.Errorf("%q is kept for another run", r.kept())
			}
			r.settle()
			if r.keep([]byte("more")); r.kept() != "" {
				t.Errorf("%q is kept for no run", r.kept())
			}
			if reported := len(r.late) > 0; reported != (test.first+test.data != "") {
				t.Errorf("late data are reported: %v", reported)
			}
		})
	}
}

// A resume was decided on without the data: they are held for the run that takes its place.
func TestRelayHolds(t *testing.T) {
	r, caller, tool := startRelay(t, "", true)
	if _, err := caller.WriteString("late"); err != nil {
		t.Fatal(err)
	}
	if got := <-r.late; string(got) != "late" {
		t.Errorf("%q is held", got)
	}
	fd := int(tool.Fd())
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.Read(fd, make([]byte, 1)); n > 0 || err != unix.EAGAIN {
		t.Errorf("the tool gets %d bytes, %v", n, err)
	}
	r.end()
}

// Input that comes after the tool has stopped waiting stays the caller's.
func TestRelayStops(t *testing.T) {
	from, caller := pair(t, socketPair)
	r, tool, err := newRelay(from, nil, false, false)
	if err != nil {
		t.Fatal(err)
	}
	defer tool.Close()
	r.stop()
	r.run()
	if _, err := caller.WriteString("late"); err != nil {
		t.Fatal(err)
	}
	rest := make([]byte, 10)
	if n, err := unix.Read(int(from.Fd()), rest); string(rest[:max(n, 0)]) != "late" || err != nil {
		t.Errorf("the caller has %q, %v", rest[:max(n, 0)], err)
	}
	r.end()
}
