package ledger

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A round of a named task that takes so many tokens of input.
func playFor(t *testing.T, l *Ledger, now decide.Millis, tokens int64, change func(*Call)) decide.Decision {
	t.Helper()
	c := namedCall(l, "coder", int(now))
	c.Now = now
	if change != nil {
		change(c)
	}
	d, ticket, err := Begin(l, c)
	if err != nil {
		t.Fatal(err)
	}
	id := d.NativeID
	if id == "" {
		id = fmt.Sprintf("00000000-0000-4000-8000-%012d", ticket.Invocation)
	}
	o := goodOutcome(id, "done", now+1)
	o.Seen.Usage = rewrite.Usage{Known: true, Input: tokens}
	finish(t, l, ticket, o)
	return d
}

// Resumes that cost more than the fresh runs of the same rule are given up, and
// tried again after a pause.
func TestDearerResumesAreSuspended(t *testing.T) {
	l, _ := newLedger(t)
	now := 100 * hour
	round := func(tokens int64, want reason.Code, change func(*Call)) {
		t.Helper()
		now += minute
		expect(t, fmt.Sprintf("at minute %d", (now-100*hour)/minute), playFor(t, l, now, tokens, change), want)
	}
	heldOut := func(c *Call) { c.Limits.HoldOut = 1 }
	round(100, reason.FirstCall, nil)
	for range decide.MinRuns {
		round(100, reason.HeldOut, heldOut)
	}
	for range decide.MinRuns {
		round(150, reason.Unrelated, nil)
	}
	round(100, reason.Dearer, nil)
	round(150, reason.Unrelated, func(c *Call) { c.Limits.ResumeDearer = true })
	round(100, reason.FirstCall, func(c *Call) { c.Rule, c.Scope, c.Task = "another", "another", "u" })
	round(150, reason.Unrelated, func(c *Call) { c.Rule, c.Scope, c.Task = "another", "another", "u" })
	round(100, reason.Dearer, nil)

	// The trial is a set of resumes, and is judged by itself.
	now += decide.DearerPause
	round(100, reason.Idle, nil)
	for range decide.MinRuns {
		round(90, reason.Unrelated, nil)
	}
	round(90, reason.Unrelated, nil)

	for range 2 * decide.MeterMemory {
		round(200, reason.Unrelated, func(c *Call) { c.Limits.ResumeDearer = true })
	}
	round(100, reason.Dearer, nil)
	now += decide.DearerPause
	round(100, reason.Idle, nil)
	for range decide.MinRuns {
		round(200, reason.Unrelated, nil)
	}
	round(100, reason.Dearer, nil)
}

// Whether a chain is held out is noted with each of its calls, but only while
// there are two arms.
func TestArms(t *testing.T) {
	l, _ := newLedger(t)
	arms := map[string]int{}
	for task := range 40 {
		var first string
		for round := range 3 {
			now := 100*hour + decide.Millis(task*3+round)*minute
			playFor(t, l, now, 1, func(c *Call) { c.Task, c.Limits.HoldOut = fmt.Sprint(task), 0.5 })
			var arm, why string
			if err := l.db.QueryRow("SELECT arm, reason FROM invocations ORDER BY id DESC").Scan(&arm, &why); err != nil {
				t.Fatal(err)
			}
			if round == 0 {
				first = arm
			}
			if arm != first || round > 0 && (arm == Control) != (why == string(reason.HeldOut)) {
				t.Errorf("task %d, round %d: arm %s after %s, reason %s", task, round, arm, first, why)
			}
		}
		arms[first]++
	}
	if arms[Control]+arms[Treated] != 40 || arms[Control] < 5 || arms[Treated] < 5 {
		t.Errorf("40 chains are shared out as %v", arms)
	}
	for _, holdOut := range []float64{0, 1} {
		playFor(t, l, 200*hour, 1, func(c *Call) { c.Task, c.Limits.HoldOut = "same", holdOut })
		var arm string
		if err := l.db.QueryRow("SELECT arm FROM invocations ORDER BY id DESC").Scan(&arm); err != nil || arm != "" {
			t.Errorf("with %v held out: %q, %v", holdOut, arm, err)
		}
	}
}

// BenchmarkBegin reports whether a decision grows slower with the ledger: a call in a
// ledger of a million invocations should take at most half as long again as in an
// empty one.
func BenchmarkBegin(b *testing.B) {
	for _, calls := range []int{0, 1_000_000} {
		b.Run(fmt.Sprint(calls), func(b *testing.B) {
			l, err := Open(filepath.Join(b.TempDir(), "ledger.db"))
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			if err := fill(l, calls); err != nil {
				b.Fatal(err)
			}
			now := 100_000 * hour
			for b.Loop() {
				now++
				c := namedCallAt(l, now)
				d, ticket, err := Begin(l, c)
				if err != nil {
					b.Fatal(err)
				}
				o := goodOutcome(someID, "done", now)
				o.Seen.Usage = rewrite.Usage{Known: true, Input: 1}
				if err := l.Finish(ticket, o); err != nil {
					b.Fatal(err)
				}
				if now > 100_000*hour+1 && d.Mode != rewrite.Resume {
					b.Fatal(d)
				}
			}
		})
	}
}

func namedCallAt(l *Ledger, now decide.Millis) *Call {
	c := testCall(l, fmt.Sprintf(base, now), now)
	c.Task, c.Rule, c.Scope = "t", "rule 1", "rule 1"
	return c
}

// fill puts so many calls in a ledger: ten to a chain, one chain in ten held out.
func fill(l *Ledger, calls int) error {
	_, err := l.db.Exec(strings.ReplaceAll(`
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 / 10)
		INSERT INTO chains (id, tool, cwd, home, task, role, rule, session_id, created, updated)
		SELECT i, 'claude', '/work/' || (i % 50), '/home/.claude', 'task ' || i, '', 'rule ' || (i % 5), i, i * 1000, i * 1000
		FROM n WHERE ?1 > 0;
		INSERT INTO sessions (id, chain_id, tool, native_id, state, created, last_used, settings, model, runtime, auth, base, base_opening, base_bytes)
		SELECT id, id, tool, id, 'live', created, updated, '', '', '', '', zeroblob(256), 0, 300 FROM chains;
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 - 1)
		INSERT INTO invocations (chain_id, session_id, rule, tool, cwd, started, duration, mode, reason, format, native_id, model,
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
	return err
}

// BenchmarkStats is what shimctl stats asks of a ledger of a million calls.
func BenchmarkStats(b *testing.B) {
	l, err := Open(filepath.Join(b.TempDir(), "ledger.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	if err := fill(l, 1_000_000); err != nil {
		b.Fatal(err)
	}
	for _, by := range Bys {
		b.Run("by="+string(by), func(b *testing.B) {
			for b.Loop() {
				if groups, err := l.Groups(by, Filter{}, 100_000); err != nil || len(groups) == 0 {
					b.Fatal(groups, err)
				}
			}
		})
	}
	b.Run("arms", func(b *testing.B) {
		for b.Loop() {
			if arms, err := l.Arms(Filter{}); err != nil || len(arms) == 0 {
				b.Fatal(err)
			}
		}
	})
	b.Run("snapshot", func(b *testing.B) {
		for b.Loop() {
			if s, err := l.Snapshot(Filter{}, 100_000, SnapshotLimits{Chains: 20, Calls: 60}); err != nil || len(s.Slices) == 0 {
				b.Fatal(err)
			}
		}
	})
}
