package decide

import (
	"math"
	"testing"

	"reprise/rewrite"
)

// Two resumes that missed the cache and cost more than the fresh run before them speak against a
// third after the same pause, unless the provider was asked in the meantime to keep written tokens
// for an hour.
func TestPastPrices(t *testing.T) {
	const pause = 2 * BriefIdle
	run := func(side Side, idle Millis, missed bool, written int64) Run {
		return Run{Side: side, Idle: idle, HeldTokens: 20_000, Missed: missed, Found: -1,
			Usage: rewrite.Usage{CacheWrite: written}}
	}
	first, miss, hit := run(FirstRun, 0, false, 20_000), run(Resumed, pause, true, 22_000),
		run(Resumed, pause, false, 1_000)
	fresh := run(FollowUp, 0, false, 20_000)
	hour := fresh
	hour.Hour = true
	// A resume that costs less than the cold first run, and finds the 8,000 tokens in front of the
	// prompt.
	front, cold := run(Resumed, pause, true, 13_000), first
	front.Found, front.Usage.CacheRead, cold.Found = 8_000, 8_000, 0
	warm := cold
	warm.Found = 8_000
	for name, tt := range map[string]struct {
		past []Run
		idle Millis
		want bool
	}{
		"two misses":               {[]Run{miss, miss, first}, pause, true},
		"one miss":                 {[]Run{miss, first}, pause, false},
		"a hit between":            {[]Run{miss, hit, miss, first}, pause, false},
		"a shorter pause":          {[]Run{miss, miss, first}, BriefIdle - 1, false},
		"a longer pause":           {[]Run{miss, miss, first}, HourIdle, true},
		"fresh since":              {[]Run{fresh, miss, miss, first}, pause, true},
		"an hour since":            {[]Run{hour, miss, miss, first}, pause, false},
		"an hour since, and after": {[]Run{hour, miss, miss, first}, HourIdle, true},
		"a cold first run":         {[]Run{front, front, cold}, pause, true},
		"a first run as warm":      {[]Run{front, front, warm}, pause, false},
		"of one it is not known":   {[]Run{front, miss, cold}, pause, false},
		"no fresh run":             {[]Run{miss, miss}, pause, false},
		"nothing":                  {nil, pause, false},
	} {
		p, ok := pastPrices(tt.past, tt.idle, 20_000)
		if got := ok && p.Dearer(); got != tt.want {
			t.Errorf("%s: %+v, %v", name, p, ok)
		}
	}
}

// Tokens by their weights, unless the cost of each run is known. Of a fresh run the first request
// is priced as if it had found in the cache as much as the least of the resumes.
func TestPricesOfRuns(t *testing.T) {
	usage := func(input, read, written, output int64) rewrite.Usage {
		return rewrite.Usage{Input: input, CacheRead: read, CacheWrite: written, Output: output}
	}
	costs := func(r Run, nano int64) Run {
		r.Usage.CostKnown, r.Usage.CostNano = true, nano
		return r
	}
	fresh := Run{Side: FollowUp, Found: 500, Usage: usage(1_000, 2_000, 4_000, 100)}
	first := fresh
	first.Side = FirstRun
	hit := Run{Side: Resumed, HeldTokens: 10_000, Found: 9_000, Usage: usage(10, 9_000, 300, 20),
		Began: 77}
	missed := func(found, written int64) Run {
		return Run{Side: Resumed, Missed: true, HeldTokens: 10_000, Found: found,
			Usage: usage(0, found, written, 0), Began: 78}
	}
	unknown := fresh
	unknown.Found = -1
	for name, tt := range map[string]struct {
		past []Run
		want Prices
	}{
		"tokens": {[]Run{hit, hit, fresh},
			Prices{Fresh: 1_000 + 200 + 5_000 + 500, Resumed: 10 + 900 + 375 + 100, Last: 77}},
		"money": {[]Run{costs(hit, 30), costs(hit, 20), costs(first, 90)},
			Prices{Fresh: 90, Resumed: 20, Last: 77, Money: true}},
		"one resume's cost is not known": {[]Run{hit, costs(hit, 20), costs(fresh, 90)},
			Prices{Fresh: 6_700, Resumed: 1_385, Last: 77}},
		"misses that held half, and found what was written": {[]Run{missed(3_000, 2_000),
			missed(4_000, 2_000), fresh},
			Prices{Fresh: 1_000 + 450 + 1_875 + 500, Resumed: 2 * (300 + 2_500),
				Last: 78, Missed: true}},
		"misses that found also what was read": {[]Run{missed(9_000, 2_000),
			missed(6_000, 2_000), fresh},
			Prices{Fresh: 700 + 500, Resumed: 2 * (600 + 2_500), Last: 78, Missed: true}},
		"misses that found no more": {[]Run{missed(500, 2_000), missed(500, 2_000), fresh},
			Prices{Fresh: 6_700, Resumed: 2 * (50 + 2_500), Last: 78, Missed: true}},
		"nothing is known of the first request": {[]Run{missed(3_000, 2_000),
			missed(3_000, 2_000), unknown},
			Prices{Fresh: 6_700, Resumed: 2 * (300 + 2_500), Last: 78, Missed: true}},
	} {
		p, _ := pastPrices(tt.past, 0, 20_000)
		if p.Fresh = math.Round(p.Fresh); p != tt.want {
			t.Errorf("%s: %+v, want %+v", name, p, tt.want)
		}
	}
}

// The pause after which resuming is tried again lasts as long when the clock was set back.
func TestSuspended(t *testing.T) {
	p := Prices{Fresh: 1, Resumed: 2, Missed: true, Last: 5 * DearerPause}
	for now, want := range map[Millis]bool{p.Last: true, p.Until() - 1: true, p.Until(): false,
		p.Last - DearerPause + 1: true, p.Last - DearerPause: false} {
		if got := p.suspended(now); got != want {
			t.Errorf("at %d: %v", now-p.Last, got)
		}
	}
}
