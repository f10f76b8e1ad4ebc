package history

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
)

// A snapshot's slices add up to what the sums for stats are.
func TestSnapshotAddsUp(t *testing.T) {
	l, path := newLedger(t)
	fill(t, path, 2000)
	s, err := ReadSnapshot(l, Filter{}, 100_000, SnapshotLimits{Chains: 7, Calls: 4, Keys: 50})
	if err != nil {
		t.Fatal(err)
	}
	days := map[string]Sums{}
	for _, slice := range s.Slices {
		sum := days[fmt.Sprint(slice.Day)]
		sum.Add(slice.Sums)
		days[fmt.Sprint(slice.Day)] = sum
	}
	groups, err := Groups(l, ByTool, Filter{}, 100_000, 0)
	if err != nil || len(groups) != 1 || len(days) != 1 || days["0"] != groups[0].Sums {
		t.Errorf("by day %v, in all %v, %v", days, groups, err)
	}
	cwds, tasks := map[string]int64{}, map[string]int64{}
	for _, slice := range s.Slices {
		cwds[slice.Cwd] += slice.Calls
		tasks[slice.Task] += slice.Calls
	}
	if len(cwds) != 50 || cwds["/work/49"] != 40 || len(tasks) != 50 || tasks["task 1"] != 10 || tasks[OtherKeys] != 1510 {
		t.Errorf("by directory %v, by task %v", cwds, tasks)
	}
	arms, err := Arms(l, Filter{})
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

// What slices sum up is what their calls are, also where numbers are missing and the calls
// fill more pieces than one.
func TestSlicesAreTheirCalls(t *testing.T) {
	l, path := newLedger(t)
	fill(t, path, 3*pieceSize)
	execute(t, path, `DELETE FROM invocations WHERE id BETWEEN ?1 / 2 AND 5 * ?1 / 2;
		UPDATE invocations SET outcome = NULL, duration = NULL, input = NULL, cost = NULL WHERE id % 7 = 0;
		UPDATE invocations SET fell_back = 'session_dead', model = NULL WHERE id % 11 = 0;
		UPDATE invocations SET cache_read = 100000 WHERE id % 13 = 0;
		UPDATE invocations SET mode = 'fork' WHERE mode = 'resume' AND id % 5 = 0;
		UPDATE invocations SET started = started * 1000`, pieceSize)
	period := Period{1000, 3*pieceSize*1_000_000 - 5_000_000}
	want := map[Slice]Slice{}
	for i, err := range Invocations(l, Filter{Period: Period{period.Since, Always.Until}}) {
		if err != nil {
			t.Fatal(err)
		}
		if i.Started >= period.Until {
			continue
		}
		key := Slice{Day: i.Started / day * day, Tool: i.Tool, Rule: i.Rule, Role: i.Role, Model: i.Model, Mode: i.Mode, Reason: i.Reason, FellBack: i.FellBack,
			Arm: i.Arm, Well: i.Outcome == "ok", Counted: i.Input.Valid, Priced: i.Cost.Valid,
			Long: i.Input.Valid && i.Input.Int64+i.CacheRead.Int64+i.CacheWrite.Int64 > 100_000}
		one := func(is bool) int64 {
			if is {
				return 1
			}
			return 0
		}
		s, known := want[key]
		if !known {
			s = key
		}
		s.Sums.Add(Sums{Calls: 1, Resumed: one(i.Mode.Continues()), Forked: one(i.Mode == rewrite.Fork), Ended: one(i.Outcome != ""), OK: one(key.Well), Metered: one(key.Counted),
			Input: i.Input.Int64, CacheRead: i.CacheRead.Int64, CacheWrite: i.CacheWrite.Int64, Output: i.Output.Int64,
			Priced: one(key.Priced), Cost: i.Cost.Int64, Timed: one(i.Duration.Valid), Duration: i.Duration.Int64})
		s.Created += one(i.Mode != rewrite.Resume || i.NativeID != i.ResumedFrom)
		s.PromptBytes, s.SentBytes, s.LeftOutBytes = s.PromptBytes+i.PromptBytes, s.SentBytes+i.SentBytes, s.LeftOutBytes+max(0, i.PromptBytes-i.SentBytes)
		want[key] = s
	}
	got, err := Slices(l, Filter{Period: period}, 100_000)
	if err != nil || len(got) != len(want) || len(got) < 50 {
		t.Fatalf("%d slices, want %d, %v", len(got), len(want), err)
	}
	for _, s := range got {
		key := s
		key.Sums, key.Created, key.PromptBytes, key.SentBytes, key.LeftOutBytes = Sums{}, 0, 0, 0, 0
		if want[key] != s {
			t.Errorf("got  %+v\nwant %+v", s, want[key])
		}
	}
	if !slices.IsSortedFunc(got, func(a, b Slice) int { return cmp.Compare(a.Day, b.Day) }) {
		t.Error("they are not in the order of their days")
	}
}

// Only what began in the period is in it.
func TestSnapshotPeriod(t *testing.T) {
	l, _ := newLedger(t)
	for i := range 4 {
		play(t, l, decide.Millis(i+100)*hour, nil, nil)
	}
	s, err := ReadSnapshot(l, Filter{Period: Period{101 * hour, 103 * hour}}, 100_000, SnapshotLimits{Chains: 1, Calls: 9})
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
	if s, err = ReadSnapshot(l, Filter{Period: Period{200 * hour, 300 * hour}}, 100_000, SnapshotLimits{Chains: 1, Calls: 9}); err != nil || len(s.Slices)+len(s.Chains) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// A report keeps no call waiting, and what is written meanwhile is not in it.
func TestSnapshotLetsOthersWrite(t *testing.T) {
	l, path := newLedger(t)
	play(t, l, 100*hour, nil, nil)
	reader, err := ledger.OpenExisting(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	calls := func(q ledger.Queryer) (n int64) {
		list, err := readSlices(q, Filter{}, 100_000, "''", "''")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			n += s.Calls
		}
		return n
	}
	err = reader.InOneMoment(func(q ledger.Queryer) error {
		before := calls(q)
		if d := play(t, l, 101*hour, nil, nil); d.Mode == rewrite.Passthrough {
			t.Errorf("a call was kept waiting: %+v", d)
		}
		if after := calls(q); before != 1 || after != 1 {
			t.Errorf("%d calls, then %d", before, after)
		}
		return nil
	})
	if n := calls(l); err != nil || n != 2 {
		t.Errorf("%d calls, %v", n, err)
	}
}

// The group with the most calls comes first, however many of them were resumed.
func TestGroupsInOrder(t *testing.T) {
	l, path := newLedger(t)
	fill(t, path, 20)
	execute(t, path, "UPDATE invocations SET rule = CASE WHEN id <= 11 THEN 'many' ELSE 'few' END")
	groups, err := Groups(l, ByRule, Filter{}, 100_000, 0)
	if err != nil || len(groups) != 2 || groups[0].Key != "many" || groups[0].Resumed >= groups[1].Resumed {
		t.Errorf("%+v, %v", groups, err)
	}
}

// With a limit, the keys with the most calls are told apart, and the others stand in one group that is last and of several.
func TestGroupsAreLimited(t *testing.T) {
	l, path := newLedger(t)
	fill(t, path, 2000)
	all, err := Groups(l, ByTask, Filter{}, 100_000, 0)
	if err != nil || len(all) != 200 {
		t.Fatalf("%d groups, %v", len(all), err)
	}
	for _, most := range []int{1, 50, 199, 200} {
		groups, err := Groups(l, ByTask, Filter{}, 100_000, most)
		if err != nil || len(groups) != most {
			t.Fatalf("%d groups, want %d, %v", len(groups), most, err)
		}
		var sum, want Sums
		var reused, created, wantReused, wantCreated int64
		for i, g := range groups {
			sum.Add(g.Sums)
			reused, created = reused+g.Reused, created+g.Created
			if is := g.Key == OtherKeys; is != (most < 200 && i == most-1) {
				t.Errorf("of %d, number %d is of all others: %t", most, i, is)
			}
		}
		for _, g := range all {
			want.Add(g.Sums)
			wantReused, wantCreated = wantReused+g.Reused, wantCreated+g.Created
		}
		if sum != want || reused != wantReused || created != wantCreated {
			t.Errorf("%d groups add up to %+v, want %+v; %d and %d sessions, want %d and %d", most, sum, want, reused, created, wantReused, wantCreated)
		}
	}
}

// A directory whose name is not UTF-8 is a key like any other.
func TestGroupsOfOddNames(t *testing.T) {
	l, path := newLedger(t)
	fill(t, path, 100)
	execute(t, path, "UPDATE invocations SET cwd = CAST(x'2f77ff' AS TEXT)")
	if groups, err := Groups(l, ByCwd, Filter{}, 100_000, 50); err != nil || len(groups) != 1 || groups[0].Key != "/w\xff" {
		t.Errorf("%+v, %v", groups, err)
	}
}

// Bounded goes by the latest calls, whatever their numbers are.
func TestBounded(t *testing.T) {
	l, path := newLedger(t)
	fill(t, path, 200)
	execute(t, path, "UPDATE invocations SET started = id * 10; DELETE FROM invocations WHERE id BETWEEN 90 AND 110")
	for most, want := range map[int64]decide.Millis{1000: 7, 50: 1501, 100: 791, 178: 11, 179: 7} {
		if since, err := Bounded(l, 7, most); since != want || err != nil {
			t.Errorf("%d calls since %d, want %d, %v", most, since, want, err)
		}
	}
}
