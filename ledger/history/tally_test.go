package history

import (
	"fmt"
	"testing"

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
		INSERT INTO calls (chain_id, session_id, tool, cwd, started, duration, mode, reason, format, native_id, model,
			prompt_bytes, sent_bytes, input, output, cost, outcome, exit_code)
		SELECT 1, 1, 'claude', '/p', i * 1000, 500, iif(i % 2, 'fresh', 'resume'), 'extends', 'text', 'an-id', 'claude-opus-5',
			100, 10, 5, 6, 7, iif(i % 10, 'ok', NULL), 0 FROM n`, calls)
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
