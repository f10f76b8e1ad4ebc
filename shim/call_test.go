package shim

import (
	"testing"

	"reprise/rewrite/reason"
)

// Where our own code breaks down before the tool runs, the real binary runs.
func TestBreakingDownBefore(t *testing.T) {
	c := &call{log: &log{}}
	fine := func() reason.Code { return "" }
	broken := func() reason.Code { panic("a bug of ours") }
	if why := c.runSteps(fine, broken, fine); why != reason.Fault || c.failed == nil {
		t.Errorf("%q, %v", why, c.failed)
	}
	if reason := c.runSteps(fine, fine); reason != "" {
		t.Errorf("%q", reason)
	}
}
