package ctl

import (
	"testing"

	"reprise/ledger"
	"reprise/rewrite/reason"
)

// There is a warning if costs kept calls fresh, also the costs of their own chain.
func TestDearerDecisionsWarn(t *testing.T) {
	calls := []ledger.Record{{Reason: reason.Dearer, Outcome: "ok"},
		{Reason: reason.Extends, Outcome: "ok"}}
	got := decisionWarnings(calls)
	if len(got) != 1 || got[0].Says !=
		"1 of the last 2 calls were fresh because resumes cost more" ||
		got[0].Command != "shimctl why dearer" {
		t.Errorf("%+v", got)
	}
}
