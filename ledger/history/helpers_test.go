package history

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
)

const minute decide.Millis = 60_000

// base is long enough to tell a job from others.
var base = "You are the coder of job %d.\n\n" +
	strings.Repeat("Keep every function small and clear. ", 8)

func newLedger(tb testing.TB) (l *ledger.Ledger, path string) {
	tb.Helper()
	path = filepath.Join(tb.TempDir(), "ledger.db")
	l, err := ledger.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	return l, path
}

// execute changes the ledger at path in ways that no call can.
func execute(tb testing.TB, path, query string, args ...any) {
	tb.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query, args...); err != nil {
		tb.Fatal(err)
	}
}

// play makes a call of a named task that ends well, unless change or end change that.
func play(t *testing.T, l *ledger.Ledger, now decide.Millis, change func(*ledger.Call),
	end func(*ledger.Ticket, *ledger.Outcome)) decide.Decision {
	t.Helper()
	c := &ledger.Call{
		Record: ledger.Record{Tool: "claude", Cwd: "/project", Format: rewrite.Text, Task: "t",
			Role: "coder", Rule: "r"},
		Home: "/home/.claude", Prompt: prompt.New(fmt.Sprintf(base, now), l.Key()), Scope: "r",
		Request: decide.Request{Now: now,
			Limits: decide.Limits{TTL: 24 * hour, MaxAge: 24 * hour,
				ContextShare: 0.8, MinBase: 200, Unnamed: rewrite.UnnamedExtends, Unrelated: true}},
		Stored: func(string, string, decide.Stamp) decide.StoredState { return decide.StoredSame },
	}
	if change != nil {
		change(c)
	}
	d, ticket, err := ledger.Begin(l, c)
	if err != nil {
		t.Fatal(err)
	}
	o := &ledger.Outcome{Now: now + 1000, Sent: len(c.Prompt.Text), File: "/f", Stamp: "1",
		Seen: rewrite.StreamState{ID: d.NativeID, Final: true, Content: true, Answer: "done"}}
	if o.Seen.ID == "" {
		o.Seen.ID = fmt.Sprintf("00000000-0000-4000-8000-%012d", ticket.Session)
	}
	if end != nil {
		end(ticket, o)
	}
	if err := l.Finish(ticket, o); err != nil {
		t.Fatal(err)
	}
	return d
}

// fill puts so many calls in a ledger: ten to a chain, one chain in ten held out.
func fill(tb testing.TB, path string, calls int) {
	tb.Helper()
	execute(tb, path, strings.ReplaceAll(`
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 / 10)
		INSERT INTO chains (id, tool, cwd, home, task, role, rule, session_id, created, updated)
		SELECT i, 'claude', '/work/' || (i % 50), '/home/.claude', 'task ' || i, 'role ' || (i % 2), 'rule ' || (i % 5), i, i * 1000, i * 1000
		FROM n WHERE ?1 > 0;
		INSERT INTO sessions (id, chain_id, tool, native_id, state, created, last_used, settings, model, runtime, auth, base, base_opening, base_bytes)
		SELECT id, id, tool, id, 'live', created, updated, '', '', '', '', zeroblob(256), 0, 300 FROM chains;
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 - 1)
		INSERT INTO calls (chain_id, session_id, rule, tool, cwd, started, duration, mode, reason, format, native_id, model,
			prompt_bytes, sent_bytes, input, cache_read, cache_write, output, cost, outcome, exit_code, arm)
		SELECT i / 10 + 1, i / 10 + 1, 'rule ' || ((i / 10 + 1) % 5), 'claude', '/work/' || ((i / 10 + 1) % 50), i * 1000,
			5000 + i * 7919 % 10000,
			CASE WHEN i % 10 = 0 OR i / 10 % 10 = 0 THEN 'fresh' ELSE 'resume' END,
			CASE WHEN i % 10 = 0 THEN 'first_call' WHEN i / 10 % 10 = 0 THEN 'held_out' ELSE 'extends' END,
			'text', printf('00000000-0000-4000-8000-%012d', i / 10), 'model ' || (i % 3), 5000, 500,
			100 + i * 7907 % 100, 20000 + i * 7901 % 1000, 1000, 500, 10000000 + i * 7919 % 1000000,
			CASE WHEN i % 17 = 0 THEN 'failed' ELSE 'ok' END, 0,
			CASE WHEN i / 10 % 10 = 0 THEN 'control' ELSE 'treated' END
		FROM n WHERE ?1 > 0;
		PRAGMA wal_checkpoint(TRUNCATE)`, "?1", strconv.Itoa(calls)))
}
