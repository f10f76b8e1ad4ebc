package history

import (
	"fmt"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// putCalls puts calls into the ledger, a second apart.
func putCalls(tb testing.TB, path string, calls int) {
	tb.Helper()
	execute(tb, path, `
		INSERT INTO chains (id, tool, cwd, home, task, role, created, updated) VALUES (1, 'claude', '/p', '/h', 'ABC-1', 'coder', 1, 1);
		INSERT INTO sessions (id, chain_id, tool, state, created, last_used, settings, model, runtime, auth, base, base_opening, base_bytes)
			VALUES (1, 1, 'claude', 'live', 1, 1, '', 'opus', '', '', x'', 0, 0)`)
	execute(tb, path, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO invocations (chain_id, session_id, tool, cwd, started, duration, mode, reason, format, native_id, model,
			prompt_bytes, sent_bytes, input, output, cost, outcome, exit_code)
		SELECT 1, 1, 'claude', '/p', i * 1000, 500, iif(i % 2, 'fresh', 'resume'), 'extends', 'text', 'an-id', 'claude-opus-5',
			100, 10, 5, 6, 7, iif(i % 10, 'ok', NULL), 0 FROM n`, calls)
}

func TestInvocations(t *testing.T) {
	const calls = 2*batch + 7
	l, path := newLedger(t)
	putCalls(t, path, calls)
	for since, want := range map[decide.Millis]int{0: calls, 1000: calls, 1001: calls - 1, 1_500_000: calls - 1499, calls * 1000: 1, calls*1000 + 1: 0} {
		n, last := 0, int64(0)
		for i, err := range Invocations(l, Filter{Period: Period{since, Always.Until}}) {
			if err != nil {
				t.Fatal(err)
			}
			if i.ID <= last || i.Started < since {
				t.Fatalf("call %d of %d after %d", i.ID, i.Started, last)
			}
			if i.Task != "ABC-1" || i.Asked != "opus" || i.Model != "claude-opus-5" || i.Output.Int64 != 6 || i.CacheRead.Valid {
				t.Fatalf("%+v", i)
			}
			n, last = n+1, i.ID
		}
		if n != want {
			t.Errorf("since %d: %d calls, want %d", since, n, want)
		}
	}
	for range Invocations(l, Filter{}) { // the connection is free again after a break
		break
	}
	if err := l.CheckWritable(); err != nil {
		t.Error(err)
	}
	l.Close()
	n := 0
	for _, err := range Invocations(l, Filter{}) {
		if n++; err == nil {
			t.Error("a closed ledger is read")
		}
	}
	if n != 1 {
		t.Errorf("%d errors", n)
	}
}

func TestTallies(t *testing.T) {
	l, path := newLedger(t)
	putCalls(t, path, 100)
	tallies, err := Tallies(l, Filter{})
	if err != nil || len(tallies) != 3 {
		t.Fatalf("%+v, %v", tallies, err)
	}
	want := Tally{Tool: "claude", Mode: rewrite.Fresh, Reason: reason.Extends, Outcome: "ok", Calls: 50}
	if tallies[0] != want {
		t.Errorf("%+v\nwant %+v", tallies[0], want)
	}
	if got := fmt.Sprintf("%q %d, %q %d", tallies[1].Outcome, tallies[1].Calls, tallies[2].Outcome, tallies[2].Calls); got != `"" 10, "ok" 40` {
		t.Error(got)
	}
}

func BenchmarkInvocations(b *testing.B) {
	l, path := newLedger(b)
	const calls = 100_000
	putCalls(b, path, calls)
	for b.Loop() {
		n := 0
		for _, err := range Invocations(l, Filter{}) {
			if n++; err != nil {
				b.Fatal(err)
			}
		}
		if n != calls {
			b.Fatal(n)
		}
	}
}
