package main

import (
	"math"
	"strings"
	"time"

	"reprise/ledger"
)

type statsReport struct {
	Schema     string            `json:"schema"`
	By         ledger.By         `json:"by"`
	Since      *time.Time        `json:"since"` // null: from the beginning
	Groups     []groupReport     `json:"groups"`
	Total      groupReport       `json:"total"`
	Comparison *comparisonReport `json:"comparison"` // null without a control group
	Estimate   *estimateReport   `json:"estimate"`   // null with one
}

type groupReport struct {
	Key              *string  `json:"key"` // null where the calls have none
	Calls            int64    `json:"calls"`
	Ended            int64    `json:"ended"`
	OK               int64    `json:"ok"`
	Resumed          int64    `json:"resumed"`
	SessionsCreated  int64    `json:"sessions_created"`
	SessionsReused   int64    `json:"sessions_reused"`
	ReuseRate        *float64 `json:"reuse_rate"`
	CacheRate        *float64 `json:"cache_rate"`
	TokensPerSession *float64 `json:"tokens_per_session"`
	MeteredCalls     int64    `json:"metered_calls"` // whose tokens are known
	Input            int64    `json:"input_tokens"`
	CacheRead        int64    `json:"cache_read_tokens"`
	CacheWrite       int64    `json:"cache_write_tokens"`
	Output           int64    `json:"output_tokens"`
	PricedCalls      int64    `json:"priced_calls"`  // whose cost is known
	CostNanoUSD      *int64   `json:"cost_nano_usd"` // of those; null where it is known of none
	MeanMS           *float64 `json:"mean_duration_ms"`
}

type comparisonReport struct {
	ControlChains int64          `json:"control_chains"`
	ControlCalls  int64          `json:"control_calls"`
	TreatedChains int64          `json:"treated_chains"`
	TreatedCalls  int64          `json:"treated_calls"`
	ChangedChains int64          `json:"changed_chains"` // left out
	Figures       []figureReport `json:"figures"`
}

type figureReport struct {
	Name       string     `json:"name"`
	Unit       string     `json:"unit"` // share, tokens, nano_usd or ms
	Control    meanReport `json:"control"`
	Treated    meanReport `json:"treated"`
	Difference meanReport `json:"difference"` // treated less control
}

type meanReport struct {
	Mean *float64 `json:"mean"`
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
}

type estimateReport struct {
	ResumedCalls      int64         `json:"resumed_calls"`
	FreshCalls        int64         `json:"fresh_calls"`
	ByFirstCalls      int64         `json:"resumed_calls_by_first_calls"`
	FirstCalls        int64         `json:"first_calls"`
	UncomparableCalls int64         `json:"uncomparable_calls"`
	Figures           []savedReport `json:"figures"`
}

type savedReport struct {
	Name    string   `json:"name"`
	Unit    string   `json:"unit"`
	Resumed *float64 `json:"resumed_mean"`
	Fresh   *float64 `json:"fresh_mean"`
	Saved   *float64 `json:"saved"` // over all resumed calls that were compared
}

func statsJSON(s stats) statsReport {
	r := statsReport{Schema: "shimctl.stats/1", By: s.By, Groups: []groupReport{}, Total: groupJSON(s.Total)}
	if s.Since.UnixMilli() != 0 {
		since := s.Since.UTC()
		r.Since = &since
	}
	for _, g := range s.Groups {
		row := groupJSON(g)
		if g.Key != "" {
			row.Key = &g.Key
		}
		r.Groups = append(r.Groups, row)
	}
	if c := s.Comparison; c != nil {
		r.Comparison = &comparisonReport{c.Control.Chains, c.Control.Calls, c.Treated.Chains, c.Treated.Calls, c.Changed, []figureReport{}}
		for _, f := range c.Figures {
			r.Comparison.Figures = append(r.Comparison.Figures,
				figureReport{key(f.figure), f.unit, meanJSON(f.Control), meanJSON(f.Treated), meanJSON(f.Difference)})
		}
	}
	if e := s.Saving; e != nil {
		r.Estimate = &estimateReport{e.Resumed, e.Fresh, e.ByFirst, e.FirstCalls, e.Unlike, []savedReport{}}
		for _, f := range e.Figures {
			r.Estimate.Figures = append(r.Estimate.Figures,
				savedReport{key(f.figure), f.unit, number(f.Resumed), number(f.Fresh), number(f.Saved)})
		}
	}
	return r
}

func key(f figure) string { return strings.ReplaceAll(title(f), " ", "_") }

func groupJSON(g ledger.Group) groupReport {
	r := groupReport{Calls: g.Calls, Ended: g.Ended, OK: g.OK, Resumed: g.Resumed, SessionsCreated: created(g), SessionsReused: g.Reused,
		ReuseRate: number(reuseRate(g)), CacheRate: number(cacheRate(g)), TokensPerSession: number(tokensPerSession(g)),
		MeteredCalls: g.Metered, Input: g.Input, CacheRead: g.CacheRead, CacheWrite: g.CacheWrite, Output: g.Output,
		PricedCalls: g.Priced, MeanMS: number(rate(g.Duration, g.Timed))}
	if g.Priced > 0 {
		r.CostNanoUSD = &g.Cost
	}
	return r
}

func meanJSON(e estimate) meanReport {
	return meanReport{number(e.Mean), number(e.Low), number(e.High)}
}

// number is nil for what is not known.
func number(n float64) *float64 {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return nil
	}
	return &n
}
