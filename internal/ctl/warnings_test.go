package ctl

import (
	"strings"
	"testing"

	"reprise/config"
	"reprise/internal/ctl/view"
	"reprise/internal/prices"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite/reason"
)

// What kept calls fresh for their costs is warned about, also if that was their chain's own.
func TestDearerDecisionsWarn(t *testing.T) {
	calls := []history.Invocation{{Reason: reason.Dearer, Outcome: "ok"}, {Reason: reason.Extends, Outcome: "ok"}}
	got := decisionWarnings(calls)
	if len(got) != 1 || got[0].Says != "1 of the last 2 calls were fresh because resumes cost more" || got[0].Command != "shimctl why dearer" {
		t.Errorf("%+v", got)
	}
}

// A job whose calls are stopped is warned about as such.
func TestStoppedJobsWarn(t *testing.T) {
	cfg := config.Default()
	cfg.Budget.CallsPerHour = 2
	rows := []ledger.JobSpending{{Chain: 1, Tool: "claude", Spending: decide.Spending{Calls: 3}}}
	for _, stop := range []bool{false, true} {
		cfg.Budget.Stop = stop
		got := budgetWarnings(silent(), cfg, view.Reporter{Prices: &prices.Table{}}, rows)
		if len(got) != 1 || (got[0].urgency > 0) != stop || strings.Contains(got[0].Says, "stopped") != stop {
			t.Errorf("stop = %t: %+v", stop, got)
		}
	}
}
