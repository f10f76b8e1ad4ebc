package ledger

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A round of a named task that takes so many tokens of input.
func playFor(t *testing.T, l *Ledger, now decide.Millis,
	tokens int64, change func(*Call)) decide.Decision {
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
		id = fmt.Sprintf("00000000-0000-4000-8000-%012d", ticket.ID)
	}
	o := goodOutcome(id, "done", now+1)
	o.Seen.Usage = rewrite.Usage{Known: true, Input: tokens}
	finish(t, l, ticket, o)
	return d
}

// A chain starts with the costs that another one of the same rule, tool, version, model and
// settings has learned.
func TestChainsLearnFromOthers(t *testing.T) {
	l, _ := newLedger(t)
	now := decide.Millis(100 * hour)
	round := func(task string, read int64, want reason.Code, change func(*Call)) {
		t.Helper()
		now += 10 * minute
		takes := int64(20_000)
		if want == reason.Unrelated {
			takes = 22_000
		}
		d := callWith(t, l, now, task, request{takes, read}, request{takes, read}, 20_000, change,
			func(*Ticket) {})
		expect(t, fmt.Sprintf("task %s at minute %d", task, (now-100*hour)/minute), d, want)
	}
	same := func(*Call) {}
	other := func(c *Call) { c.Rule, c.Scope = "another", "another" }
	newer := func(c *Call) { c.Fingerprints.Runtime = "2" }
	set := func(c *Call) { c.Fingerprints.Settings = "2" }
	round("a", 0, reason.FirstCall, same)
	round("a", 0, reason.Unrelated, same)
	round("a", 0, reason.Unrelated, same)
	round("a", 0, reason.Dearer, same)
	round("b", 0, reason.FirstCall, same)
	round("b", 0, reason.Dearer, same)
	round("c", 0, reason.FirstCall, other)
	round("c", 0, reason.Unrelated, other)
	round("d", 0, reason.FirstCall, newer)
	round("d", 0, reason.Unrelated, newer)
	round("f", 0, reason.FirstCall, set)
	round("f", 0, reason.Unrelated, set)
	now += decide.DearerPause
	round("e", 0, reason.FirstCall, same)
	round("e", 20_000, reason.Unrelated, same)
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
			playFor(t, l, now, 1, func(c *Call) {
				c.Task, c.Limits.HoldOut = fmt.Sprint(task), 0.5
			})
			var arm, why string
			if err := l.db.QueryRow("SELECT arm, reason FROM calls ORDER BY id DESC").Scan(&arm,
				&why); err != nil {
				t.Fatal(err)
			}
			if round == 0 {
				first = arm
			}
			if arm != first || round > 0 && (arm == Control) != (why == string(reason.HeldOut)) {
				t.Errorf("task %d, round %d: arm %s after %s, reason %s", task, round, arm, first,
					why)
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
		if err := l.db.QueryRow("SELECT arm FROM calls ORDER BY id DESC").Scan(&arm); err != nil ||
			arm != "" {
			t.Errorf("with %v held out: %q, %v", holdOut, arm, err)
		}
	}
}

// BenchmarkBegin reports whether a decision grows slower with the ledger: a call in a
// ledger of a million calls should take at most half as long again as in an
// empty one.
func BenchmarkBegin(b *testing.B) {
	for _, calls := range []int{0, 1_000_000} {
		b.Run(fmt.Sprint(calls), func(b *testing.B) {
			l, err := Open(filepath.Join(b.TempDir(), "ledger.db"))
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			if err := fill(l, calls, calls/10); err != nil {
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
	text := fmt.Sprintf(base, 1)
	if now > 100_000*hour+1 {
		text += fmt.Sprintf("\n\n## Rejection %d", now)
	}
	c := testCall(l, text, now)
	c.Task, c.Rule, c.Scope = "t", "team", "team"
	return c
}

// fill makes chains with a session each, and calls that are spread over them and over a year.
func fill(l *Ledger, calls, chains int) error {
	for _, query := range []string{
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $chains)
		INSERT INTO chains (id, tool, cwd, home, task, role, rule, session_id, created, updated)
		SELECT i, 'claude', '/home/me/src/project-' || (i % 500), '/home/me/.claude', 'T-' || i, 'coder', 'team', i, 0,
			1780000000000 + i FROM n`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $chains)
		INSERT INTO sessions (id, chain_id, tool, native_id, state, created, last_used, settings, model, runtime, auth, base,
			base_opening, base_bytes)
		SELECT i, i, 'claude', printf('%08x-0000-4000-8000-%012x', i * 2654435761 % 4294967296, i),
			CASE i % 3 WHEN 0 THEN 'live' WHEN 1 THEN 'failed' ELSE 'dead' END, 0, 1780000000000 + i,
			'', '', '', '', randomblob(320), 1, 4000 FROM n`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $calls)
		INSERT INTO calls (id, chain_id, session_id, tool, cwd, started, duration, mode, reason, resumed_from, format,
			native_id, id_source, model, prompt_bytes, sent_bytes, input, cache_read, cache_write, output, cost,
			outcome, exit_code, rule)
		SELECT i, 1 + i % $chains, 1 + i % $chains, 'claude', '/home/me/src/project-' || (i % 500),
			1780000000000 - ($calls - i) * 31536, 20000,
			CASE i % 5 WHEN 0 THEN 'fresh' ELSE 'resume' END, CASE i % 5 WHEN 0 THEN 'identical' ELSE 'extends' END,
			'00000000-0000-4000-8000-000000000000', 'text', '00000000-0000-4000-8000-000000000000', 'stdout',
			CASE i % 3 WHEN 0 THEN 'claude-opus-5-5' WHEN 1 THEN 'claude-sonnet-5-5' ELSE 'gpt-6-sol' END,
			8000, 2000, 100, 20000 + i % 1000, 1000, 500, CASE i % 3 WHEN 2 THEN NULL ELSE 12345678 END, 'ok', 0, 'team' FROM n`,
	} {
		args := []any{sql.Named("chains", chains)}
		if strings.Contains(query, "$calls") {
			args = append(args, sql.Named("calls", calls))
		}
		if _, err := l.db.Exec(query, args...); err != nil {
			return err
		}
	}
	return nil
}
