package ctl

import (
	"slices"
	"time"

	"reprise/fleet"
	"reprise/internal/ctl/saving"
	"reprise/internal/ctl/view"
	"reprise/ledger/history"
)

type statsReport struct {
	Schema     string             `json:"schema" doc:"name of this schema"`
	By         history.By         `json:"by" doc:"what the calls are grouped by"`
	Since      *time.Time         `json:"since" doc:"start of the period, null if all"`
	Until      *time.Time         `json:"until" doc:"end of the period, null if there is none"`
	Groups     []groupReport      `json:"groups" doc:"most calls first; days in order"`
	Total      groupReport        `json:"total" doc:"all of them"`
	Saved      saving.Summary     `json:"saved" doc:"what resuming saved, in short"`
	Comparison *saving.Comparison `json:"comparison" doc:"the control group against the others, null without a group"`
	Estimate   saving.Estimate    `json:"estimate" doc:"against similar fresh calls"`
	Cache      []cacheReport      `json:"cache" doc:"what resumed calls found in the provider's cache"`
	Quality    qualityReport      `json:"quality" doc:"whether the work of resumed chains went as well"`
	Hour       []history.HourRow  `json:"cache_ttl" doc:"what a cache of an hour saved, or would have saved"`
	Machines   *fleet.Sums        `json:"machines,omitempty" doc:"with --store, what the machines did"`
}

type groupReport struct {
	Key              *string     `json:"key" doc:"what its calls have in common"`
	Others           bool        `json:"others,omitempty" doc:"whether these are all groups beyond --limit"`
	Calls            int64       `json:"calls" doc:"managed calls"`
	Ended            int64       `json:"ended" doc:"those that have ended"`
	OK               int64       `json:"ok" doc:"those that ended well"`
	Resumed          int64       `json:"resumed" doc:"resumed calls"`
	Forked           int64       `json:"forked" doc:"of the resumed calls, those in a copy because another process had used the session"`
	SessionsCreated  int64       `json:"sessions_created" doc:"sessions created"`
	SessionsReused   int64       `json:"sessions_reused" doc:"sessions that were resumed at least once"`
	ReuseRate        view.Number `json:"reuse_rate" doc:"resumed calls as a share of all"`
	CacheRate        view.Number `json:"cache_rate" doc:"share of the tokens read that came from the cache"`
	TokensPerSession view.Number `json:"tokens_per_session" doc:"tokens of all kinds"`
	MeteredCalls     int64       `json:"metered_calls" doc:"calls of known tokens; the tokens are theirs"`
	Input            int64       `json:"input_tokens" doc:"tokens neither read from nor written to a cache"`
	CacheRead        int64       `json:"cache_read_tokens" doc:"tokens read from the cache"`
	CacheWrite       int64       `json:"cache_write_tokens" doc:"tokens written to the cache"`
	Output           int64       `json:"output_tokens" doc:"tokens that the model wrote"`
	PricedCalls      int64       `json:"priced_calls" doc:"calls of known cost; the cost is theirs"`
	MeanMS           view.Number `json:"mean_duration_ms" doc:"milliseconds"`
	view.MoneyReport
}

func statsJSON(s stats) statsReport {
	r := statsReport{Schema: "shimctl.stats/1", By: s.By, Groups: []groupReport{}, Total: groupJSON(s.Total), Saved: s.Summary(), Comparison: s.Comparison, Estimate: s.Estimate, Cache: cacheJSON(s.Cached), Quality: qualityJSON(s.Quality), Machines: s.Fleet}
	r.Hour = slices.DeleteFunc(append([]history.HourRow{}, s.Hour...), func(h history.HourRow) bool { return h.Calls+h.Chains == 0 })
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
	return r
}

func groupJSON(g billedGroup) groupReport {
	return groupReport{Calls: g.Calls, Ended: g.Ended, OK: g.OK, Resumed: g.Resumed, Forked: g.Forked, SessionsCreated: g.Created, SessionsReused: g.Reused,
		ReuseRate: view.ReuseRate(g.Group), CacheRate: view.CacheRate(g.Group), TokensPerSession: view.TokensPerSession(g.Group),
		MeteredCalls: g.Metered, Input: g.Input, CacheRead: g.CacheRead, CacheWrite: g.CacheWrite, Output: g.Output,
		PricedCalls: g.Bill.Priced(), MeanMS: view.Rate(g.Duration, g.Timed), MoneyReport: view.MoneyJSON(g.Bill.Total, g.Bill.Source())}
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
