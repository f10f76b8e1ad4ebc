package view

import (
	"testing"
	"time"

	"reprise/ledger/decide"
)

func TestPricesLine(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	p := decide.Prices{Resumed: 3_000, Fresh: 2_000, Last: decide.MillisOf(now)}
	for want, missed := range map[string]bool{
		"the chain's last two resumes cost at least 3.0 k weighted tokens, its last fresh run " +
			"2.0 k; tried again in 6h0m": false,
		"the chain's last two resumes without the cache cost at least 3.0 k weighted tokens, " +
			"its last fresh run 2.0 k; tried again in 6h0m": true,
	} {
		p.Missed = missed
		if got := PricesLine(now, p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
