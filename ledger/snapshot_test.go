package ledger

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"reprise/rewrite"
)

// A snapshot's slices add up to what the sums for stats are.
func TestSnapshotAddsUp(t *testing.T) {
	l, _ := newLedger(t)
	if err := fill(l, 2000); err != nil {
		t.Fatal(err)
	}
	s, err := l.Snapshot(Always, 100_000, MostOf{Chains: 7, Calls: 4})
	if err != nil {
		t.Fatal(err)
	}
	days, sides := map[string]Sums{}, map[string]Sums{}
	for _, slice := range s.Slices {
		add := func(to map[string]Sums, key string) {
			sum := to[key]
			sum.Add(slice.Sums)
			to[key] = sum
		}
		add(days, fmt.Sprint(slice.Day))
		if slice.Well {
			add(sides, fmt.Sprint(slice.Tool, slice.Rule, slice.Model, slice.Side()))
		}
	}
	groups, err := l.Groups(ByTool, 0)
	if err != nil || len(groups) != 1 || len(days) != 1 || days["0"] != groups[0].Sums {
		t.Errorf("by day %v, in all %v, %v", days, groups, err)
	}
	want, err := l.Sides(0)
	if err != nil || len(want) != len(sides) {
		t.Errorf("%d sides, want %d, %v", len(sides), len(want), err)
	}
	for _, side := range want {
		if got := sides[fmt.Sprint(side.Tool, side.Rule, side.Model, side.Side)]; got != side.Sums {
			t.Errorf("%+v: %+v", side, got)
		}
	}
	arms, err := l.Arms(0)
	if err != nil || !slices.Equal(s.Arms, arms) {
		t.Errorf("%d chains in arms, want %d, %v", len(s.Arms), len(arms), err)
	}
	if len(s.Chains) != 7 || !slices.IsSortedFunc(s.Chains, func(a, b ChainCalls) int { return cmp.Compare(b.Updated, a.Updated) }) {
		t.Errorf("%d chains", len(s.Chains))
	}
	for _, c := range s.Chains {
		if c.Calls != 10 || len(c.Latest) != 4 || c.Latest[3].ID != c.ID*10 || c.Latest[0].ID != c.ID*10-3 {
			t.Errorf("chain %d: %d calls, the latest %+v", c.ID, c.Calls, c.Latest)
		}
	}
}

// Only what began in the period is in it.
func TestSnapshotPeriod(t *testing.T) {
	l, _ := newLedger(t)
	for i := range 4 {
		playFor(t, l, Millis(i+100)*hour, 1, nil)
	}
	s, err := l.Snapshot(Period{101 * hour, 103 * hour}, 100_000, MostOf{Chains: 1, Calls: 9})
	if err != nil {
		t.Fatal(err)
	}
	var calls int64
	for _, slice := range s.Slices {
		calls += slice.Calls
	}
	if calls != 2 || len(s.Chains) != 1 || s.Chains[0].Calls != 2 || len(s.Chains[0].Latest) != 2 || s.Chains[0].Latest[0].Started != 101*hour {
		t.Errorf("%d calls, chains %+v", calls, s.Chains)
	}
	if s, err = l.Snapshot(Period{200 * hour, 300 * hour}, 100_000, MostOf{Chains: 1, Calls: 9}); err != nil || len(s.Slices)+len(s.Chains) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// A report keeps no call waiting, and what is written meanwhile is not in it.
func TestSnapshotLetsOthersWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	playFor(t, l, 100*hour, 1, nil)
	reader, err := OpenExisting(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	calls := func(q rowsQueryer) (n int64) {
		list, err := slicesOf(q, Always, 100_000)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			n += s.Calls
		}
		return n
	}
	err = reader.inOneMoment(func(q rowsQueryer) error {
		before := calls(q)
		if d := playFor(t, l, 101*hour, 1, nil); d.Mode == rewrite.Passthrough {
			t.Errorf("a call was kept waiting: %+v", d)
		}
		if after := calls(q); before != 1 || after != 1 {
			t.Errorf("%d calls, then %d", before, after)
		}
		return nil
	})
	if n := calls(l.db); err != nil || n != 2 {
		t.Errorf("%d calls, %v", n, err)
	}
}
