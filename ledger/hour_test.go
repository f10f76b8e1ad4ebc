package ledger

import (
	"testing"

	"reprise/ledger/decide"
)

// hourCall makes a call that can ask for an hour, in a session of 10 000 tokens with found of them
// in the cache, and reports whether it asked.
func hourCall(t *testing.T, l *Ledger, now decide.Millis, task string, found int64, can bool) bool {
	t.Helper()
	asked := false
	callWith(t, l, now, task, request{10_000, found}, request{10_000, found}, 10_000,
		func(c *Call) { c.MayKeepHour = can }, func(t *Ticket) { asked = t.Hour })
	return asked
}

func TestHourIsAskedForWherePausesPay(t *testing.T) {
	const start = 100 * hour
	for _, tt := range []struct {
		name   string
		pauses []decide.Millis
		found  []int64 // by each call, the first included
		asked  []bool
	}{
		{"ten minutes", []decide.Millis{10 * minute, 10 * minute}, []int64{0, 0, 9_900},
			[]bool{false, true, true}},
		{"one minute", []decide.Millis{minute, minute}, []int64{0, 9_900, 9_900},
			[]bool{false, false, false}},
		{"two hours", []decide.Millis{120 * minute, 120 * minute}, []int64{0, 0, 0},
			[]bool{false, false, false}},
		{"a slow round among fast ones", []decide.Millis{minute, 10 * minute, minute},
			[]int64{0, 9_900, 0, 9_900}, []bool{false, false, true, true}},
		{"resumes that never find anything", []decide.Millis{minute, 10 * minute, 10 * minute},
			[]int64{0, 0, 0, 0}, []bool{false, false, false, false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, _ := newLedger(t)
			now := decide.Millis(start)
			for i, want := range tt.asked {
				if i > 0 {
					now += tt.pauses[i-1]
				}
				if got := hourCall(t, l, now, "t", tt.found[i], true); got != want {
					t.Errorf("call %d asked: %v", i+1, got)
				}
			}
		})
	}
}

// A first call asks if the chains of its kind had such pauses, and only if the user allows it.
func TestFirstCallAsksForAnHourLikeOthers(t *testing.T) {
	l, _ := newLedger(t)
	const start = 100 * hour
	hourCall(t, l, start, "one", 0, false)
	if hourCall(t, l, start+10*minute, "one", 0, false) {
		t.Error("a call asked although it can not")
	}
	hourCall(t, l, start+20*minute, "one", 0, false)
	if !hourCall(t, l, start+30*minute, "two", 0, true) {
		t.Error("the first call of a like chain did not ask")
	}
}

// A chain does not pay to learn a fact that the chains of its kind have shown: that a resume of
// their model finds only the beginning.
func TestHourIsNotAskedForAgainInVain(t *testing.T) {
	l, _ := newLedger(t)
	now := decide.Millis(100 * hour)
	asked := map[string]int{}
	for _, task := range []string{"one", "two"} {
		for i, found := range []int64{0, 0, 0, 2_000, 2_000, 2_000} {
			if hourCall(t, l, now, task, found, true) {
				asked[task]++
			}
			if now += 10 * minute; i == 4 {
				now += hour
			}
		}
	}
	if asked["one"] == 0 || asked["two"] != 0 {
		t.Errorf("asked: %v", asked)
	}
}
