package main

import (
	"fmt"
	"strings"
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
		amount(r.Unit, p.Fresh), count(int64(p.FreshRuns), fresh+" run"), strings.TrimSuffix(r.TriedAgain.Sub(a.now).Round(time.Minute).String(), "0s"))
}

// nearlyFull says how full a session's context is, and from where on it is given up.
func nearlyFull(c rewrite.Context, limit float64) string {
	window, assumed := c.Limit, ""
	if window == 0 {
		window, assumed = shim.UnknownWindow, " (assumed)"
	}
	return fmt.Sprintf("the session has used %d of %d tokens of context%s; above %.0f it is not resumed any more",
		c.Used, window, assumed, limit*float64(window))
}

// contextWarnings looks for sessions that are about to be given up.
func contextWarnings(c config.Config, chains []ledger.ChainRow) []warning {
	limits := ledger.Limits{ContextShare: c.ContextLimit, UnknownWindow: shim.UnknownWindow}
	warnings := []warning{}
	for _, c := range chains {
		if s := newest(c); s.State == ledger.Live && limits.NearlyFull(s.Context) {
			warnings = append(warnings, warning{Kind: "context", Chain: c.ID, Tool: c.Tool, Rule: c.Last.Rule,
				Says: fmt.Sprintf("chain %d: %s", c.ID, nearlyFull(s.Context, limits.ContextShare))})
		}
	}
	return warnings
}

// configured gives the configuration, or the defaults where the file can not be
// read: doctor tells of that.
func (a *app) configured() config.Config {
	if path, err := config.ConfigFile(a.getenv); err == nil {
		if c, err := config.Load(path); err == nil {
			return c
		}
	}
	return config.Default()
}

// dearerWarnings looks for rules whose resumes are suspended.
func (a *app) dearerWarnings(c config.Config, meters []ledger.MeterRow) []warning {
	now := ledger.Millis(a.now.UnixMilli())
	var warnings []warning
	for _, m := range meters {
		p, ok := m.Prices(now)
		if !ok || !p.Suspended(now) || policyOf(c, m.Rule).Dearer == config.DearerResume {
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

func policyOf(c config.Config, rule string) config.Policy {
	for _, r := range c.Rules {
		if r.Name == rule {
			return r.Policy
		}
	}
	return c.Policy
}
