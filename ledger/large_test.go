package ledger

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkLarge asks a ledger of a million invocations, in 20 000 chains, what shimctl asks.
func BenchmarkLarge(b *testing.B) {
	l, err := Open(filepath.Join(b.TempDir(), "ledger.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	if err := l.fill(1_000_000, 20_000); err != nil {
		b.Fatal(err)
	}
	for name, ask := range map[string]func() error{
		"Totals": func() error { _, err := l.Totals(Filter{}); return err },
		"Slices": func() error { _, err := l.Slices(Filter{}, 100_000); return err },
		"SlicesLate": func() error {
			_, err := l.Slices(Filter{Period: Period{1780000000000 - 30*day, Always.Until}}, 100_000)
			return err
		},
		"LiveChains":   func() error { _, err := l.Chains(Wanted{Live: true, Limit: 10}); return err },
		"Sessions":     func() error { _, err := l.SessionRows(Wanted{Limit: 50}); return err },
		"SessionsLike": func() error { _, err := l.SessionsLike("9e3779b1"); return err },
		"Invocations":  func() error { _, err := l.LatestInvocations(Wanted{Limit: 50}); return err },
		"OfTool": func() error {
			_, err := l.LatestInvocations(Wanted{Filter: Filter{Tool: "vibe"}, Limit: 50})
			return err
		},
		"Chains": func() error { _, err := l.Chains(Wanted{Limit: 50}); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// fill makes chains with a session each, and calls that are spread over them and over a year.
func (l *Ledger) fill(calls, chains int) error {
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
		INSERT INTO invocations (id, chain_id, session_id, tool, cwd, started, duration, mode, reason, resumed_from, format,
			native_id, id_source, id_format, model, prompt_bytes, sent_bytes, input, cache_read, cache_write, output, cost,
			outcome, exit_code, rule)
		SELECT i, 1 + i % $chains, 1 + i % $chains, 'claude', '/home/me/src/project-' || (i % 500),
			1780000000000 - ($calls - i) * 31536, 20000,
			CASE i % 5 WHEN 0 THEN 'fresh' ELSE 'resume' END, CASE i % 5 WHEN 0 THEN 'identical' ELSE 'extends' END,
			'00000000-0000-4000-8000-000000000000', 'text', '00000000-0000-4000-8000-000000000000', 'stdout', 'stream-json',
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
