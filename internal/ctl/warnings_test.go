package ctl

import (
	"strings"
	"testing"
	"time"

	"reprise/internal/ctl/app"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite/reason"
)

func TestPricesLine(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	p := decide.Prices{Resumed: 3_000, Fresh: 2_000, ResumedRuns: 2, FreshRuns: 1, Last: decide.MillisOf(now)}
	for want, ofChain := range map[string]bool{
		"a resume took 3.0 k weighted tokens on average of 2 runs, a fresh run 2.0 k of 1 fresh run; tried again in 6h0m":                                                                 false,
		"a resume without the cache takes at least 3.0 k weighted tokens, by what the chain's last 2 resumes cost and its session holds now, a fresh run took 2.0 k; tried again in 6h0m": true,
	} {
		p.OfChain = ofChain
		if got := pricesLine(&app.App{Now: now}, p); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What kept calls fresh for their costs is warned about, also if that was their chain's own.
func TestDearerDecisionsWarn(t *testing.T) {
	calls := []history.Invocation{{Reason: reason.Dearer, Outcome: "ok"}, {Reason: reason.Extends, Outcome: "ok"}}
	got := decisionWarnings(calls)
	if len(got) != 1 || got[0].Says != "1 of the last 2 calls were fresh because resumes cost more" || got[0].command() != "shimctl why dearer" {
		t.Errorf("%+v", got)
	}
}
