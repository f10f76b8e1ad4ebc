package decide

import (
	"testing"

	"reprise/rewrite"
)

// Two resumes that missed the cache and cost more than the fresh run before them speak against a third after the same pause, unless
// the provider was asked in the meantime to keep for an hour what was written.
func TestPastPrices(t *testing.T) {
	const pause = 2 * BriefIdle
	run := func(side Side, idle Millis, missed bool, written int64) Run {
		return Run{Side: side, Idle: idle, Held: 20_000, Missed: missed, Found: -1, Usage: rewrite.Usage{CacheWrite: written}}
	}
	first, miss, hit := run(FirstRun, 0, false, 20_000), run(Resumed, pause, true, 22_000), run(Resumed, pause, false, 1_000)
	fresh := run(FollowUp, 0, false, 20_000)
	hour := fresh
	hour.Hour = true
	// A resume that costs less than the cold first run, and finds 8,000 tokens of what comes in front of the prompt.
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
		p, ok := PastPrices(tt.past, tt.idle, 20_000)
		if got := ok && p.Dearer(); got != tt.want {
			t.Errorf("%s: %+v, %v", name, p, ok)
		}
	}
}
