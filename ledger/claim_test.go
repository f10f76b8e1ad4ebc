package ledger

import (
	"slices"
	"sync"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite/reason"
)

// Of several calls that pass a budget at the same moment one tells of it, and each budget has its own period.
func TestClaimTold(t *testing.T) {
	l, _ := newLedger(t)
	now := decide.Millis(1_800_000_000_000)
	budget := decide.Budget{CallsPerHour: 2, NanoPerDay: 5, TokensPerJob: 7}
	all := budget.Passed(decide.Spending{Calls: 3, Cost: 5, JobTokens: 7})
	keys := func(some []decide.Passed) (names []string) {
		for _, p := range some {
			names = append(names, p.Key)
		}
		return names
	}
	claim := func(task string, chain int64, why reason.Code, now decide.Millis) []string {
		c := testCall(l, "Do it.", now)
		c.Task = task
		due, err := l.ClaimTold(c, chain, why, all)
		if err != nil {
			t.Error(err)
		}
		return keys(due)
	}
	var claims [4][]string
	var claiming sync.WaitGroup
	for i := range claims {
		claiming.Go(func() { claims[i] = claim("a", 1, reason.Extends, now) })
	}
	claiming.Wait()
	if got := slices.Concat(claims[:]...); !slices.Equal(got, []string{"calls_per_hour", "dollars_per_day", "tokens_per_job"}) {
		t.Errorf("at once: %q", claims)
	}
	const hour = 3_600_000
	for _, tt := range []struct {
		what  string
		task  string
		chain int64
		why   reason.Code
		after decide.Millis
		want  []string
	}{
		{"within the hour", "a", 1, reason.Extends, hour, nil},
		{"in the next hour", "a", 1, reason.Extends, hour + 1, []string{"calls_per_hour"}},
		{"another chain", "b", 2, reason.Extends, hour, keys(all)},
		{"repeated prompts", "", 3, reason.Identical, hour, keys(all)},
		{"once more, of another chain", "", 4, reason.Identical, hour, nil},
		{"stopped", "", 0, reason.TooManyCalls, hour, nil},
		{"the next day", "a", 1, reason.Extends, 25 * hour, []string{"calls_per_hour", "dollars_per_day"}},
		{"by a clock that was set back", "a", 1, reason.Extends, 2 * hour, []string{"calls_per_hour", "dollars_per_day"}},
	} {
		if got := claim(tt.task, tt.chain, tt.why, now+tt.after); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
}
