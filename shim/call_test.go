package shim

import (
	"errors"
	"testing"

	"reprise/rewrite/reason"
)

// Where our own code breaks down before the tool runs, the real binary runs.
func TestBreakingDownBefore(t *testing.T) {
	a := &asked{log: &log{}}
	err := a.safely(func() error { panic("a bug of ours") })
	if p := passOf(err); p.why != reason.Fault || p.failed == nil {
		t.Errorf("%q, %v", p.why, p.failed)
	}
	if err := a.safely(func() error { return nil }); err != nil {
		t.Errorf("%v", err)
	}
	if p := passOf(errors.New("another error")); p.why != reason.Fault {
		t.Errorf("%q", p.why)
	}
}
