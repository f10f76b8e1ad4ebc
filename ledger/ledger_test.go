package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"reprise/ledger/decide"
	"reprise/ledger/proc"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

func newLedger(t *testing.T) (*Ledger, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state", "ledger.db")
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, path
}

// checkFirstBlocks: each chain is found by the first line of its newest session's first prompt.
func checkFirstBlocks(t *testing.T, l *Ledger) {
	t.Helper()
	var chain, session int64
	err := l.db.QueryRow(`SELECT c.id, coalesce(c.session_id, 0) FROM chains c LEFT JOIN sessions s ON s.id = c.session_id
		WHERE c.first_line <> coalesce(substr(s.root, 1, 16), c.first_line) LIMIT 1`).Scan(&chain, &session)
	if !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("chain %d does not begin as its session %d: %v", chain, session, err)
	}
}

// base is long enough to tell a job from others.
var base = "You are the coder of job %d.\n\n" +
	strings.Repeat("Keep every function small and clear. ", 8)

func begin(t *testing.T, l *Ledger, prompt string, now decide.Millis) (decide.Decision, *Ticket) {
	t.Helper()
	checkFirstBlocks(t, l)
	d, ticket, err := Begin(l, testCall(l, prompt, now))
	if err != nil {
		t.Fatal(err)
	}
	return d, ticket
}

// foresee returns the decision on a call.
func foresee(t *testing.T, l *Ledger, text string, now decide.Millis) decide.Decision {
	t.Helper()
	checkFirstBlocks(t, l)
	facts, err := l.readFacts(testCall(l, text, now))
	if err != nil {
		t.Fatal(err)
	}
	return decide.Decide(facts)
}

func finish(t *testing.T, l *Ledger, ticket *Ticket, o *Outcome) {
	t.Helper()
	if err := l.Finish(ticket, o); err != nil {
		t.Fatal(err)
	}
	checkFirstBlocks(t, l)
}

const someID = "11111111-2222-4333-8444-555555555555"

func TestOnlyAGoodRunIsResumed(t *testing.T) {
	outcomes := map[string]struct {
		change func(*Outcome)
		want   reason.Code
	}{
		"good":   {func(*Outcome) {}, reason.Extends},
		"exit 1": {func(o *Outcome) { o.Exit = 1 }, reason.PreviousFailed},
		"a command left": {func(o *Outcome) { o.Seen.Background = true },
			reason.BackgroundLeft},
		"no final event": {func(o *Outcome) { o.Seen.Final = false },
			reason.PreviousFailed},
		"an error": {func(o *Outcome) { o.Seen.Failed = true },
			reason.PreviousFailed},
		"not a model": {func(o *Outcome) { o.Seen.Synthetic = true },
			reason.PreviousFailed},
		"no id": {func(o *Outcome) { o.Seen.ID = "" },
			reason.PreviousFailed},
		"killed":         {func(o *Outcome) { o.Signal = 9 }, reason.PreviousKilled},
		"not understood": {func(o *Outcome) { o.Printed, o.Seen.Malformed, o.Seen.Failed = true, true, true }, reason.Unread},
		"no final event that is known": {func(o *Outcome) { o.Printed, o.Seen.Final = true, false },
			reason.Unread},
		"no id that is known": {func(o *Outcome) { o.Printed, o.Seen.ID = true, "" },
			reason.Unread},
		"not understood, and exit 1": {func(o *Outcome) { o.Printed, o.Exit, o.Seen.Final = true, 1, false }, reason.PreviousFailed},
		"not understood, and told to end": {func(o *Outcome) {
			o.Printed, o.Seen.Final, o.Seen.Outside = true, false, reason.Interrupted
		}, reason.PreviousFailed},
		"an error that is understood": {func(o *Outcome) { o.Printed, o.Seen.Failed = true, true },
			reason.PreviousFailed},
		"overflow": {func(o *Outcome) {
			o.Exit, o.Seen.Failed, o.Seen.Refusal = 1, true, reason.RefusedContext
		}, reason.SessionDead},
	}
	for name, tt := range outcomes {
		l, _ := newLedger(t)
		prompt := fmt.Sprintf(base, 1)
		_, ticket := begin(t, l, prompt, 1000)
		o := goodOutcome(someID, "done", 2000)
		tt.change(o)
		finish(t, l, ticket, o)
		if d, _ := begin(t, l, prompt+"\n\nMore.", 3000); d.Reason != tt.want {
			t.Errorf("%s: then %s (%s), want %s", name, d.Mode, d.Reason, tt.want)
		}
	}
}

// An ID of another form than the tool's is not resumed, even if the ledger has it.
func TestNoIDOfAnotherFormIsResumed(t *testing.T) {
	for _, id := range []string{"--dangerously-skip-permissions", "../x", someID + "\n",
		"", someID[1:]} {
		l, _ := newLedger(t)
		prompt := fmt.Sprintf(base, 1)
		_, ticket := begin(t, l, prompt, 1000)
		finish(t, l, ticket, goodOutcome(someID, "done", 2000))
		if _, err := l.db.Exec("UPDATE sessions SET native_id = ?", id); err != nil {
			t.Fatal(err)
		}
		if d, _ := begin(t, l, prompt+"\n\nMore.", 3000); d.Mode != rewrite.Fresh ||
			d.NativeID != "" {
			t.Errorf("%q: %s of %q", id, d.Mode, d.NativeID)
		}
	}
}

func TestARunThatNeverEndedIsNotResumed(t *testing.T) {
	prompt := fmt.Sprintf(base, 1)
	for holder, want := range map[string]reason.Code{"": reason.Leased,
		"an earlier boot": reason.PreviousKilled} {
		l, _ := newLedger(t)
		begin(t, l, prompt, 1000)
		if holder != "" { // its process is gone, without a word
			if _, err := l.db.Exec("UPDATE leases SET boot = ?", holder); err != nil {
				t.Fatal(err)
			}
		}
		if d, _ := begin(t, l, prompt+"\n\nMore.", 2000); d.Reason != want {
			t.Errorf("%s, want %s", d.Reason, want)
		}
	}
}

func TestFallBack(t *testing.T) {
	for _, why := range []reason.Code{reason.RefusedUnknown, reason.RefusedBusy} {
		l, _ := newLedger(t)
		prompt := fmt.Sprintf(base, 1)
		_, first := begin(t, l, prompt, 1000)
		finish(t, l, first, goodOutcome(someID, "done", 2000))
		d, second := begin(t, l, prompt+"\n\nMore.", 3000)
		if d.Mode != rewrite.Resume || second.Session != first.Session {
			t.Fatalf("%s (%s)", d.Mode, d.Reason)
		}
		if err := l.FallBack(second, why); err != nil {
			t.Fatal(err)
		}
		if second.Session == first.Session {
			t.Error("the fresh run shares the session that was refused")
		}
		other := "99999999-2222-4333-8444-555555555555"
		finish(t, l, second, goodOutcome(other, "done", 4000))
		if d, _ := begin(t, l, prompt+"\n\nMore.\n\nAnd more.", 5000); d.NativeID != other {
			t.Errorf("after %s: resumes %q", why, d.NativeID)
		}
		wantCount(t, l, 2, "SELECT count(*) FROM sessions s JOIN chains c ON c.id = s.chain_id")
		want := map[reason.Code]decide.State{reason.RefusedUnknown: decide.Dead,
			reason.RefusedBusy: decide.Live}[why]
		wantRow(t, "after "+string(why), row(t, l, "sessions", first.Session),
			map[string]any{"state": want})
	}
}

// Of many that want one session, one gets it.
func TestOneResumesAtATime(t *testing.T) {
	l, path := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, ticket := begin(t, l, prompt, 1000)
	finish(t, l, ticket, goodOutcome(someID, "done", 2000))
	resumed := 0
	beginAtOnce(t, path, prompt, testCall, func(d decide.Decision, _ *Ticket) {
		if d.Mode == rewrite.Resume {
			resumed++
		}
	})
	if resumed != 1 {
		t.Errorf("%d resumed one session at once", resumed)
	}
}

// beginAtOnce begins 16 calls that each add to a prompt, at 3000, each with the ledger
// opened for itself, and looks at the decisions, one after the other.
func beginAtOnce(t *testing.T, path, prompt string,
	newCall func(*Ledger, string, decide.Millis) *Call, look func(decide.Decision, *Ticket)) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			own, err := Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer own.Close()
			d, ticket, err := Begin(own, newCall(own, prompt+fmt.Sprintf("\n\nNote %d.", i), 3000))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			look(d, ticket)
		})
	}
	wg.Wait()
}

func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign.db")
	db, err := sql.Open("sqlite3", foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE theirs (x)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	if _, err := Open(foreign); !errors.Is(err, ErrForeign) {
		t.Errorf("someone else's file: %v", err)
	}
	l, newer := newLedger(t)
	if _, err := l.db.Exec("PRAGMA user_version = 999"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(newer); !errors.Is(err, ErrNewer) {
		t.Errorf("a newer file: %v", err)
	}
	if _, err := l.db.Exec("PRAGMA user_version = -1"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(newer); !errors.Is(err, ErrDamaged) {
		t.Errorf("a negative version: %v", err)
	}
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("garbage", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(garbage); err == nil {
		t.Error("garbage is taken for a ledger")
	}
	odd := filepath.Join(dir, "a directory?with #odd %20 signs", "ledger.db")
	if l, err := Open(odd); err != nil {
		t.Errorf("a path with odd signs: %v", err)
	} else {
		l.Close()
		if _, err := os.Stat(odd); err != nil {
			t.Error(err)
		}
	}
}

func TestALockedLedgerDelaysLittle(t *testing.T) {
	l, path := newLedger(t)
	defer lockLedger(t, path)()
	if _, _, err := Begin(l, testCall(l, "x", 1000)); err == nil {
		t.Error("a locked ledger was written to")
	}
	if LockTimeout > 100*time.Millisecond {
		t.Errorf("waits for %v", LockTimeout)
	}
}

func TestFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "ledger.db")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{dir, path} {
		if err := os.Chmod(p, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, p := range []string{dir, path} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", filepath.Base(p), info.Mode())
		}
	}
}

// Where a ledger is to be there can be a link to a device, or to somebody's home.
func TestNoStrangerIsMadePrivate(t *testing.T) {
	for name, test := range map[string]struct {
		mode fs.FileMode
		make func(path string, mode uint32) error
	}{"fifo": {0o666, syscall.Mkfifo}, "directory": {0o755, syscall.Mkdir}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := test.make(filepath.Join(dir, name), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(dir, name), test.mode); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "ledger.db")
			if err := os.Symlink(name, path); err != nil {
				t.Fatal(err)
			}
			if l, err := Open(path); err == nil {
				l.Close()
				t.Error("it is a ledger")
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != test.mode {
				t.Errorf("%v, %v", info.Mode(), err)
			}
		})
	}
}

func TestProcess(t *testing.T) {
	self := proc.This()
	if !self.Alive() {
		t.Error("this process is dead")
	}
	later := self
	later.Start++
	if self.Start != 0 && later.Alive() {
		t.Error("a pid that somebody else has now is alive")
	}
	earlier := self
	earlier.Boot = "an earlier boot"
	if earlier.Alive() {
		t.Error("a process of an earlier boot is alive")
	}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	child := proc.ByPID(cmd.Process.Pid)
	if !child.Alive() {
		t.Error("a running child is dead")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if child.Alive() || (proc.Process{}).Alive() {
		t.Error("a process that is gone is alive")
	}
}

func TestAnswersSurviveTheLedger(t *testing.T) {
	key := prompt.Key("k")
	want := []prompt.Answer{
		prompt.NewAnswer("one\n\ntwo", []string{"first", "one\n\ntwo"}, key),
		prompt.NewAnswer("", nil, key),
		prompt.NewAnswer("three", []string{"three"}, key),
	}
	var column, said []byte
	for _, a := range want {
		column, said = append(column, encodeAnswer(a)...), append(said, encodeSaid(a)...)
	}
	got := decodeAnswers(column, said)
	if len(got) != 3 || got[0].Bytes != 6 || len(got[0].Lines) != 2 || len(got[1].Lines) != 0 ||
		got[2].Lines[0] != want[2].Lines[0] {
		t.Errorf("%+v", got)
	}
	if !reflect.DeepEqual(got[0].Said, want[0].Said) || len(got[0].Said[0].Lines) != 3 ||
		got[1].Said != nil || got[2].Said != nil {
		t.Errorf("other forms: %+v", got)
	}
	for i := range column {
		// damaged: no panic, and no answer invented
		for _, a := range decodeAnswers(column[:i], said[:min(i, len(said))]) {
			if len(a.Lines) > 0 && a.Lines[0] != want[0].Lines[0] &&
				a.Lines[0] != (prompt.Digest{}) {
				t.Fatalf("cut at %d: %+v", i, a)
			}
		}
	}
}

func TestProbes(t *testing.T) {
	l, _ := newLedger(t)
	if b, err := l.Binary("claude", "x"); b.Probed || err != nil {
		t.Errorf("known %v, %v", b, err)
	}
	want := rewrite.Probe{Known: true,
		Options: []rewrite.Option{{Names: []string{"--new"}, Arity: rewrite.OneValue}}}
	for _, learn := range []func(*Binary){
		func(b *Binary) { b.Refuses = true }, func(b *Binary) { b.Probed, b.Probe = true, want },
		func(b *Binary) { b.NoResume = true },
	} {
		if err := l.LearnBinary("claude", "x", 1, learn); err != nil {
			t.Fatal(err)
		}
	}
	b, err := l.Binary("claude", "x")
	if got := b.Probe; !b.Probed || err != nil || len(got.Options) != 1 ||
		got.Options[0].Arity != rewrite.OneValue || got.Resume {
		t.Errorf("%+v, %v", b, err)
	}
	if !b.Refuses || !b.NoResume || b.Accepts {
		t.Errorf("%+v", b)
	}
	// a version manager's shim is one file for all tools
	if b, _ := l.Binary("codex", "x"); b.Probed {
		t.Error("what claude's help says is taken for codex's")
	}
	if err := errors.Join(l.Check(), l.CheckWritable()); err != nil {
		t.Error(err)
	}
}

func testCall(l *Ledger, text string, now decide.Millis) *Call {
	return &Call{
		Record: Record{Tool: "claude", Cwd: "/project", Format: rewrite.Text},
		Home:   "/home/.claude",
		Prompt: prompt.New(text, l.Key()),
		Request: decide.Request{Now: now,
			Limits: decide.Limits{TTL: 30 * 60_000, MaxAge: 24 * 3_600_000,
				ContextShare: 0.8, MinBase: 200, Unnamed: rewrite.UnnamedExtends}},
		Stored: func(string, string, decide.Stamp) decide.StoredState { return decide.StoredSame },
	}
}

func goodOutcome(id, answer string, now decide.Millis) *Outcome {
	return &Outcome{Now: now, Seen: rewrite.StreamState{ID: id, Final: true,
		Content: true, Answer: answer}, File: "/f", Stamp: "1"}
}

// A chain that was not looked at could fit as well.
func TestManyChains(t *testing.T) {
	l, err := Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	now := decide.Millis(1_800_000_000_000)
	send := func(prompt string) {
		now++
		_, ticket, err := Begin(l, testCall(l, prompt, now))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Finish(ticket,
			goodOutcome("00000000-0000-4000-8000-00000000000a", "done", now)); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want reason.Code) {
		d := foresee(t, l, "# Job\n\n"+strings.Repeat("base ", 50)+"\n\nmore", now)
		if d.Reason != want {
			t.Errorf("%s (%s), want %s", d.Mode, d.Reason, want)
		}
	}
	for i := range MaxCandidates {
		send(fmt.Sprintf("Item %d.", i)) // begins otherwise
	}
	for i := range MaxCandidates - 1 {
		send(fmt.Sprintf("# Job\n\nItem %d.", i))
	}
	send("# Job\n\n" + strings.Repeat("base ", 50))
	expect(reason.Extends)
	send("# Job\n\nOne more item.")
	expect(reason.Ambiguous)
}

// A chain with prompts that begin otherwise cannot be the call's, but somebody can want to see the
// call compared with it.
func TestOtherBeginnings(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1) + "\n\nDo it."
	if d := foresee(t, l, prompt, 1); d.Reason != reason.FirstCall {
		t.Errorf("in an empty ledger: %s", d.Reason)
	}
	_, ticket := begin(t, l, prompt, 1)
	if err := l.Finish(ticket, goodOutcome(someID, "done", 2)); err != nil {
		t.Fatal(err)
	}
	_, another, _ := strings.Cut(prompt, "\n\n")
	another = "Round 2\n\n" + another
	d, chains, err := Preview(l, testCall(l, another, 3))
	if err != nil || d.Reason != reason.NewJob || len(chains) != 1 ||
		chains[0].Continuity.Relation != reason.Unrelated {
		t.Errorf("%s (%s) beside %+v, %v", d.Mode, d.Reason, chains, err)
	}
	if d := foresee(t, l, another,
		3+testCall(l, "", 0).Limits.MaxAge); d.Reason != reason.FirstCall {
		t.Errorf("beside a chain that is too old: %s", d.Reason)
	}
}

// A long log is folded into the file, a short one is left to the next.
func TestFold(t *testing.T) {
	l, _ := newLedger(t)
	pages := func() (log, folded int) {
		var busy int
		if err := l.db.QueryRow("PRAGMA wal_checkpoint(NOOP)").Scan(&busy,
			&log, &folded); err != nil {
			t.Fatal(err)
		}
		return log, folded
	}
	for i := range longLog {
		before, folded := pages()
		if err := l.Fold(); err != nil {
			t.Fatal(err)
		}
		if _, after := pages(); (after == before) != (before-folded > longLog) {
			t.Fatalf("of %d pages %d were folded, then %d", before, folded, after)
		}
		if before > longLog {
			return
		}
		if err := l.LearnBinary("claude", fmt.Sprint(i), 1, func(b *Binary) {
			b.Probed = true
		}); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the log does not grow")
}
