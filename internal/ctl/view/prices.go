package view

import (
	"fmt"
	"strings"
	"time"

	"reprise/ledger/decide"
)

// A PricesReport has the costs of a resume and of a fresh run of a chain.
type PricesReport struct {
	Unit       string    `json:"unit" doc:"nano_usd, or tokens weighted by what they cost"`
	Resumed    float64   `json:"resumed" doc:"the cheaper of the last two resumes; if they missed the provider's cache, what it would cost now"`
	Fresh      float64   `json:"fresh" doc:"the last fresh run"`
	Missed     bool      `json:"missed" doc:"whether the resumes missed the provider's cache"`
	Start      bool      `json:"start,omitempty" doc:"whether the runs are those of another chain of the same rule, tool, version, model and settings"`
	FirstRun   bool      `json:"first_run" doc:"whether the fresh run was a first run: an estimate"`
	TriedAgain time.Time `json:"tried_again" doc:"when a resume is tried again"`
}

// PricesJSON returns them.
func PricesJSON(p decide.Prices) *PricesReport {
	unit := "tokens"
	if p.Money {
		unit = "nano_usd"
	}
	return &PricesReport{unit, p.Resumed, p.Fresh, p.Missed, p.Start, p.FirstRun, p.Until().Time()}
}

// PricesLine returns them as one line.
func PricesLine(now time.Time, p decide.Prices) string {
	r := PricesJSON(p)
	unit, whose, cache := "", "the chain's", ""
	if !p.Money {
		unit = " weighted tokens"
	}
	if p.Start {
		whose = "another chain's"
	}
	if p.Missed {
		cache = " without the cache"
	}
	return fmt.Sprintf("%s last two resumes%s cost at least %s%s, its last fresh run %s; tried "+
		"again in %s", whose, cache,
		Amount(r.Unit, Number(p.Resumed)), unit, Amount(r.Unit, Number(p.Fresh)),
		strings.TrimSuffix(r.TriedAgain.Sub(now).Round(time.Minute).String(), "0s"))
}
