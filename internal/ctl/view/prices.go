package view

import (
	"fmt"
	"strings"
	"time"

	"reprise/ledger/decide"
)

// A PricesReport is what an average run costs, resumed and fresh.
type PricesReport struct {
	Unit        string    `json:"unit" doc:"nano_usd, or tokens weighted by what they cost"`
	Resumed     float64   `json:"resumed" doc:"mean of the resumed runs; of one chain, what the cheapest would cost now"`
	Fresh       float64   `json:"fresh" doc:"mean of the fresh runs"`
	OfChain     bool      `json:"of_chain" doc:"whether the runs are the latest of one chain, whose resumes missed the provider's cache"`
	ResumedRuns int       `json:"resumed_runs" doc:"resumed runs"`
	FreshRuns   int       `json:"fresh_runs" doc:"fresh runs"`
	FirstRuns   bool      `json:"first_runs" doc:"whether the fresh runs are first runs: an estimate"`
	TriedAgain  time.Time `json:"tried_again" doc:"when a resume is tried again"`
}

// PricesJSON returns them.
func PricesJSON(p decide.Prices) *PricesReport {
	unit := "tokens"
	if p.Money {
		unit = "nano_usd"
	}
	return &PricesReport{unit, p.Resumed, p.Fresh, p.OfChain, p.ResumedRuns, p.FreshRuns, p.FirstRuns, p.Until().Time()}
}

// PricesLine returns them as one line.
func PricesLine(now time.Time, p decide.Prices) string {
	r := PricesJSON(p)
	resumed, fresh := Amount(r.Unit, Number(p.Resumed)), Amount(r.Unit, Number(p.Fresh))
	unit, kind := "", "fresh"
	if !p.Money {
		unit = " weighted tokens"
	}
	if p.FirstRuns {
		kind = "first"
	}
	again := strings.TrimSuffix(r.TriedAgain.Sub(now).Round(time.Minute).String(), "0s")
	if p.OfChain {
		return fmt.Sprintf("a resume without the cache takes at least %s%s, by what the chain's last %s cost and its session holds now, a fresh run took %s; tried again in %s",
			resumed, unit, Count(int64(p.ResumedRuns), "resume"), fresh, again)
	}
	return fmt.Sprintf("a resume took %s%s on average of %s, a fresh run %s of %s; tried again in %s",
		resumed, unit, Count(int64(p.ResumedRuns), "run"), fresh, Count(int64(p.FreshRuns), kind+" run"), again)
}
