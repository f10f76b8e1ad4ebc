// Package sample writes a ledger as four callers might have left it, for tests of screens and for
// the bench.
//
// It is never linked into a program of ours. Its invariant: the same number of calls gives the same
// ledger.
package sample

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/ledger"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// Now is when the samples are looked at.
var Now = time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC)

// days is how long before that they begin.
const days = 30

// A sampleJob is a loop of a caller.
type sampleJob struct {
	tool, model, rule string
	roles             []string
	priced            bool // the tool reports a call's cost
}

var sampleJobs = []sampleJob{
	{"claude", "claude-opus-5-5", "steroids", []string{"coder", "reviewer"}, true},
	{"claude", "claude-sonnet-5-5", "", []string{""}, true},
	{"codex", "gpt-6.1-sol", "hive-mind", []string{"solver"}, false},
	{"gemini", "gemini-3.5-flash", "ralph", []string{""}, false},
}

// Ledger writes a ledger of so many calls, as four callers might have made them.
// With a control group, one chain in six is held out.
func Ledger(t testing.TB, calls int, control bool) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "reprise", "ledger.db")
	if err := Write(path, calls, control); err != nil {
		t.Fatal(err)
	}
	return path
}

// Write is Ledger for a path.
func Write(path string, calls int, control bool) error {
	l, err := ledger.Open(path)
	if err != nil {
		return err
	}
	l.Close()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	s := sampler{tx: tx, random: rand.New(rand.NewPCG(1, 0)), control: control}
	for chain := int64(1); s.calls < calls; chain++ {
		s.chain(chain, calls)
	}
	return errors.Join(s.err, tx.Commit())
}

// Damage writes over the first page of a table.
func Damage(t testing.TB, path, table string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	var page, size int64
	err = db.QueryRow("SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE "+
		"name = ?", table).Scan(&page, &size)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte(strings.Repeat("garbage", 20)), (page-1)*size)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

type sampler struct {
	tx      *sql.Tx
	err     error // the first
	random  *rand.Rand
	control bool
	calls   int
}

func (s *sampler) exec(query string, args ...any) {
	_, err := s.tx.Exec(query, args...)
	s.err = cmp.Or(s.err, err)
}

// chain plays one job of a few rounds on a working day.
func (s *sampler) chain(id int64, most int) {
	job := sampleJobs[s.random.IntN(len(sampleJobs))]
	role := job.roles[s.random.IntN(len(job.roles))]
	task := ""
	if job.rule != "" {
		task = fmt.Sprintf("T-%d", 100+id)
	}
	at := Now.AddDate(0, 0, -s.random.IntN(days)).Add(
		-time.Duration(s.random.IntN(9*3600)) * time.Second)
	if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
		at = at.AddDate(0, 0, -2)
	}
	arm := ""
	if s.control {
		arm = ledger.Treated
		if s.random.IntN(6) == 0 {
			arm = ledger.Control
		}
	}
	cwd := fmt.Sprintf("/home/me/src/%s", []string{"shop", "api", "site"}[s.random.IntN(3)])
	s.exec(`INSERT INTO chains (id, tool, cwd, home, task, role, rule, session_id, created, updated) VALUES (?, ?, ?, '', ?, ?, ?, ?, ?, ?)`,
		id, job.tool, cwd, task, role, job.rule, id, at.UnixMilli(), at.UnixMilli())
	s.exec(`INSERT INTO sessions (id, chain_id, tool, native_id, state, created, last_used, settings, model, runtime, auth, base,
		base_opening, base_bytes) VALUES (?, ?, ?, ?, 'live', ?, ?, '', ?, '', '', x'', 0, 0)`,
		id, id, job.tool, fmt.Sprintf("00000000-0000-4000-8000-%012d", id), at.UnixMilli(),
		at.UnixMilli(), job.model)
	failed := false
	for round, rounds := 0, 2+s.random.IntN(9); round < rounds && s.calls < most; round++ {
		mode, why, fellBack := s.decide(round, arm, failed, task != "")
		var took time.Duration
		took, failed = s.call(id, job, cwd, at, mode, why, fellBack, arm, round)
		s.exec("UPDATE chains SET updated = ? WHERE id = ?", at.UnixMilli(), id)
		at = at.Add(took + time.Duration(20+s.random.IntN(300))*time.Second)
	}
}

func (s *sampler) decide(round int, arm string, failed, named bool) (rewrite.Mode, reason.Code,
	any) {
	switch {
	case round == 0:
		return rewrite.Fresh, reason.FirstCall, nil
	case failed:
		return rewrite.Fresh, reason.PreviousFailed, nil
	case s.random.IntN(12) == 0:
		return rewrite.Fresh, []reason.Code{reason.Idle, reason.ContextFull,
			reason.SettingsChanged}[s.random.IntN(3)], nil
	case arm == ledger.Control:
		return rewrite.Fresh, reason.HeldOut, nil
	case s.random.IntN(80) == 0:
		return rewrite.Fresh, reason.Extends, reason.RefusedUnknown
	case named && s.random.IntN(3) == 0:
		return rewrite.Resume, []reason.Code{reason.Revises, reason.Unrelated}[s.random.IntN(2)],
			nil
	}
	return rewrite.Resume, reason.Extends, nil
}

// call writes a call as such calls are: a resumed one reads less, writes less, is quicker.
func (s *sampler) call(chain int64, job sampleJob, cwd string, at time.Time, mode rewrite.Mode,
	why reason.Code, fellBack any, arm string, round int) (time.Duration, bool) {
	about := func(n int64) int64 { return n/2 + s.random.Int64N(n) }
	input, read, write, output, took := about(6_000), about(140_000), about(24_000), about(3_500),
		about(90_000)
	prompt := about(4_000) + int64(round)*600
	sent := prompt
	if mode == rewrite.Resume {
		input, read, write, output, took = about(900), about(80_000), about(6_000), about(2_200),
			about(45_000)
		sent = about(900)
	}
	var cost any
	if job.tool == "gemini" {
		write = 0 // it never reports any
	}
	if job.priced { // as for a model of 4, 0.2, 5 and 20 dollars a million
		cost = input*4000 + read*200 + write*5000 + output*20000
	}
	outcome, exit := "ok", 0
	if s.random.IntN(25) == 0 {
		outcome, exit = "failed", 1
	}
	s.calls++
	s.exec(`INSERT INTO calls (chain_id, session_id, tool, cwd, rule, started, duration, mode, reason, fell_back, format, model,
		prompt_bytes, sent_bytes, input, cache_read, cache_write, output, cost, outcome, exit_code, arm)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'text', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		chain, chain, job.tool, cwd, job.rule, at.UnixMilli(), took, mode, why, fellBack,
		job.model,
		prompt, sent, input, read, write, output, cost, outcome, exit, arm)
	return time.Duration(took) * time.Millisecond, outcome != "ok"
}
