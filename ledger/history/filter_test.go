package history

import (
	"fmt"
	"testing"

	"reprise/ledger"
	"reprise/rewrite/reason"
)

// Every view selects the same calls by a filter.
func TestFilter(t *testing.T) {
	l, path := newLedger(t)
	fill(t, path, 300)
	execute(t, path, `UPDATE chains SET role = 'role ' || (id % 3);
		UPDATE calls SET tool = 'codex' WHERE chain_id % 4 = 0;
		UPDATE chains SET tool = 'codex' WHERE id % 4 = 0;
		UPDATE sessions SET tool = 'codex' WHERE chain_id % 4 = 0;
		UPDATE chains SET created = (id - 1) * 10000, updated = id * 10000;
		UPDATE calls SET cwd = '/work/1' || CASE chain_id % 3 WHEN 0 THEN '' WHEN 1 THEN '/below' ELSE '0' END;
		UPDATE calls SET outcome = NULL WHERE id % 13 = 0;
		UPDATE calls SET detail = 'short_prompt' WHERE id % 5 = 0;
		UPDATE calls SET mode = 'fresh', fell_back = 'refused_other' WHERE id % 11 = 0`)
	for name, tt := range map[string]struct {
		f    Filter
		want func(ledger.Record) bool
	}{
		"all": {Filter{}, func(ledger.Record) bool { return true }},
		"period": {Filter{Since: 90_000}, func(i ledger.Record) bool {
			return i.Started >= 90_000
		}},
		"chain": {Filter{Chain: 7}, func(i ledger.Record) bool { return i.Chain == 7 }},
		"tool": {Filter{Tool: "codex"}, func(i ledger.Record) bool {
			return i.Tool == "codex"
		}},
		"directory": {Filter{Directory: "/work/1"}, func(i ledger.Record) bool {
			return i.Cwd == "/work/1" || i.Cwd == "/work/1/below"
		}},
		"root": {Filter{Directory: "/"}, func(ledger.Record) bool { return true }},
		"task": {Filter{Task: "task 7"}, func(i ledger.Record) bool {
			return i.Task == "task 7"
		}},
		"role": {Filter{Role: "role 2"}, func(i ledger.Record) bool {
			return i.Role == "role 2"
		}},
		"reason": {Filter{Reason: reason.Extends}, func(i ledger.Record) bool {
			return i.Reason == reason.Extends
		}},
		"detail": {Filter{Reason: "short_prompt"}, func(i ledger.Record) bool {
			return i.Detail == "short_prompt"
		}},
		"refused": {Filter{Reason: "refused_other"}, func(i ledger.Record) bool {
			return i.FellBack == "refused_other"
		}},
		"many": {Filter{Tool: "claude", Role: "role 1", Since: 90_000},
			func(i ledger.Record) bool {
				return i.Tool == "claude" && i.Role == "role 1" && i.Started >= 90_000
			}},
		"none": {Filter{Task: "no such"}, func(ledger.Record) bool { return false }},
	} {
		t.Run(name, func(t *testing.T) {
			calls, chains := map[int64]bool{}, map[int64]bool{}
			all, err := LatestCalls(l, Query{})
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range all {
				if tt.want(i) {
					calls[i.ID], chains[i.Chain] = true, true
				}
			}
			for view, got := range counts(t, l, tt.f) {
				want := len(calls)
				if view == "chains" || view == "sessions" || view == "arms" {
					want = len(chains)
				}
				if got != want {
					t.Errorf("%s has %d, want %d", view, got, want)
				}
			}
		})
	}
}

// counts returns how many calls, chains and sessions each view selects.
func counts(t *testing.T, l *ledger.Ledger, f Filter) map[string]int {
	t.Helper()
	got := map[string]int{}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	rows, err := LatestCalls(l, Query{Filter: f})
	check(err)
	got["log"] = len(rows)
	chains, err := Chains(l, Query{Filter: f})
	check(err)
	got["chains"] = len(chains)
	slices, err := Slices(l, f, 100_000)
	check(err)
	for _, slice := range slices {
		got["slices"] += int(slice.Calls)
	}
	arms, err := Arms(l, f)
	check(err)
	for _, arm := range arms {
		got["arms"] += int(arm)
	}
	for _, by := range Bys {
		groups, err := Groups(l, by, f, 100_000, 0)
		check(err)
		for _, g := range groups {
			got[fmt.Sprint("groups by ", by)] += int(g.Calls)
		}
	}
	return got
}
