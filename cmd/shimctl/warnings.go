package main

import (
	"fmt"
	"time"

	"reprise/config"
	"reprise/ledger"
	"reprise/rewrite"
	"reprise/shim"
)

// A warning tells of what will keep calls fresh, or does.
type warning struct {
	Kind  string        `json:"kind"` // context or dearer
	Chain int64         `json:"chain,omitempty"`
	Tool  string        `json:"tool"`
	Rule  string        `json:"rule,omitempty"`
	Model string        `json:"model,omitempty"` // as it was asked for
	Price *pricesReport `json:"prices,omitempty"`
	Says  string        `json:"says"`
}

// pricesReport is what an average run costs, resumed and fresh.
type pricesReport struct {
	Unit        string    `json:"unit"` // nano_usd, or weighted tokens
	Resumed     float64   `json:"resumed"`
	Fresh       float64   `json:"fresh"`
	ResumedRuns int       `json:"resumed_runs"`
	FreshRuns   int       `json:"fresh_runs"`
	FirstRuns   bool      `json:"first_runs"` // the fresh runs began their jobs: an estimate
	TriedAgain  time.Time `json:"tried_again"`
}

func pricesJSON(p ledger.Prices) *pricesReport {
	unit := "tokens"
	if p.Money {
		unit = "nano_usd"
	}
	return &pricesReport{unit, p.Resumed, p.Fresh, p.ResumedRuns, p.FreshRuns, p.FirstRuns, clock(p.Until())}
}

// prices says them in a line.
func (a *app) prices(p ledger.Prices) string {
	r := pricesJSON(p)
	unit, fresh := "", "fresh"
	if !p.Money {
		unit = " weighted tokens"
	}
	if p.FirstRuns {
		fresh = "first"
	}
	return fmt.Sprintf("a resume took %s%s on average of %s, a fresh run %s of %s; tried again in %s",
		amount(r.Unit, p.Resumed), unit, count(int64(p.ResumedRuns), "run"),
		amount(r.Unit, p.Fresh), count(int64(p.FreshRuns), fresh+" run"), r.TriedAgain.Sub(a.now).Round(time.Minute))
}

// nearlyFull says how full a session's context is.
func nearlyFull(c rewrite.Context) string {
	if c.Limit == 0 {
		return fmt.Sprintf("%d tokens of context are used, it is soon not resumed any more", c.Used)
	}
	return fmt.Sprintf("%s of the context are used, it is soon not resumed any more", contextUsed(c))
}

// contextWarnings looks for sessions that are about to be given up.
func (a *app) contextWarnings(chains []ledger.ChainRow) []warning {
	limits := ledger.Limits{ContextShare: a.contextLimit(), UnknownWindow: shim.UnknownWindow}
	warnings := []warning{}
	for _, c := range chains {
		if s := newest(c); s.State == ledger.Live && limits.NearlyFull(s.Context) {
			warnings = append(warnings, warning{Kind: "context", Chain: c.ID, Tool: c.Tool, Rule: c.Last.Rule,
				Says: fmt.Sprintf("chain %d: %s", c.ID, nearlyFull(s.Context))})
		}
	}
	return warnings
}

// contextLimit is the one that is configured, or the default where the file can not
// be read: doctor tells of that.
func (a *app) contextLimit() float64 {
	if path, err := config.ConfigFile(a.getenv); err == nil {
		if c, err := config.Load(path); err == nil {
			return c.ContextLimit
		}
	}
	return config.Default().ContextLimit
}

// dearerWarnings looks for rules whose resumes are suspended.
func (a *app) dearerWarnings(meters []ledger.MeterRow) []warning {
	now := ledger.Millis(a.now.UnixMilli())
	var warnings []warning
	for _, m := range meters {
		p, ok := m.Prices(now)
		if !ok || !p.Suspended(now) {
			continue
		}
		whose := m.Tool
		if m.Rule != "" {
			whose += ", rule " + m.Rule
		}
		if m.Model != "" {
			whose += ", model " + m.Model
		}
		warnings = append(warnings, warning{Kind: "dearer", Tool: m.Tool, Rule: m.Rule, Model: m.Model, Price: pricesJSON(p),
			Says: fmt.Sprintf("%s: resumes are suspended, they cost more than fresh runs: %s", whose, a.prices(p))})
	}
	return warnings
}
