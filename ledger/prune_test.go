package ledger

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/ledger/decide"
	"reprise/ledger/proc"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// oneCall makes a chain of one call that ended well, under a task of its own.
func oneCall(t *testing.T, l *Ledger, task, id string, now decide.Millis) *Ticket {
	t.Helper()
	c := testCall(l, fmt.Sprintf(base, 1), now)
	c.Task, c.Role, c.Rule = task, "coder", "r"
	_, ticket, err := Begin(l, c)
	if err != nil {
		t.Fatal(err)
	}
	o := goodOutcome(id, "done", now+1)
	o.File = "/home/.claude/projects/-project/" + id + ".jsonl"
	finish(t, l, ticket, o)
	return ticket
}

func nth(n int) string { return fmt.Sprintf("%08x-2222-4333-8444-555555555555", n) }

func sessionFiles(t *testing.T, l *Ledger, chain int64) []SessionFile {
	t.Helper()
	files, err := l.SessionFiles(chain)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestSessionFiles(t *testing.T) {
	l, _ := newLedger(t)
	one, two := oneCall(t, l, "one", nth(1), 1000), oneCall(t, l, "two", nth(2), 2000)
	begin(t, l, fmt.Sprintf(base, 3), 3000) // it runs: no file is known
	if _, err := l.db.Exec("INSERT INTO calls (tool, cwd, started, mode, reason, format, "+
		"prompt_bytes, sent_bytes, native_id)"+
		" VALUES ('claude', '/', 1, 'observe', 'caller_session', 'text', 1, 1, ?)",
		nth(2)); err != nil {
		t.Fatal(err)
	}
	files := sessionFiles(t, l, 0)
	if len(files) != 2 {
		t.Fatalf("%+v", files)
	}
	if f := files[0]; f.ID != one.Session || f.Chain != one.Chain || f.Tool != "claude" ||
		f.Home != "/home/.claude" || f.NativeID != nth(1) || f.State != decide.Live ||
		f.Created != 1000 || f.LastUsed != 1001 || f.Stamp != "1" ||
		f.File != "/home/.claude/projects/-project/"+nth(1)+".jsonl" ||
		f.Held || !f.Current || f.Reset || f.Observed || f.Superseded != 0 || f.Copied {
		t.Errorf("%+v", f)
	}
	if !files[1].Observed {
		t.Error("the caller has used the second one himself")
	}
	if of := sessionFiles(t, l, two.Chain); len(of) != 1 || of[0].ID != two.Session {
		t.Errorf("of the second chain: %+v", of)
	}
}

func TestPrunedSessionIsFreshWithAReason(t *testing.T) {
	l, _ := newLedger(t)
	oneCall(t, l, "one", nth(1), 1000)
	f := sessionFiles(t, l, 0)[0]
	if ok, err := l.Retire(f); !ok || err != nil {
		t.Fatal(ok, err)
	}
	c := testCall(l, fmt.Sprintf(base, 1)+"\n\nMore.", 2000)
	c.Task, c.Role, c.Rule = "one", "coder", "r"
	d, _, err := Preview(l, c)
	if err != nil || d.Mode != rewrite.Fresh || d.Reason != reason.SessionDead ||
		d.Detail != reason.Pruned {
		t.Errorf("%+v, %v", d, err)
	}
	if n := len(sessionFiles(t, l, 0)); n != 1 {
		t.Error("a removal that was broken off is not taken up again")
	}
	if err := l.Pruned(f.ID); err != nil {
		t.Fatal(err)
	}
	if n := len(sessionFiles(t, l, 0)); n != 0 {
		t.Errorf("%d session files", n)
	}
	if _, ticket, err := Begin(l, c); err != nil {
		t.Fatal(err)
	} else {
		finish(t, l, ticket, goodOutcome(nth(9), "done", 2001))
	}
	c = testCall(l, fmt.Sprintf(base, 1)+"\n\nMore.\n\nAnd more.", 3000)
	c.Task, c.Role, c.Rule = "one", "coder", "r"
	if d, _, err := Preview(l, c); err != nil || d.Mode != rewrite.Resume || d.NativeID != nth(9) {
		t.Errorf("the chain does not go on: %+v, %v", d, err)
	}
}

func TestRetireLeavesWhatIsUsed(t *testing.T) {
	l, _ := newLedger(t)
	ticket := oneCall(t, l, "one", nth(1), 1000)
	f := sessionFiles(t, l, 0)[0]
	used := f
	used.LastUsed--
	if ok, err := l.Retire(used); ok || err != nil {
		t.Errorf("used since: %v, %v", ok, err)
	}
	this := proc.This()
	if _, err := l.db.Exec("INSERT INTO leases (session_id, boot, pid, pid_start, taken) VALUES "+
		"(?, ?, ?, ?, 1)",
		ticket.Session, this.Boot, this.PID, this.Start); err != nil {
		t.Fatal(err)
	}
	if ok, err := l.Retire(f); ok || err != nil {
		t.Errorf("held: %v, %v", ok, err)
	}
	if state := sessionFiles(t, l, 0)[0].State; state != decide.Live {
		t.Error(state)
	}
}

func TestDropBefore(t *testing.T) {
	l, _ := newLedger(t)
	oneCall(t, l, "old", nth(1), 1000)
	oneCall(t, l, "new", nth(2), 5000)
	begin(t, l, fmt.Sprintf(base, 3), 1500) // old, but it runs
	ended, err := l.Observe(testCall(l, "x", 1000), reason.CallerSession, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	finish(t, l, ended, goodOutcome(nth(3), "done", 1001))
	// it runs
	if _, err := l.Observe(testCall(l, "x", 1000), reason.CallerSession, "", 1); err != nil {
		t.Fatal(err)
	}
	for _, dry := range []bool{true, false} {
		chains, calls, err := l.DropBefore(4000, dry)
		if err != nil || chains != 1 || calls != 2 {
			t.Errorf("dry %v: %d chains, %d calls, %v", dry, chains, calls, err)
		}
	}
	wantCount(t, l, 2, "SELECT count(*) FROM chains")
	wantCount(t, l, 3, "SELECT count(*) FROM calls")
	if err := l.Check(); err != nil {
		t.Error(err)
	}
}

// manyChains makes chains of one session and so many calls each, last used at 1000.
func manyChains(t *testing.T, l *Ledger, chains, calls int) {
	t.Helper()
	if _, err := l.db.Exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO chains (id, tool, cwd, home, task, role, session_id, created, updated) SELECT i, 'claude', '/', '/', 't' || i, '', i, 1000, 1000 FROM n;
		INSERT INTO sessions (id, chain_id, tool, state, created, last_used, settings, model, runtime, auth, base, base_opening, base_bytes)
			SELECT id, id, 'claude', 'live', 1000, 1000, '', '', '', '', x'', 0, 0 FROM chains;
		INSERT INTO leases (session_id, boot, pid, pid_start, taken) SELECT id, 'another', 1, 1, 1 FROM sessions;
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO calls (chain_id, session_id, tool, cwd, started, mode, reason, format, prompt_bytes, sent_bytes, outcome)
			SELECT id, id, 'claude', '/', 1000, 'fresh', 'new_job', 'text', 1, 1, 'ok' FROM chains, n;
		INSERT INTO answers SELECT id, session_id, chain_id, '/', 1000, x'' FROM calls`, chains, calls); err != nil {
		t.Fatal(err)
	}
}

// wantWhole checks that each chain has all of its calls, and that no row refers to a chain or call
// that is gone.
func wantWhole(t *testing.T, l *Ledger, calls int) {
	t.Helper()
	wantCount(t, l, 0, "SELECT count(*) FROM chains c WHERE (SELECT count(*) FROM calls WHERE "+
		"chain_id = c.id) <> ? AND updated = 1000", calls)
	wantCount(t, l, 0, "SELECT count(*) FROM pragma_foreign_key_check")
	wantCount(t, l, 0, "SELECT count(*) FROM sessions WHERE chain_id NOT IN (SELECT id FROM "+
		"chains)")
}

// While old chains are removed other calls write, and a chain that one of them uses stays.
func TestDropBeforeInParts(t *testing.T) {
	const chains, calls = 100, 30
	for name, stops := range map[string]bool{"to the end": false, "broken off": true} {
		l, path := newLedger(t)
		manyChains(t, l, chains, calls)
		other, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		done := make(chan error)
		go func() {
			_, _, err := l.DropBefore(2000, false)
			done <- err
		}()
		left := chains
		for left == chains {
			if err := other.write(func(tx *sql.Tx) error {
				return tx.QueryRow("SELECT count(*) FROM chains").Scan(&left)
			}); err != nil {
				t.Fatal(err)
			}
		}
		if left == 0 {
			t.Fatalf("%s: all were removed at once", name)
		}
		if err := other.write(func(tx *sql.Tx) error {
			_, err := tx.Exec("UPDATE chains SET updated = 3000 WHERE id = ?", chains)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if stops {
			l.db.Close()
		}
		if err := <-done; (err != nil) != stops {
			t.Errorf("%s: %v", name, err)
		}
		wantWhole(t, other, calls)
		wantCount(t, other, calls, "SELECT count(*) FROM calls WHERE chain_id = ?", chains)
		if !stops {
			wantCount(t, other, 1, "SELECT count(*) FROM chains")
			wantCount(t, other, 1, "SELECT count(*) FROM leases")
			wantCount(t, other, calls, "SELECT count(*) FROM answers")
		}
		if err := other.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Neither one chain of many calls nor many calls without a chain are removed in one transaction.
func TestDropManyCalls(t *testing.T) {
	l, _ := newLedger(t)
	manyChains(t, l, 1, 2*dropAtOnce+1)
	if _, err := l.db.Exec(`INSERT INTO calls (tool, cwd, started, mode, reason, format, prompt_bytes, sent_bytes, outcome)
		SELECT tool, cwd, started, 'observe', reason, format, 1, 1, 'ok' FROM calls`); err != nil {
		t.Fatal(err)
	}
	for _, part := range []int64{dropAtOnce, dropAtOnce, 1} {
		err := l.write(func(tx *sql.Tx) error {
			var d Removal
			err := d.dropChain(tx, 1, dropAtOnce)
			if d.Calls != part || (d.Chains == 0) != (part == dropAtOnce) {
				t.Errorf("%+v, want %d calls", d, part)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		wantCount(t, l, 0, "SELECT count(*) FROM pragma_foreign_key_check")
	}
	if chains, calls, err := l.DropBefore(2000, false); err != nil || chains != 0 ||
		calls != 2*dropAtOnce+1 {
		t.Errorf("%d chains, %d calls, %v", chains, calls, err)
	}
	wantCount(t, l, 0, "SELECT count(*) FROM calls")
}

// A dry run writes nothing, also while another process has the ledger.
func TestDropBeforeDry(t *testing.T) {
	l, path := newLedger(t)
	manyChains(t, l, 3, 2)
	defer lockLedger(t, path)()
	if chains, calls, err := l.DropBefore(2000, true); err != nil || chains != 3 || calls != 6 {
		t.Errorf("%d chains, %d calls, %v", chains, calls, err)
	}
}

// A call can run for longer than its row is kept: the end is not recorded in another call's row.
func TestARowIsNotUsedAgain(t *testing.T) {
	l, _ := newLedger(t)
	long, err := l.Observe(testCall(l, "x", 1000), reason.CallerSession, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	old := oneCall(t, l, "old", nth(1), 2000)
	if _, _, err := l.DropBefore(3*day, false); err != nil {
		t.Fatal(err)
	}
	other, err := l.Observe(testCall(l, "x", 4*day), reason.CallerSession, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	now := oneCall(t, l, "old", nth(2), 4*day)
	if other.ID <= old.ID || now.Session <= old.Session || now.Chain <= old.Chain {
		t.Errorf("rows are used again: %+v, %+v, %+v", old, other, now)
	}
	finish(t, l, long, goodOutcome(nth(3), "done", 4*day))
	var outcome sql.NullString
	if err := l.db.QueryRow("SELECT outcome FROM calls WHERE id = ?",
		other.ID).Scan(&outcome); err != nil || outcome.Valid {
		t.Errorf("the other call has the outcome %v, %v", outcome, err)
	}
}

// Figures that no call can have do not keep the rest from being added up.
func TestFiguresBeyondReason(t *testing.T) {
	l, _ := newLedger(t)
	for n := range 2 {
		ticket, err := l.Observe(testCall(l, "x", 1000), reason.CallerSession, "", 1)
		if err != nil {
			t.Fatal(err)
		}
		o := goodOutcome(nth(n), "done", 1001)
		o.Seen.Usage = rewrite.Usage{Known: true, Input: math.MaxInt64, CacheRead: math.MinInt64,
			CacheWrite: math.MaxInt64,
			Output:     math.MaxInt64, CostKnown: true, CostNano: math.MaxInt64}
		finish(t, l, ticket, o)
	}
	var input, read, cost int64
	if err := l.db.QueryRow("SELECT sum(input), sum(cache_read), sum(cost) FROM calls").Scan(&input,
		&read, &cost); err != nil ||
		input != 2*maxFigure || read != 0 || cost != 2*maxFigure {
		t.Errorf("%d, %d, %d, %v", input, read, cost, err)
	}
}

func TestForget(t *testing.T) {
	l, path := newLedger(t)
	for n := range 200 { // so that the ledger has more pages than one
		oneCall(t, l, fmt.Sprintf("task-%d", n), nth(n), 1000)
	}
	secret := oneCall(t, l, "the-secret", nth(0xabcdef), 2000)
	if _, err := l.db.Exec(`INSERT OR REPLACE INTO answers VALUES (?, ?, 1, '/', 2000, x'');
		INSERT INTO leases (session_id, boot, pid, pid_start, taken) VALUES (?, 'another', 1, 1, 1)`, secret.ID, secret.Session, secret.Session); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Observe(testCall(l, "x", 3000), reason.CallerSession, "", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := l.db.Exec("UPDATE calls SET native_id = ? WHERE mode = 'observe'",
		nth(0xabcdef)); err != nil {
		t.Fatal(err)
	}
	// A row that a call has moved or removed leaves traces.
	if _, err := l.db.Exec("INSERT INTO runtimes VALUES ('the-secret', '', 0); DELETE FROM " +
		"runtimes WHERE fingerprint = 'the-secret'"); err != nil {
		t.Fatal(err)
	}
	chains, err := l.FindChains("the-secret")
	if err != nil || len(chains) != 1 || chains[0].NativeIDs[0] != nth(0xabcdef) {
		t.Fatalf("%+v, %v", chains, err)
	}
	would, err := l.Forget(chains[0], true)
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.Forget(chains[0], false)
	if would != f {
		t.Errorf("a dry run counts %+v, then there are %+v", would, f)
	}
	if err != nil || f != (Removal{1, 2}) {
		t.Errorf("%+v, %v", f, err)
	}
	wantCount(t, l, 0, "SELECT count(*) FROM pragma_foreign_key_check")
	for _, word := range []string{"the-secret", nth(0xabcdef), "its-own"} {
		if file := grep(t, filepath.Dir(path), word); file != "" {
			t.Errorf("%s is still in %s", word, file)
		}
	}
	if grep(t, filepath.Dir(path), "task-7") == "" {
		t.Error("others are gone, too")
	}
	if err := errors.Join(l.Check(), l.CheckWritable()); err != nil {
		t.Error(err)
	}
}

// grep names a file in dir that holds the word.
func grep(t *testing.T, dir, word string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(word)) {
			return f.Name()
		}
	}
	return ""
}

func TestForgetLeavesWhatIsHeld(t *testing.T) {
	l, _ := newLedger(t)
	begin(t, l, fmt.Sprintf(base, 1), 1000)
	chains, err := l.FindChains("c1")
	if err != nil || len(chains) != 1 {
		t.Fatal(chains, err)
	}
	if _, err := l.Forget(chains[0], false); !errors.Is(err, ErrInUse) {
		t.Errorf("%v", err)
	}
	wantCount(t, l, 1, "SELECT count(*) FROM calls")
}

func TestFindChains(t *testing.T) {
	l, _ := newLedger(t)
	oneCall(t, l, "one", nth(1), 1000)
	oneCall(t, l, "two", nth(2), 1000)
	oneCall(t, l, "1", nth(3), 1000)
	for name, want := range map[string]string{
		"c1": "1", "c2": "2", "1": "3", "2": "", "one": "1", "00000002": "2", "00000": "1 2 3",
		nth(3): "3", "000": "", "none": "", "": "", "%": "", "____": "",
	} {
		chains, err := l.FindChains(name)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range chains {
			got = append(got, fmt.Sprint(c.ID))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %s", name, got, want)
		}
	}
}

func TestClaimDaily(t *testing.T) {
	l, path := newLedger(t)
	other, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, step := range []struct {
		now  decide.Millis
		want bool
	}{{10 * day, true}, {10 * day, false}, {11 * day, false}, {11*day + 1, true},
		{5 * day, true}, {5*day + 1, false}} {
		for _, who := range []*Ledger{l, other} {
			due, err := who.ClaimDaily(PruneAll, step.now)
			if err != nil || due != (step.want && who == l) {
				t.Errorf("at %d: %v, %v", step.now, due, err)
			}
		}
	}
	if due, err := l.ClaimDaily(PruneSuperseded, 5*day); err != nil || !due {
		t.Errorf("another claim: %v, %v", due, err)
	}
}

// A session counts as superseded from the time on that a copy last continued it, unless it can be
// continued again.
func TestSuperseded(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(*Outcome) // of the copy, nil while it runs
		then string
		want decide.Millis // of the source
	}{
		"continued":     {func(*Outcome) {}, "", 4000},
		"the copy runs": {nil, "", 0},
		"the copy failed": {func(o *Outcome) { o.Exit, o.Seen.Outside = 1, reason.RateLimited },
			"", 0},
		"shared": {func(*Outcome) {}, "UPDATE sessions SET shared = 'team'", 0},
		"the copy is gone": {func(*Outcome) {},
			"UPDATE sessions SET file = NULL WHERE parent_id IS NOT NULL", 0},
		"not resumable": {func(*Outcome) {},
			"UPDATE sessions SET state = 'failed' WHERE parent_id IS NULL", 0},
	} {
		l, _ := newLedger(t)
		prompt := fmt.Sprintf(base, 1)
		_, first := beginCall(t, l, copyCall(l, prompt, 1000))
		finish(t, l, first, outcome(sourceID, "/source", 100, "", 2000))
		d, second := beginCall(t, l, copyCall(l, prompt+"\n\nMore.", 3000))
		if d.Mode != rewrite.Resume {
			t.Fatalf("%s: %s", name, d.Reason)
		}
		if tt.end != nil {
			o := outcome(nth(2), "/copy", 200, "", 4000)
			tt.end(o)
			finish(t, l, second, o)
		}
		if _, err := l.db.Exec(tt.then); err != nil {
			t.Fatal(err)
		}
		for _, f := range sessionFiles(t, l, 0) {
			if want := map[bool]decide.Millis{true: tt.want}[f.ID == first.Session]; f.Superseded != want {
				t.Errorf("%s: %s: %d, want %d", name, f.NativeID, f.Superseded, want)
			}
		}
		for before, want := range map[decide.Millis]bool{3999: false, 4000: tt.want > 0} {
			if has, err := l.HasSuperseded(before); err != nil || has != want {
				t.Errorf("%s: before %d: %v, %v", name, before, has, err)
			}
		}
	}
}

// A session that a caller has gone on with by itself is the caller's, also if no call shows that
// any more.
func TestSessionFileOfACaller(t *testing.T) {
	l, _ := newLedger(t)
	one := oneCall(t, l, "one", nth(1), 1000)
	if _, err := l.db.Exec("UPDATE sessions SET callers_own = 1 WHERE id = ?",
		one.Session); err != nil {
		t.Fatal(err)
	}
	if files := sessionFiles(t, l, 0); !files[0].Observed {
		t.Errorf("%+v", files)
	}
}

// A session counts as copied while the files of any copy below it are there.
func TestCopied(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	for i := range decide.Millis(3) {
		_, ticket := beginCall(t, l, copyCall(l, prompt, 1000*(i+1)))
		finish(t, l, ticket, outcome(nth(int(i)+1), fmt.Sprintf("/%d", i), 100, "", 1000*(i+1)+500))
		prompt += "\n\nMore."
	}
	for _, want := range [][]bool{{true, true, false}, {true, false}, {false}} {
		var copied []bool
		for _, f := range sessionFiles(t, l, 0) {
			copied = append(copied, f.Copied)
		}
		if !slices.Equal(copied, want) {
			t.Errorf("%v, want %v", copied, want)
		}
		if _, err := l.db.Exec("UPDATE sessions SET file = NULL WHERE id = (SELECT id FROM "+
			"sessions WHERE file IS NOT NULL ORDER BY id LIMIT 1 OFFSET ?)",
			len(want)/2); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRetireLeavesWhatIsContinued(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, first := beginCall(t, l, copyCall(l, prompt, 1000))
	finish(t, l, first, outcome(sourceID, "/source", 100, "", 2000))
	_, second := beginCall(t, l, copyCall(l, prompt+"\n\nMore.", 3000))
	finish(t, l, second, outcome(nth(2), "/copy", 200, "", 4000))
	source := sessionFiles(t, l, 0)[0]
	if d, _ := beginCall(t, l, copyCall(l, prompt+"\n\nLess.", 5000)); d.Mode != rewrite.Resume ||
		d.Session != first.Session {
		t.Fatalf("%+v", d)
	}
	if ok, err := l.Retire(source); err != nil || ok {
		t.Errorf("continued: %v, %v", ok, err)
	}
	source.Superseded = 0
	if ok, err := l.Retire(source); err != nil || !ok {
		t.Errorf("for its age: %v, %v", ok, err)
	}
}
