package ledger

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"reprise/ledger/decide"
	"reprise/ledger/proc"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// row reads the columns of one row.
func row(t *testing.T, l *Ledger, table string, id int64) map[string]any {
	t.Helper()
	key := "id"
	if table == "leases" {
		key = "session_id"
	}
	rows, err := l.db.Query("SELECT * FROM "+table+" WHERE "+key+" = ?", id)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil || !rows.Next() {
		return nil
	}
	values := make([]any, len(columns))
	to := make([]any, len(columns))
	for i := range values {
		to[i] = &values[i]
	}
	if err := rows.Scan(to...); err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for i, name := range columns {
		got[name] = values[i]
		if blob, ok := values[i].([]byte); ok { // two that SQLite has put together are text
			got[name] = string(blob)
		}
	}
	return got
}

// wantRow compares some columns of a row; numbers of all types are compared as they are printed.
func wantRow(t *testing.T, what string, got, want map[string]any) {
	t.Helper()
	for _, column := range slices.Sorted(maps.Keys(want)) {
		if fmt.Sprint(got[column]) != fmt.Sprint(want[column]) {
			t.Errorf("%s: %s is %v, want %v", what, column, got[column], want[column])
		}
	}
}

func execute(t *testing.T, l *Ledger, query string, args ...any) {
	t.Helper()
	if _, err := l.db.Exec(query, args...); err != nil {
		t.Fatal(err)
	}
}

// betweenCall has something happen after the facts of a call are read and before it is recorded.
func betweenCall(c *Call, happens func()) *Call {
	c.Revision.Head = "now"
	c.History = func(string) error {
		happens()
		return nil
	}
	return c
}

// A change between the decision and the write is seen: the session is not resumed.
func TestWhatChangesBetweenDecisionAndWrite(t *testing.T) {
	tests := []struct {
		name    string
		happens string // SQL, ?1 is the session
		task    string
		more    string // the new end of the prompt; "": another prompt
		want    rewrite.Mode
	}{
		{"nothing", "SELECT ?1", "", "More.", rewrite.Resume},
		{"another run has failed", "UPDATE sessions SET state = 'failed' WHERE id = ?1", "",
			"More.", rewrite.Fresh},
		{"another run has begun", "UPDATE sessions SET state = 'running' WHERE id = ?1", "",
			"More.", rewrite.Fresh},
		{"another run has ended well",
			"UPDATE sessions SET last_used = last_used + 1 WHERE id = ?1", "", "More.",
			rewrite.Fresh},
		{"another role has ended it", "UPDATE sessions SET reset = 1 WHERE id = ?1", "",
			"More.", rewrite.Fresh},
		{"its caller goes on with it", "UPDATE sessions SET callers_own = 1 WHERE id = ?1", "",
			"More.", rewrite.Fresh},
		{"its caller goes on with it, by name",
			"UPDATE sessions SET callers_own = 1 WHERE id = ?1", "task", "", rewrite.Fresh},
		{"it is forgotten", "DELETE FROM sessions WHERE id = ?1", "", "More.", rewrite.Fresh},
		{"the chain has a newer one", "UPDATE chains SET session_id = ?1 + 99", "",
			"More.", rewrite.Resume},
		{"two have run at once", "UPDATE chains SET concurrent = 1", "", "More.", rewrite.Resume},
		{"nothing, by name", "SELECT ?1", "task", "", rewrite.Resume},
		{"the name has a newer one", "UPDATE chains SET session_id = ?1 + 99", "task",
			"", rewrite.Fresh},
		{"two have run at once under the name", "UPDATE chains SET concurrent = 1", "task",
			"", rewrite.Fresh},
		{"another run of the name has failed", "UPDATE sessions SET state = 'failed' WHERE id = ?1",
			"task", "", rewrite.Fresh},
	}
	for _, tt := range tests {
		for _, wait := range []bool{false, true} {
			l, _ := newLedger(t)
			prompt := fmt.Sprintf(base, 1)
			c := testCall(l, prompt, 1000)
			c.Task = tt.task
			_, first := beginCall(t, l, c)
			o := goodOutcome(someID, "done", 2000)
			o.Revision.Head = "then"
			finish(t, l, first, o)
			if prompt += "\n\n" + tt.more; tt.more == "" {
				prompt = "Something else."
			}
			c = betweenCall(testCall(l, prompt, 3000), func() {
				execute(t, l, tt.happens, first.Session)
			})
			c.Task, c.Wait, c.Limits.Unrelated = tt.task, wait, true
			d, ticket, err := Begin(l, c)
			switch {
			case wait && tt.want == rewrite.Fresh:
				if !errors.Is(err, ErrHeld) || ticket != nil {
					t.Errorf("%s: does not wait: %s, %v", tt.name, d.Mode, err)
				}
			case err != nil || d.Mode != tt.want ||
				(d.Mode == rewrite.Fresh) != (d.Reason == reason.Leased):
				t.Errorf("%s: %s (%s), %v, want %s", tt.name, d.Mode, d.Reason, err, tt.want)
			case (ticket.Session == first.Session) != (tt.want == rewrite.Resume):
				t.Errorf("%s: session %d after %d", tt.name, ticket.Session, first.Session)
			}
		}
	}
}

// A process that has taken the session meanwhile keeps it, whatever the row says; a copy does not
// need it.
func TestALeaseBetweenDecisionAndWrite(t *testing.T) {
	for _, copies := range []bool{false, true} {
		l, _ := newLedger(t)
		prompt := fmt.Sprintf(base, 1)
		_, first := beginCall(t, l, testCall(l, prompt, 1000))
		o := goodOutcome(someID, "done", 2000)
		o.Revision.Head = "then"
		finish(t, l, first, o)
		c := betweenCall(copyCall(l, prompt+"\n\nMore.", 3000), func() {
			p := proc.This()
			execute(t, l, "INSERT INTO leases (session_id, boot, pid, pid_start, taken) VALUES "+
				"(?, ?, ?, ?, 0)", first.Session, p.Boot, p.PID, p.Start)
		})
		c.Copies = copies
		if d, _ := beginCall(t, l, c); d.Mode.Continues() != copies {
			t.Errorf("copies %v: %s (%s)", copies, d.Mode, d.Reason)
		}
	}
}

// A copy is decided on again where its source has moved meanwhile, a few times.
func TestACopyIsDecidedOnAgain(t *testing.T) {
	for _, moves := range []int{1, maxDecisions - 1, maxDecisions} {
		l, _ := newLedger(t)
		prompt := fmt.Sprintf(base, 1)
		_, first := beginCall(t, l, testCall(l, prompt, 1000))
		o := goodOutcome(someID, "done", 2000)
		o.Revision.Head = "then"
		finish(t, l, first, o)
		decisions := 0
		c := betweenCall(copyCall(l, prompt+"\n\nMore.", 3000), func() {
			if decisions++; decisions <= moves {
				execute(t, l, "UPDATE sessions SET last_used = last_used + 1")
			}
		})
		d, _ := beginCall(t, l, c)
		if d.Copy != (moves < maxDecisions) || decisions != min(moves+1, maxDecisions) {
			t.Errorf("%d moves: %s (%s) after %d decisions", moves, d.Mode, d.Reason, decisions)
		}
	}
}

// The figures of runs add up in a session's row, and a figure that a run does not report stays.
func TestRunsOfASessionAddUp(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	c := testCall(l, prompt, 1000)
	c.Attempt = 4
	_, ticket := beginCall(t, l, c)
	wantRow(t, "while it runs", row(t, l, "sessions", ticket.Session), map[string]any{
		"state": decide.Running, "created": 1000, "last_used": 1000, "attempt": 4, "native_id": nil,
		"turns": 0, "first_model": ""})
	sent := c.Prompt.Footprint().Bytes
	finish(t, l, ticket, &Outcome{Now: 2000, File: "/f", Stamp: "10",
		Revision: decide.Revision{Repository: "r", Branch: "b", Head: "h"},
		Seen: rewrite.StreamState{
			ID: someID, Version: "1.2", Model: "first", Final: true, Content: true, Compacted: true,
			Answer: "The first answer.", Texts: []string{"I begin.", "The first answer."},
			Totals: "t1", ContextUse: rewrite.Context{Used: 10, Limit: 100},
			Files: []string{"/project/one.go"},
		}})
	one := row(t, l, "sessions", ticket.Session)
	wantRow(t, "after a run", one, map[string]any{
		"state": decide.Live, "state_why": "", "native_id": someID, "created": 1000,
		"last_used": 2000, "turns": 1, "errors": 0, "version": "1.2",
		"transcript": 0, "compacted": 1, "context_used": 10, "context_limit": 100, "totals": "t1",
		"file": "/f", "stamp": "10",
		"repository": "r", "branch": "b", "head": "h", "first_model": "first", "base_bytes": sent})

	prompt += "\n\nNow the second part."
	c = testCall(l, prompt, 3000)
	c.Attempt, c.Revision = rewrite.NoAttempt,
		decide.Revision{Repository: "r", Branch: "b", Head: "h"}
	d, again := beginCall(t, l, c)
	if d.Mode != rewrite.Resume || again.Session != ticket.Session || again.Totals != "t1" ||
		d.Whole == "" {
		t.Fatalf("%s (%s), totals %q, whole %q", d.Mode, d.Reason, again.Totals, d.Whole)
	}
	wantRow(t, "while it is resumed", row(t, l, "sessions", ticket.Session),
		map[string]any{"state": decide.Running, "last_used": 3000,
			"attempt": 4, "native_id": someID})
	execute(t, l, "UPDATE sessions SET transcript = 1")
	finish(t, l, again, &Outcome{Now: 4000, Exit: 3, File: "/g", Stamp: "20",
		Revision: decide.Revision{Repository: "r", Branch: "c", Head: "i"},
		Seen: rewrite.StreamState{
			ID: otherID, Model: "second", Final: true, Content: true, Answer: "The second answer.",
			Totals: "t2", Files: []string{"/project/two.go"},
			ContextUse: rewrite.Context{Used: 20, Limit: 200},
		}})
	two := row(t, l, "sessions", ticket.Session)
	wantRow(t, "after two runs", two, map[string]any{
		"state": decide.Failed, "state_why": "", "native_id": otherID, "created": 1000,
		"last_used": 4000, "turns": 1, "errors": 1, "version": "1.2",
		"transcript": 1, "compacted": 1, "context_used": 20, "context_limit": 200, "totals": "t2",
		"file": "/g", "stamp": "20",
		"branch": "c", "head": "i", "first_model": "first",
		"base_bytes": c.Prompt.Footprint().Bytes})
	for _, column := range []string{"answers", "said"} {
		was, is := one[column].(string), two[column].(string)
		if len(was) == 0 && column == "answers" || len(is) <= len(was) && column == "answers" ||
			!strings.HasPrefix(is, was) {
			t.Errorf("%s of %d bytes became %d", column, len(was), len(is))
		}
	}
	was, is := one["things"].(string), two["things"].(string)
	if len(was) == 0 || len(is) <= len(was) || !strings.HasSuffix(is, was) {
		t.Errorf("things of %d bytes became %d", len(was), len(is))
	}
	for _, column := range []string{"base", "base_lines", "shape"} {
		if one[column] == "" || one[column] == two[column] {
			t.Errorf("%s is not what the session was sent", column)
		}
	}
	footprint := c.Prompt.Footprint()
	wantRow(t, "what it was sent", two, map[string]any{
		"base": string(encodeDigests(footprint.Blocks)), "base_opening": footprint.Opening,
		"base_lines": string(appendNumbers(nil, footprint.Lines...)),
		"shape":      string(encodeShape(footprint.Shape))})
}

// The things of a session that many runs have touched are bounded, and up to there none is lost,
// with any bytes in their marks: to SQLite two blobs together are a text, which a NUL can end.
func TestThingsAreBounded(t *testing.T) {
	l, _ := newLedger(t)
	text := fmt.Sprintf(base, 1)
	for n := range 3 {
		_, ticket := begin(t, l, text, decide.Millis(1000+100*n))
		o := goodOutcome(someID, "done", decide.Millis(1050+100*n))
		for i := range prompt.MaxThings {
			o.Seen.Files = append(o.Seen.Files, fmt.Sprintf("/project/%d-%d.go", n, i))
		}
		finish(t, l, ticket, o)
		var size int
		if err := l.db.QueryRow("SELECT length(things) FROM sessions WHERE id = ?",
			ticket.Session).Scan(&size); err != nil || size != prompt.MaxThings*markSize {
			t.Errorf("%d bytes of things, want %d, %v", size, prompt.MaxThings*markSize, err)
		}
		text += fmt.Sprintf("\n\nRound %d.", n)
	}
}

// A call's row has the run's cost, and how it ended.
func TestAnInvocationIsRecorded(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	c := testCall(l, prompt, 1000)
	c.Rule, c.Format = "rule", rewrite.Text
	_, ticket := beginCall(t, l, c)
	wantRow(t, "while it runs", row(t, l, "calls", ticket.ID), map[string]any{
		"chain_id": ticket.Chain, "session_id": ticket.Session, "rule": "rule", "tool": "claude",
		"cwd": "/project", "started": 1000, "mode": rewrite.Fresh,
		"reason": reason.FirstCall, "format": rewrite.Text, "prompt_bytes": len(prompt),
		"sent_bytes": len(prompt), "outcome": nil, "arm": "", "resumed_from": nil})
	o := goodOutcome(someID, "done", 2500)
	o.Seen.Source, o.Seen.Model, o.Sent, o.Exit, o.Signal = "stdout", "model", 17, 3, 9
	o.Seen.Usage = rewrite.Usage{Known: true, Input: 1, CacheRead: 2, CacheWrite: -3, Output: 4,
		CostNano: 1 << 60, CostKnown: true}
	finish(t, l, ticket, o)
	want := map[string]any{
		"duration": 1500, "native_id": someID, "id_source": "stdout", "model": "model",
		"sent_bytes": 17,
		"input":      1, "cache_read": 2, "cache_write": 0, "output": 4, "cost": int64(maxFigure),
		"outcome": "killed", "exit_code": 3, "signal": 9}
	wantRow(t, "ended", row(t, l, "calls", ticket.ID), want)
	finish(t, l, ticket, goodOutcome(otherID, "done", 9000))
	wantRow(t, "ended twice", row(t, l, "calls", ticket.ID), want)

	d, second := beginCall(t, l, testCall(l, prompt+"\n\nMore.", 3000))
	if d.Reason != reason.PreviousKilled {
		t.Fatal(d.Reason)
	}
	finish(t, l, second, &Outcome{Now: 3100,
		Seen: rewrite.StreamState{ID: otherID, Final: true, Content: true}})
	wantRow(t, "nothing known", row(t, l, "calls", second.ID), map[string]any{
		"input": nil, "cache_read": nil, "cache_write": nil, "output": nil, "cost": nil,
		"outcome": "ok", "signal": nil, "id_source": nil, "model": nil})
	d, third := beginCall(t, l, testCall(l, prompt+"\n\nMore.\n\nAnd more.", 4000))
	if d.Mode != rewrite.Resume {
		t.Fatal(d.Reason)
	}
	wantRow(t, "resumed", row(t, l, "calls", third.ID),
		map[string]any{"mode": rewrite.Resume, "reason": reason.Extends, "resumed_from": otherID})
}

// A refusal is noted in the call, the session and the chain.
func TestFallBackIsRecorded(t *testing.T) {
	for _, busy := range []bool{false, true} {
		l, _ := newLedger(t)
		prompt := fmt.Sprintf(base, 1)
		_, first := begin(t, l, prompt, 1000)
		o := goodOutcome(someID, "done", 2000)
		o.Seen.Totals = "t1"
		finish(t, l, first, o)
		bystander := fmt.Sprintf(base, 2)
		_, other := begin(t, l, bystander, 2000)
		finish(t, l, other, goodOutcome(otherID, "done", 2500))
		before := row(t, l, "sessions", other.Session)
		_, second := begin(t, l, prompt+"\n\nMore.", 3000)
		why, state, since, failures := reason.RefusedUnknown, decide.Dead, any(nil), 1
		if busy {
			why, state = reason.RefusedBusy, decide.Live
		}
		if err := l.FallBack(second, why); err != nil {
			t.Fatal(err)
		}
		if second.Totals != "" {
			t.Errorf("the fresh run counts on from %q", second.Totals)
		}
		if since = second.Session; busy {
			since = first.Session
		}
		wantRow(t, "the call", row(t, l, "calls", second.ID),
			map[string]any{"mode": rewrite.Fresh, "fell_back": why, "session_id": second.Session})
		wantRow(t, "the first call", row(t, l, "calls", first.ID),
			map[string]any{"fell_back": nil, "session_id": first.Session})
		wantRow(t, "the session", row(t, l, "sessions", first.Session),
			map[string]any{"state": state, "state_why": why, "errors": failures})
		wantRow(t, "the chain", row(t, l, "chains", second.Chain),
			map[string]any{"since": since, "session_id": second.Session})
		wantRow(t, "another session", row(t, l, "sessions", other.Session), before)
		if row(t, l, "leases", first.Session) != nil || row(t, l, "leases", second.Session) == nil {
			t.Error("the lease stays with the session that was refused")
		}
	}
}

// A copy's row equals the source's row, but for the fields of its own.
func TestACopyHasTheRowOfItsSource(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	c := copyCall(l, prompt, 1000)
	c.Attempt, c.Fingerprints = 2,
		decide.Fingerprints{Model: "m", Runtime: "r", Settings: "s", Auth: "a"}
	_, first := beginCall(t, l, c)
	finish(t, l, first, &Outcome{Now: 2000, File: "/f", Stamp: "10",
		Revision: decide.Revision{Head: "then"}, Seen: rewrite.StreamState{
			ID: someID, Version: "1.2", Model: "first", Final: true, Content: true, Compacted: true,
			Answer: "The first answer.", Texts: []string{"I begin.", "The first answer."},
			Totals: "t1", ContextUse: rewrite.Context{Used: 10, Limit: 100},
			Files: []string{"/project/one.go"},
		}})
	want := row(t, l, "sessions", first.Session)
	want["transcript"] = 1
	c = betweenCall(copyCall(l, prompt+"\n\nMore.", 3000), func() {
		execute(t, l, "UPDATE sessions SET transcript = 1")
	})
	c.Attempt, c.Fingerprints = rewrite.NoAttempt,
		decide.Fingerprints{Model: "m", Runtime: "r", Settings: "s", Auth: "a"}
	d, ticket := beginCall(t, l, c)
	if !d.Copy || ticket.Totals != "t1" {
		t.Fatalf("%s (%s), totals %q", d.Mode, d.Reason, ticket.Totals)
	}
	maps.Copy(want, map[string]any{"id": ticket.Session, "parent_id": first.Session,
		"state": decide.Running, "last_used": 3000, "head": "now",
		"native_id": nil, "version": nil, "file": nil, "stamp": nil, "parent_size": nil})
	wantRow(t, "a copy", row(t, l, "sessions", ticket.Session), want)
	wantRow(t, "its chain", row(t, l, "chains", ticket.Chain),
		map[string]any{"session_id": ticket.Session, "since": first.Session, "updated": 3000})
}

// A new session's row has the call's properties, and its process has the lease.
func TestASessionBegins(t *testing.T) {
	l, _ := newLedger(t)
	c := testCall(l, fmt.Sprintf(base, 1), 1000)
	c.Fingerprints, c.Revision = decide.Fingerprints{Model: "m", Runtime: "r",
		Settings: "s", Auth: "a"}, decide.Revision{Repository: "r", Branch: "b", Head: "h"}
	d, ticket := beginCall(t, l, c)
	if d.Chain == 0 || d.Chain != ticket.Chain {
		t.Errorf("decided on chain %d, recorded in %d", d.Chain, ticket.Chain)
	}
	wantRow(t, "a session", row(t, l, "sessions", ticket.Session),
		map[string]any{"chain_id": ticket.Chain, "tool": "claude", "model": "m", "runtime": "r",
			"settings": "s", "auth": "a", "repository": "r", "branch": "b", "head": "h",
			"first_model": "", "reset": 0, "callers_own": 0})
	wantRow(t, "a lease", row(t, l, "leases", ticket.Session),
		map[string]any{"pid": os.Getpid(), "taken": 1000, "child": 0})
	// Its outcome moves the chain, never back.
	finish(t, l, ticket, goodOutcome(someID, "done", 2000))
	wantRow(t, "a chain", row(t, l, "chains", ticket.Chain),
		map[string]any{"created": 1000, "updated": 2000, "concurrent": 0, "since": ticket.Session})
	if row(t, l, "leases", ticket.Session) != nil {
		t.Error("the lease is kept")
	}
	_, other := begin(t, l, fmt.Sprintf(base, 2), 5000)
	finish(t, l, other, goodOutcome(otherID, "done", 4000))
	wantRow(t, "a clock that was set back", row(t, l, "chains", other.Chain),
		map[string]any{"updated": 5000})
	wantRow(t, "another chain", row(t, l, "chains", ticket.Chain), map[string]any{"updated": 2000})
}

// A chain belongs to a tool, a directory, a home, a rule, a task and a role.
func TestChainsAreKeptApart(t *testing.T) {
	l, _ := newLedger(t)
	one := testCall(l, "x", 1000)
	one.Task, one.Role, one.Scope = "task", "role", "scope"
	chain := func(change func(*Call)) int64 {
		c := *one
		change(&c)
		tx, err := l.db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Commit()
		chain, err := chainFor(tx, &c, &decide.Decision{})
		if err == nil {
			err = chain.save(tx, "")
		}
		if err != nil {
			t.Fatal(err)
		}
		return chain.ID
	}
	first := chain(func(*Call) {})
	if again := chain(func(*Call) {}); again != first {
		t.Errorf("chains %d and %d of one name", first, again)
	}
	seen := map[int64]bool{first: true}
	for i, change := range []func(*Call){
		func(c *Call) { c.Tool = "codex" }, func(c *Call) { c.Cwd = "/other" },
		func(c *Call) { c.Home = "/other" },
		func(c *Call) { c.Scope = "other" }, func(c *Call) { c.Task = "other" },
		func(c *Call) { c.Role = "other" },
		func(c *Call) { c.Task, c.Role, c.Scope = "", "", "" },
		func(c *Call) { c.Task, c.Role, c.Scope = "", "", "" },
	} {
		id := chain(change)
		if seen[id] {
			t.Errorf("call %d shares chain %d", i, id)
		}
		seen[id] = true
	}
}

// Roles are reset in their directory and task alone, whatever the letters' case.
func TestResetRoles(t *testing.T) {
	l, _ := newLedger(t)
	at := func(cwd, task, role string) *Ticket {
		c := testCall(l, fmt.Sprintf(base, 1), 1000)
		c.Cwd, c.Task, c.Role = cwd, task, role
		_, ticket := beginCall(t, l, c)
		finish(t, l, ticket, goodOutcome(someID, "done", 2000))
		return ticket
	}
	meant := []*Ticket{at("/project", "t", "coder"), at("/project", "t", "Tester")}
	others := []*Ticket{at("/other", "t", "coder"), at("/project", "u", "coder"),
		at("/project", "t", "reviewer")}
	c := testCall(l, "Begin.", 3000)
	c.Task, c.Role, c.Resets = "t", "lead", []string{"CODER", "tester"}
	beginCall(t, l, c)
	for i, list := range [][]*Ticket{others, meant} {
		for _, ticket := range list {
			if got := row(t, l, "sessions", ticket.Session)["reset"]; got != int64(i) {
				t.Errorf("session %d: reset %v, want %d", ticket.Session, got, i)
			}
		}
	}
	o := goodOutcome(otherID, "done", 4000)
	o.Resets = []string{"reviewer"}
	c = testCall(l, "Go on.", 3500)
	c.Task, c.Role = "t", "judge"
	_, judge := beginCall(t, l, c)
	finish(t, l, judge, o)
	if got := row(t, l, "sessions", others[2].Session)["reset"]; got != int64(1) {
		t.Error("an answer does not end the role that it names")
	}
}

// Pin notes an id once, and a process in the lease of the call's own.
func TestPin(t *testing.T) {
	l, _ := newLedger(t)
	_, ticket := begin(t, l, fmt.Sprintf(base, 1), 1000)
	_, other := begin(t, l, fmt.Sprintf(base, 2), 1000)
	execute(t, l, "UPDATE leases SET pid = pid + 1 WHERE session_id = ?", other.Session)
	for n, id := range []string{someID, otherID} {
		if err := l.Pin(ticket.Session, id, os.Getppid()); err != nil {
			t.Fatal(err)
		}
		wantRow(t, fmt.Sprint("pin ", n), row(t, l, "sessions", ticket.Session),
			map[string]any{"native_id": someID})
	}
	parent := proc.ByPID(os.Getppid())
	wantRow(t, "the lease", row(t, l, "leases", ticket.Session),
		map[string]any{"child": parent.PID, "child_start": parent.Start})
	wantRow(t, "another session", row(t, l, "sessions", other.Session),
		map[string]any{"native_id": nil})
	if err := l.Pin(other.Session, otherID, os.Getppid()); err != nil {
		t.Fatal(err)
	}
	wantRow(t, "a lease that is another's", row(t, l, "leases", other.Session),
		map[string]any{"child": 0, "child_start": 0})
}

// A call that the caller manages is recorded without a chain, and only the session that it names is
// the caller's.
func TestObserve(t *testing.T) {
	l, _ := newLedger(t)
	_, first := begin(t, l, fmt.Sprintf(base, 1), 1000)
	finish(t, l, first, goodOutcome(someID, "done", 2000))
	_, other := begin(t, l, fmt.Sprintf(base, 2), 1000)
	finish(t, l, other, goodOutcome(otherID, "done", 2000))
	c := testCall(l, "mine", 3000)
	c.Prompt = nil // nobody compares it
	ticket, err := l.Observe(c, reason.CallerSession, someID, 4)
	if err != nil {
		t.Fatal(err)
	}
	wantRow(t, "the call", row(t, l, "calls", ticket.ID),
		map[string]any{"chain_id": nil, "session_id": nil, "tool": "claude", "cwd": "/project",
			"started": 3000, "mode": rewrite.Observe, "reason": reason.CallerSession,
			"format": rewrite.Text, "prompt_bytes": 4, "sent_bytes": 4})
	wantRow(t, "the session", row(t, l, "sessions", first.Session),
		map[string]any{"callers_own": 1})
	wantRow(t, "another one", row(t, l, "sessions", other.Session),
		map[string]any{"callers_own": 0})
	if _, err := l.Observe(c, reason.CallerSession, "", 4); err != nil {
		t.Fatal(err)
	}
	wantRow(t, "without an id", row(t, l, "sessions", other.Session),
		map[string]any{"callers_own": 0})
	finish(t, l, ticket, goodOutcome(otherID, "done", 4000))
	wantRow(t, "the session that it turned out to be", row(t, l, "sessions", other.Session),
		map[string]any{"callers_own": 1})
}

// Which chains are held out is noted where there is a control group, and is spread evenly.
func TestArmOfAnInvocation(t *testing.T) {
	l, _ := newLedger(t)
	control := 0
	for n := range 60 {
		c := testCall(l, fmt.Sprintf(base, n), decide.Millis(1000+n))
		c.Limits.HoldOut = 0.5
		_, ticket := beginCall(t, l, c)
		s, want := bucket(l.key, ticket.Chain), Treated
		if s < 0 || s >= 1 {
			t.Fatalf("share %v", s)
		}
		if s < 0.5 {
			control, want = control+1, Control
		}
		wantRow(t, "half", row(t, l, "calls", ticket.ID), map[string]any{"arm": want})
		finish(t, l, ticket, goodOutcome(someID, "done", decide.Millis(2000+n)))
		c = testCall(l, fmt.Sprintf(base, n)+"\n\nMore.", 3000)
		c.Limits.HoldOut = 0.5
		if d, _, err := Preview(l, c); err != nil ||
			(d.Reason == reason.HeldOut) != (want == Control) {
			t.Errorf("%s: %s (%s), %v", want, d.Mode, d.Reason, err)
		}
	}
	if control < 15 || control > 45 {
		t.Errorf("%d of 60 are held out", control)
	}
	for _, all := range []float64{0, 1} {
		c := testCall(l, "Alone.", 9000)
		c.Limits.HoldOut = all
		_, ticket := beginCall(t, l, c)
		wantRow(t, "all or none", row(t, l, "calls", ticket.ID), map[string]any{"arm": ""})
	}
}

// That a session has been sent a conversation is known from the call that went on with it so.
func TestTranscriptIsRemembered(t *testing.T) {
	for _, transcript := range []bool{false, true} {
		l, _ := newLedger(t)
		_, ticket := begin(t, l, fmt.Sprintf(base, 1), 1000)
		ticket.transcript = transcript
		finish(t, l, ticket, goodOutcome(someID, "done", 2000))
		wantRow(t, "a session", row(t, l, "sessions", ticket.Session),
			map[string]any{"transcript": map[bool]int{false: 0, true: 1}[transcript]})
	}
	l, _ := newLedger(t)
	prompt, answer := fmt.Sprintf(base, 1),
		"I have written the parser, with a table for its states."
	_, ticket := begin(t, l, prompt+"\n\nUser: Write the parser.", 1000)
	finish(t, l, ticket, goodOutcome(someID, answer, 2000))
	_,
		again := begin(t, l,
		prompt+"\n\nUser: Write the parser.\n\nAssistant: "+answer+"\n\nUser: It still fails.",
		3000)
	finish(t, l, again, goodOutcome(someID, "It is mended.", 4000))
	if again.Session != ticket.Session {
		t.Fatal("it was not gone on with")
	}
	wantRow(t, "what was sent as a transcript", row(t, l, "sessions", ticket.Session),
		map[string]any{"transcript": 1})
}

// A death or a change is looked at again where the row is another one by now, and only then.
func TestOutdated(t *testing.T) {
	l, path := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, ticket := begin(t, l, prompt, 1000)
	finish(t, l, ticket, goodOutcome(someID, "done", 2000))
	for _, tt := range []struct {
		state  decide.State
		used   decide.Millis
		stored decide.StoredState
		held   bool
		want   bool
	}{
		{decide.Live, 2000, decide.StoredSame, false, false},
		{decide.Live, 1999, decide.StoredSame, false, false},
		{decide.Live, 2000, decide.StoredChanged, false, false},
		{decide.Live, 1999, decide.StoredChanged, false, true},
		{decide.Running, 2000, decide.StoredSame, false, true},
		{decide.Running, 1999, decide.StoredSame, false, true},
		{decide.Running, 2000, decide.StoredSame, true, false},
		{decide.Killed, 2000, decide.StoredSame, false, false},
	} {
		facts := decide.ChainFacts{Session: ticket.Session, Stored: tt.stored, Held: tt.held}
		facts.State, facts.LastUsed = tt.state, tt.used
		if got := l.outdated(&facts, func() {}); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	gone := decide.ChainFacts{Session: ticket.Session + 1}
	gone.State = decide.Running
	if l.outdated(&gone, func() {}) {
		t.Error("a session that is gone is looked at again")
	}

	other, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, tt := range []struct {
		moves, looks int
		want         reason.Code
	}{{0, 1, reason.SessionMoved}, {1, 2, reason.Extends}, {9, 3, reason.Leased}} {
		looks := 0
		c := testCall(l, prompt+"\n\nMore.", 3000)
		c.Stored = func(string, string, decide.Stamp) decide.StoredState {
			if looks++; looks > tt.moves && tt.moves > 0 {
				return decide.StoredSame
			}
			if tt.moves > 0 {
				execute(t, other, "UPDATE sessions SET last_used = last_used + 1")
			}
			return decide.StoredChanged
		}
		d, _, err := Preview(l, c)
		if err != nil || looks != tt.looks || d.Reason != tt.want {
			t.Errorf("%d moves: %s (%s) after %d looks, %v", tt.moves, d.Mode, d.Reason, looks, err)
		}
	}
}

// Preview shows the other chains of a job where continuity has to find one of them.
func TestPreviewShowsOthers(t *testing.T) {
	l, _ := newLedger(t)
	place := func(cwd, task, prompt string) {
		c := testCall(l, prompt, 1000)
		c.Cwd, c.Task = cwd, task
		_, ticket := beginCall(t, l, c)
		finish(t, l, ticket, goodOutcome(someID, "done", 2000))
	}
	place("/project", "", fmt.Sprintf(base, 1))
	place("/project", "", fmt.Sprintf(base, 2))
	place("/other", "", fmt.Sprintf(base, 3))
	place("/project", "task", fmt.Sprintf(base, 4))
	place("/project", "", "You are the coder of job 1.\n\nAll the rest of it is something else.")
	for _, tt := range []struct {
		task  string
		never bool
		want  int
	}{{"", false, 3}, {"task", false, 1}, {"", true, 0}} {
		c := testCall(l, fmt.Sprintf(base, 1)+"\n\nMore.", 3000)
		c.Task, c.Never = tt.task, tt.never
		if _, chains, err := Preview(l, c); err != nil || len(chains) != tt.want {
			t.Errorf("%+v: %d chains, %v", tt, len(chains), err)
		} else {
			for _, one := range chains {
				if one.NativeID == "" || one.Created == 0 {
					t.Errorf("%+v: chain %d is not read in full", tt, one.Chain)
				}
			}
		}
	}
}

// A binary that was asked, and does not resume, is not given a session.
func TestProbeDecides(t *testing.T) {
	for _, tt := range []struct {
		known Binary
		want  rewrite.Mode
	}{
		{Binary{}, rewrite.Resume},
		{Binary{Probed: true, Probe: rewrite.Probe{Known: true}}, rewrite.Fresh},
		{Binary{Probed: true, Probe: rewrite.Probe{Known: true, Resume: true}}, rewrite.Resume},
		{Binary{NoResume: true}, rewrite.Fresh},
	} {
		l, _ := newLedger(t)
		prompt := fmt.Sprintf(base, 1)
		_, ticket := begin(t, l, prompt, 1000)
		finish(t, l, ticket, goodOutcome(someID, "done", 2000))
		if err := l.LearnBinary("claude", "", 2500, func(b *Binary) { *b = tt.known }); err != nil {
			t.Fatal(err)
		}
		if d, _ := begin(t, l, prompt+"\n\nMore.", 3000); d.Mode != tt.want ||
			(d.Reason == reason.NoResume) != (tt.want == rewrite.Fresh) {
			t.Errorf("%+v: %s (%s)", tt.known, d.Mode, d.Reason)
		}
	}
}

// A session that is copied while the facts are read is one session all the same.
func TestACopyWhileFactsAreRead(t *testing.T) {
	l, path := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, ticket := beginCall(t, l, copyCall(l, prompt, 1000))
	finish(t, l, ticket, outcome(sourceID, "/source", 100, "", 2000))
	other, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	c, looks := copyCall(l, prompt+"\n\nMore.", 3000), 0
	c.Stored = func(string, string, decide.Stamp) decide.StoredState {
		if looks++; looks == 1 {
			d, _ := beginCall(t, other, copyCall(l, prompt+"\n\nElse.", 2500))
			wantSource(t, "another copy", d, sourceID)
		}
		return decide.StoredSame
	}
	d, _ := beginCall(t, l, c)
	wantSource(t, "copied meanwhile", d, sourceID)
}

// Only a call that can be cut off is; otherwise a session that was used is left alone.
func TestForkNeedsBoth(t *testing.T) {
	for _, tt := range []struct{ copies, point bool }{{true, false}, {false, true}, {true, true}} {
		l, _ := newLedger(t)
		prompt := fmt.Sprintf(base, 1)
		_, ticket := beginCall(t, l, copyCall(l, prompt, 1000))
		finish(t, l, ticket, outcome(sourceID, "/source", 100, "", 2000))
		c := copyCall(l, prompt+"\n\nMore.", 3000)
		c.Stored = func(string, string, decide.Stamp) decide.StoredState {
			return decide.StoredChanged
		}
		if c.Copies = tt.copies; !tt.point {
			c.ForkPoint = nil
		}
		if d, _ := beginCall(t, l, c); (d.Mode == rewrite.Fork) != (tt.copies && tt.point) ||
			d.Mode == rewrite.Fresh && d.Reason != reason.SessionMoved {
			t.Errorf("%+v: %s (%s)", tt, d.Mode, d.Reason)
		}
	}
}

// The files and answers of a session are evidence for the next call.
func TestEvidenceIsRemembered(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, ticket := begin(t, l, prompt, 1000)
	o := goodOutcome(someID, "The ring buffer drops the oldest frame when its capacity is "+
		"exceeded by a slow reader.", 2000)
	o.Seen.Files = []string{"/project/internal/parser_limits.go"}
	finish(t, l, ticket, o)
	for more, want := range map[string]decide.Evidence{
		"internal/parser_limits.go:12: too large":  {Trace: true},
		"internal/printer_colours.go:12: too dark": {},
		"Your last report:\n\nThe ring buffer drops the oldest frame when its capacity is " +
			"exceeded by a slow reader.": {Answer: true},
		"Engineer:\n\nThe ring buffer drops the oldest frame when its capacity is exceeded by a " +
			"slow reader.": {Answer: true},
	} {
		_, chains, err := Preview(l, testCall(l, prompt+"\n\n"+more, 3000))
		if err != nil || len(chains) != 1 {
			t.Fatalf("%d chains, %v", len(chains), err)
		}
		if got := chains[0].Evidence; got != want {
			t.Errorf("%s: %+v, want %+v", more, got, want)
		}
	}
}

// A session that was refused at the end of its run is dead, for that reason.
func TestARefusalIsRecorded(t *testing.T) {
	l, _ := newLedger(t)
	_, ticket := begin(t, l, fmt.Sprintf(base, 1), 1000)
	o := goodOutcome(someID, "done", 2000)
	o.Exit, o.Seen.Refusal = 1, reason.RefusedContext
	finish(t, l, ticket, o)
	wantRow(t, "a session", row(t, l, "sessions", ticket.Session),
		map[string]any{"state": decide.Dead, "state_why": reason.RefusedContext,
			"errors": 1, "turns": 0})
}
