package ctl

import (
	"time"

	"reprise/internal/ctl/saving"
	"reprise/internal/ctl/view"
	"reprise/internal/ctl/why"
	"reprise/ledger/history"
)

type statsReport struct {
	Schema     string            `json:"schema" doc:"name of this schema"`
	By         history.By        `json:"by" doc:"what the calls are grouped by"`
	Since      *time.Time        `json:"since" doc:"start of the period, null if all"`
	Until      *time.Time        `json:"until" doc:"end of the period, null if there is none"`
	Groups     []groupReport     `json:"groups" doc:"most calls first; days in order"`
	Total      groupReport       `json:"total" doc:"all of them"`
	Saved      saving.Summary    `json:"saved" doc:"what resuming saved, in short"`
	Comparison *comparisonReport `json:"comparison" doc:"the control group against the others, null without a group"`
	Estimate   estimateReport    `json:"estimate" doc:"against similar fresh calls"`
	Cache      []cacheReport     `json:"cache" doc:"what resumed calls found in the provider's cache"`
	Quality    qualityReport     `json:"quality" doc:"whether the work of resumed chains went as well"`
	Hour       []why.HourReport  `json:"cache_ttl" doc:"what a cache of an hour saved, or would have saved"`
	Machines   *fleetReport      `json:"machines,omitempty" doc:"with --store, what the machines did"`
}

type groupReport struct {
	Key              *string  `json:"key" doc:"what its calls have in common"`
	Others           bool     `json:"others,omitempty" doc:"whether these are all groups beyond --limit"`
	Calls            int64    `json:"calls" doc:"managed calls"`
	Ended            int64    `json:"ended" doc:"those that have ended"`
	OK               int64    `json:"ok" doc:"those that ended well"`
	Resumed          int64    `json:"resumed" doc:"resumed calls"`
	Forked           int64    `json:"forked" doc:"of the resumed calls, those in a copy because another process had used the session"`
	SessionsCreated  int64    `json:"sessions_created" doc:"sessions created"`
	SessionsReused   int64    `json:"sessions_reused" doc:"sessions that were resumed at least once"`
	ReuseRate        *float64 `json:"reuse_rate" doc:"resumed calls as a share of all"`
	CacheRate        *float64 `json:"cache_rate" doc:"share of the tokens read that came from the cache"`
	TokensPerSession *float64 `json:"tokens_per_session" doc:"tokens of all kinds"`
	MeteredCalls     int64    `json:"metered_calls" doc:"calls of known tokens; the tokens are theirs"`
	Input            int64    `json:"input_tokens" doc:"tokens neither read from nor written to a cache"`
	CacheRead        int64    `json:"cache_read_tokens" doc:"tokens read from the cache"`
	CacheWrite       int64    `json:"cache_write_tokens" doc:"tokens written to the cache"`
	Output           int64    `json:"output_tokens" doc:"tokens that the model wrote"`
	PricedCalls      int64    `json:"priced_calls" doc:"calls of known cost; the cost is theirs"`
	MeanMS           *float64 `json:"mean_duration_ms" doc:"milliseconds"`
	view.MoneyReport
}

type comparisonReport struct {
	ControlChains int64          `json:"control_chains" doc:"chains that were held out"`
	ControlCalls  int64          `json:"control_calls" doc:"their calls"`
	TreatedChains int64          `json:"treated_chains" doc:"the others"`
	TreatedCalls  int64          `json:"treated_calls" doc:"their calls"`
	ChangedChains int64          `json:"changed_chains" doc:"chains left out that changed sides"`
	Figures       []figureReport `json:"figures" doc:"what was compared"`
}

type figureReport struct {
	Name       string     `json:"name" doc:"what is compared"`
	Unit       string     `json:"unit" doc:"share, tokens, nano_usd or ms"`
	Control    meanReport `json:"control" doc:"of the calls that were held out"`
	Treated    meanReport `json:"treated" doc:"of the others"`
	Difference meanReport `json:"difference" doc:"treated minus control"`
}

type meanReport struct {
	Mean *float64 `json:"mean" doc:"mean over calls"`
	Low  *float64 `json:"low" doc:"lower end of the interval"`
	High *float64 `json:"high" doc:"upper end of the interval"`
}

type estimateReport struct {
	Rough             bool          `json:"rough" doc:"whether there were fewer than 5 fresh calls of a kind to compare with"`
	ResumedCalls      int64         `json:"resumed_calls" doc:"resumed calls that were compared"`
	FreshCalls        int64         `json:"fresh_calls" doc:"fresh calls they are compared with"`
	ByFirstCalls      int64         `json:"resumed_calls_by_first_calls" doc:"of these, those compared with first calls only"`
	FirstCalls        int64         `json:"first_calls" doc:"these first calls"`
	UncomparableCalls int64         `json:"uncomparable_calls" doc:"resumed calls with too few fresh calls to compare"`
	Figures           []savedReport `json:"figures" doc:"what was compared"`
}

type savedReport struct {
	Name    string   `json:"name" doc:"what is compared"`
	Unit    string   `json:"unit" doc:"tokens, nano_usd or ms"`
	Resumed *float64 `json:"resumed_mean" doc:"mean of the resumed calls"`
	Fresh   *float64 `json:"fresh_mean" doc:"mean of the fresh runs"`
	Saved   *float64 `json:"saved" doc:"by all resumed_calls"`
}

func statsJSON(s stats) statsReport {
	r := statsReport{Schema: "shimctl.stats/1", By: s.By, Groups: []groupReport{}, Total: groupJSON(s.Total), Saved: s.Summary(), Cache: cacheJSON(s.Cached), Quality: qualityJSON(s.Quality), Hour: why.HourJSON(s.Hour), Machines: s.Fleet}
	r.Since, r.Until = periodJSON(s.Filter.Times())
	for _, g := range s.Groups {
		row := groupJSON(g)
		if s.By == history.ByRole {
			g.Key = view.RoleName(g.Key)
		}
		if row.Others = g.Key == history.OtherKeys; g.Key != "" && !row.Others {
			row.Key = &g.Key
		}
		r.Groups = append(r.Groups, row)
	}
	if c := s.Comparison; c != nil {
		r.Comparison = &comparisonReport{c.Control.Chains, c.Control.Calls, c.Treated.Chains, c.Treated.Calls, c.Changed, []figureReport{}}
		for _, f := range c.Figures {
			r.Comparison.Figures = append(r.Comparison.Figures,
				figureReport{f.Key(), f.Unit, meanJSON(f.Control), meanJSON(f.Treated), meanJSON(f.Difference)})
		}
	}
	e := s.Estimate
	r.Estimate = estimateReport{e.Rough, e.Resumed, e.Fresh, e.ByFirst, e.FirstCalls, e.Unlike, []savedReport{}}
	for _, f := range e.Figures {
		r.Estimate.Figures = append(r.Estimate.Figures,
			savedReport{f.Key(), f.Unit, view.Number(f.Resumed), view.Number(f.Fresh), view.Number(f.Saved)})
	}
	return r
}

func groupJSON(g billedGroup) groupReport {
	return groupReport{Calls: g.Calls, Ended: g.Ended, OK: g.OK, Resumed: g.Resumed, Forked: g.Forked, SessionsCreated: g.Created, SessionsReused: g.Reused,
		ReuseRate: view.Number(view.ReuseRate(g.Group)), CacheRate: view.Number(view.CacheRate(g.Group)), TokensPerSession: view.Number(view.TokensPerSession(g.Group)),
		MeteredCalls: g.Metered, Input: g.Input, CacheRead: g.CacheRead, CacheWrite: g.CacheWrite, Output: g.Output,
		PricedCalls: g.Bill.Priced(), MeanMS: view.Number(view.Rate(g.Duration, g.Timed)), MoneyReport: view.MoneyJSON(g.Bill.Total, g.Bill.Source())}
}

func meanJSON(e saving.Mean) meanReport {
	return meanReport{view.Number(e.Mean), view.Number(e.Low), view.Number(e.High)}
}

// periodJSON returns the ends of a period, nil where it has none.
func periodJSON(p history.Period) (since, until *time.Time) {
	if p.Since != history.Always.Since {
		at := p.Since.Time()
		since = &at
	}
	if p.Until != history.Always.Until {
		at := p.Until.Time()
		until = &at
	}
	return since, until
}
