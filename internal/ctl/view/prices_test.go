package view

import (
	"strings"
	"testing"
	"time"

	"reprise/ledger/decide"
)

func TestPricesLine(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	p := decide.Prices{Resumed: 3_000, Fresh: 2_000, ResumedRuns: 2, FreshRuns: 1, Last: decide.MillisOf(now)}
	for want, ofChain := range map[string]bool{
		"a resume took 3.0 k weighted tokens on average of 2 runs, a fresh run 2.0 k of 1 fresh run; tried again in 6h0m":                                                                 false,
		"a resume without the cache takes at least 3.0 k weighted tokens, by what the chain's last 2 resumes cost and its session holds now, a fresh run took 2.0 k; tried again in 6h0m": true,
	} {
		p.OfChain = ofChain
		if got := PricesLine(now, p); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
