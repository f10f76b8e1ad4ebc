package saving

import (
	"math"
	"testing"

	"reprise/ledger/history"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// calls makes a slice of so many calls that ended well, each with a cost.
func calls(mode rewrite.Mode, reason reason.Code, n, cost, leftOut int64) history.Slice {
	return history.Slice{Tool: "claude", Mode: mode, Reason: reason, Well: true, Counted: true, Priced: true, LeftOutBytes: leftOut,
		Sums: history.Sums{Calls: n, Resumed: map[bool]int64{true: n}[mode.Continues()], Ended: n, OK: n, Metered: n, Input: n * cost / 1e6,
			Priced: n, Cost: n * cost}}
}

func first(n, cost int64) history.Slice { return calls(rewrite.Fresh, reason.FirstCall, n, cost, 0) }
func guarded(n, cost int64) history.Slice {
	return calls(rewrite.Fresh, reason.Idle, n, cost, 0)
}
func resumed(n, cost, leftOut int64) history.Slice {
	return calls(rewrite.Resume, reason.Extends, n, cost, leftOut)
}

// without returns the slice as of a tool that reports no cost, or neither cost nor tokens.
func without(s history.Slice, tokens bool) history.Slice {
	s.Priced, s.Sums.Priced, s.Cost = false, 0, 0
	if tokens {
		s.Counted, s.Metered, s.Input = false, 0, 0
	}
	return s
}

// The headline says no more than what was counted, and on what the rest is founded.
func TestHeadline(t *testing.T) {
	failed := resumed(1, 50e6, 9000)
	failed.Well = false
	observed := calls(rewrite.Observe, "", 7, 1e6, 0)
	login := func(s history.Slice) history.Slice {
		s.Login = true
		return s
	}
	perToken := func(s history.Slice) (int64, bool) { return s.Input * 1e6, true }
	for _, tt := range []struct {
		name, want string
		slices     []history.Slice
		price      Price
	}{
		{"none", "no managed call has been made", []history.Slice{observed}, nil},
		{"fresh", "the only call was not resumed", []history.Slice{first(1, 1), observed}, nil},
		{"one", "resumed 1 of 2 calls; at least 41 kB of its prompt were left out, since the session held them; " +
			"it cost about $0.0200 less than 1 first call would have (rough estimate from 1 first call)",
			[]history.Slice{first(1, 30e6), resumed(1, 10e6, 41_999)}, nil},
		{"with a login", "resumed 1 of 2 calls; at least 41 kB of its prompt were left out, since the session held them; " +
			"it cost about 20 weighted tokens less than 1 first call would have (rough estimate from 1 first call)",
			[]history.Slice{login(first(1, 30e6)), login(resumed(1, 10e6, 41_999))}, nil},
		{"mostly with a key", "resumed 3 of 4 calls; at least 9.0 kB of their prompts were left out, since the sessions held them; " +
			"they cost about $0.0600 less than 3 first calls would have (rough estimate from 1 first call)",
			[]history.Slice{first(1, 30e6), login(resumed(1, 10e6, 3000)), resumed(2, 10e6, 6000)}, nil},
		{"dearer", "resumed 2 of 8 calls; their prompts were sent whole; " +
			"they cost about $0.0400 more than 2 fresh calls would have (estimate from 6 fresh calls)",
			[]history.Slice{guarded(6, 10e6), resumed(2, 30e6, 0)}, nil},
		{"equal", "resumed 1 of 2 calls; its prompt was sent whole; it cost about as much as 1 first call would have (rough estimate from 1 first call)",
			[]history.Slice{first(1, 10e6), resumed(1, 10e6, 0)}, nil},
		{"failed", "resumed 2 of 3 calls; at least 12 kB of their prompts were left out, since the sessions held them; " +
			"1 of them cost about $0.0200 less than 1 first call would have (rough estimate from 1 first call)",
			[]history.Slice{first(1, 30e6), resumed(1, 10e6, 3000), failed}, nil},
		{"only failed", "resumed 1 of 2 calls; at least 9.0 kB of its prompt were left out, since the session held them", []history.Slice{first(1, 30e6), failed}, nil},
		{"no price", "resumed 1 of 2 calls; at least 3.0 kB of its prompt were left out, since the session held them; " +
			"it cost about 20 weighted tokens less than 1 first call would have (rough estimate from 1 first call)",
			[]history.Slice{without(first(1, 30e6), false), without(resumed(1, 10e6, 3000), false)}, nil},
		{"list price", "resumed 1 of 2 calls; at least 3.0 kB of its prompt were left out, since the session held them; " +
			"it cost about $0.0200 less than 1 first call would have (rough estimate from 1 first call)",
			[]history.Slice{without(first(1, 30e6), false), without(resumed(1, 10e6, 3000), false)}, perToken},
		{"no figure", "resumed 1 of 2 calls; at least 3.0 kB of its prompt were left out, since the session held them",
			[]history.Slice{without(first(1, 30e6), true), without(resumed(1, 10e6, 3000), true)}, perToken},
	} {
		s := New(tt.slices, nil, nil, tt.price)
		if got := s.Headline(); got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, got, tt.want)
		}
		sum := 0.0
		for _, slice := range tt.slices {
			sum += s.Share(Cost)(slice)
		}
		if saved := float64(s.Saved(Cost)); !math.IsNaN(saved) && math.Abs(saved-sum) > 1 {
			t.Errorf("%s: the shares add up to %v, not %v", tt.name, sum, saved)
		}
	}
}

// A control group says how much less a call took. What was saved in all stays an estimate: other calls were made while nothing was held out.
func TestMeasuredHeadline(t *testing.T) {
	slices := []history.Slice{first(1, 30e6), resumed(1, 10e6, 0)}
	estimated := New(slices, nil, nil, nil)
	for share, want := range map[float64]string{
		0.5: "cost -52 % a call",
		1:   "no clear difference in cost",
		2:   "cost +94 % a call",
	} {
		s := New(slices, nil, experiment(1, 60, share), nil)
		if got := s.Headline(); got != estimated.Headline()+"; measured against 82 calls held out: "+want {
			t.Errorf("%v: %s", share, got)
		}
		if s.Saved(Cost) != 20e6 || s.Share(Cost)(slices[1]) != 20e6 || s.Summary().Basis != Rough {
			t.Errorf("%v: %v saved", share, s.Saved(Cost))
		}
		if got := New(slices[1:], nil, experiment(1, 60, share), nil).Headline(); got != "resumed 1 of 1 call; its prompt was sent whole; measured against 82 calls held out: "+want {
			t.Errorf("%v, with nothing to estimate by: %s", share, got)
		}
	}
}

// A fresh call in the place of a resumed one would have found in the cache what comes in front of a prompt, if another call had put it
// there shortly before, and no call would have paid for an hour.
func TestEstimateByWhatTheCacheHeld(t *testing.T) {
	sums := func(n, read, write int64) history.Sums {
		return history.Sums{Calls: n, Ended: n, OK: n, Metered: n, CacheRead: read, CacheWrite: write, Priced: n, Cost: 1000 * (write*125 + read*10) / 100}
	}
	slice := func(tool string, mode rewrite.Mode, why reason.Code, s history.Sums) history.Slice {
		return history.Slice{Tool: tool, Mode: mode, Reason: why, Well: true, Counted: true, Priced: true, Sums: s}
	}
	cold := history.Front{Firsts: 1, Ahead: 8_000}
	for _, tt := range []struct {
		name, tool string
		first      history.Front // of a first call
		again      history.Front // of four resumed calls
		hour       int64
		want       float64
	}{
		{"nothing is known", "claude", history.Front{}, history.Front{}, 0, 4 * (12_500 - 2_250)},
		{"after more than five minutes", "claude", cold, history.Front{}, 0, 4 * (12_500 - 2_250)},
		{"within five minutes", "claude", cold, history.Front{Warm: 4}, 0, 4 * (12_500 - 8_000*1.15 - 2_250)},
		{"half of them", "claude", cold, history.Front{Warm: 2}, 0, 4 * (12_500 - 4_000*1.15 - 2_250)},
		{"a part, as resumes show", "claude", cold, history.Front{Missed: 4, Found: 4 * 3_000}, 0, 4 * (12_500 - 3_000*1.15 - 2_250)},
		{"as they show, and that is all", "claude", cold, history.Front{Missed: 4, Found: 4 * 9_000}, 0, 4 * (12_500 - 8_000*1.15 - 2_250)},
		{"less than the first call found", "claude", history.Front{Firsts: 1, Ahead: 8_000, Read: 2_000, Most: 2_000}, history.Front{Missed: 4}, 0,
			4 * (12_500 - 2_250)},
		{"a cache of each session's own", "codex", cold, history.Front{Warm: 4}, 0, 4 * (12_500 - 2_250)},
		{"for an hour", "claude", history.Front{}, history.Front{}, 10_000, 4*(12_500-2_250) - 7_500},
	} {
		read := tt.first.Read
		first, again := slice(tt.tool, rewrite.Fresh, reason.FirstCall, sums(1, read, 10_000-read)), slice(tt.tool, rewrite.Resume, reason.Extends, sums(4, 4*10_000, 4*1_000))
		first.Front, again.Front, first.HourWrite = tt.first, tt.again, tt.hour
		if tt.hour > 0 {
			first.Cost += 1000 * tt.hour * 75 / 100
		}
		all := []history.Slice{first, again}
		s := New(all, nil, nil, nil)
		if got := float64(s.Saved(Weighted)); math.Abs(got-tt.want) > 1 {
			t.Errorf("%s: %v weighted tokens, want %v", tt.name, got, tt.want)
		}
		if got := float64(s.Saved(Cost)); math.Abs(got-1000*tt.want) > 1000 {
			t.Errorf("%s: %v nano-dollars, want %v", tt.name, got, 1000*tt.want)
		}
		for _, f := range Figures {
			if sum := s.Share(f.Key)(first) + s.Share(f.Key)(again); f.Unit != "share" && math.Abs(sum-float64(s.Saved(f.Key))) > 1 {
				t.Errorf("%s: the shares of %s add up to %v, not %v", tt.name, f.Key, sum, s.Saved(f.Key))
			}
		}
	}
}
