package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"

	"golang.org/x/sync/errgroup"
)

// late ends a run while somebody else has the ledger.
func late(t *testing.T, l *Ledger, path string, ticket *Ticket, o *Outcome) {
	t.Helper()
	release := lockLedger(t, path)
	finish(t, l, ticket, o)
	release()
	if len(l.spool.list()) == 0 {
		t.Fatal("nothing was kept")
	}
}

// newestTurns is how many turns the newest session has.
const newestTurns = "SELECT turns FROM sessions ORDER BY id DESC LIMIT 1"

func TestAnOutcomeThatCameTooLate(t *testing.T) {
	l, path := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, ticket := begin(t, l, prompt, 1000)
	o := goodOutcome(someID, "the answer is 42", 2000)
	o.Seen.Texts = []string{"first, the answer is unknown", "the answer is 42"}
	o.Seen.Usage = rewrite.Usage{Known: true, Input: 7}
	late(t, l, path, ticket, o)
	if o.Seen.Answer == "" {
		t.Error("the caller's outcome was changed")
	}
	for _, name := range l.spool.list() {
		text, err := os.ReadFile(name)
		info, statErr := os.Stat(name)
		if err != nil || statErr != nil || info.Mode() != 0o600 ||
			strings.Contains(string(text), "answer is") ||
			strings.Contains(string(text), "coder") {
			t.Errorf("%v %v: %s", info.Mode(), err, text)
		}
	}
	d, next := begin(t, l, prompt+"\n\nMore.", 3000)
	if d.NativeID != someID || len(l.spool.list()) != 0 {
		t.Errorf("%s (%s), %d left", d.Mode, d.Reason, len(l.spool.list()))
	}
	finish(t, l, next, goodOutcome(someID, "more", 4000))
	wantCount(t, l, 2, newestTurns)
}

// Of a call that ends and a call that starts, the first gives way.
func TestAnEndGivesWayToAStart(t *testing.T) {
	l, path := newLedger(t)
	_, ticket := begin(t, l, fmt.Sprintf(base, 1), 1000)
	starting, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer starting.Close()
	release, ok := l.lock.take(0)
	if !ok {
		t.Fatal("the ledger is in use")
	}
	var starts errgroup.Group
	starts.Go(func() error {
		_, _, err := Begin(starting, testCall(starting, "Another job.", 2000))
		return err
	})
	finish(t, l, ticket, goodOutcome(someID, "done", 2000))
	release()
	if err := starts.Wait(); err != nil || len(l.spool.list()) != 1 {
		t.Errorf("%v, %d in the spool", err, len(l.spool.list()))
	}
}

// A process that records an outcome can die before it has removed the file.
func TestAnOutcomeIsRecordedOnce(t *testing.T) {
	l, path := newLedger(t)
	_, ticket := begin(t, l, fmt.Sprintf(base, 1), 1000)
	late(t, l, path, ticket, goodOutcome(someID, "done", 2000))
	name := l.spool.list()[0]
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := l.RecordSpooled(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wantCount(t, l, 1, newestTurns)
}

// Runs of one moment, by processes of one PID in different PID namespaces, leave an outcome
// each, also after an outcome of that moment was recorded.
func TestOutcomesOfOneMoment(t *testing.T) {
	l, path := newLedger(t)
	var tickets []*Ticket
	for n := range 3 {
		_, ticket := begin(t, l, fmt.Sprintf(base, n), 1000)
		tickets = append(tickets, ticket)
	}
	for n, ticket := range tickets {
		late(t, l, path, ticket, goodOutcome(someID, "done", 2000))
		if n == 1 { // the third run's outcome comes alone
			if err := l.RecordSpooled(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.RecordSpooled(); err != nil {
		t.Fatal(err)
	}
	wantCount(t, l, 3, "SELECT count(*) FROM calls WHERE outcome = 'ok'")
	wantCount(t, l, 0, "SELECT count(*) FROM leases")
}

// A process that finds nothing in the spool when its turn comes writes nothing.
func TestSettleNothing(t *testing.T) {
	l, path := newLedger(t)
	_, ticket := begin(t, l, fmt.Sprintf(base, 1), 1000)
	late(t, l, path, ticket, goodOutcome(someID, "done", 2000))
	name := filepath.Base(l.spool.list()[0])
	for removed := range 2 {
		if got, err := l.settleSome(); err != nil || got != 1-removed {
			t.Fatal(got, err)
		}
		wantCount(t, l, 1, "SELECT count(*) FROM meta WHERE name = 'settled' AND value = "+
			"CAST(? AS BLOB)", name)
	}
}

// A file in the spool that is no outcome of this ledger changes nothing, and does not stay.
func TestStrangersInTheSpool(t *testing.T) {
	l, path := newLedger(t)
	_, ticket := begin(t, l, fmt.Sprintf(base, 1), 1000)
	late(t, l, path, ticket, goodOutcome(someID, "done", 2000))
	text, err := os.ReadFile(l.spool.list()[0])
	if err != nil {
		t.Fatal(err)
	}
	other, otherPath := newLedger(t)
	_, theirs := begin(t, other, fmt.Sprintf(base, 2), 1000) // of the same number
	if err := os.Mkdir(otherPath+".spool", 0o700); err != nil {
		t.Fatal(err)
	}
	// The writer cannot be seen: it has another PID namespace, or is gone.
	const unfinished = "0000000000000004-1073741824.tmp"
	for name, content := range map[string]string{
		"0000000000000001-7": string(text),
		"0000000000000002-7": "garbage",
		"0000000000000003-7": "",
	} {
		path := filepath.Join(otherPath+".spool", name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for age, left := range map[time.Duration]int{0: 1, 2 * spoolWrite: 0} {
		began := time.Now().Add(-age)
		err := os.WriteFile(filepath.Join(otherPath+".spool", unfinished), []byte("half"), 0o600)
		if err == nil {
			err = os.Chtimes(filepath.Join(otherPath+".spool", unfinished), began, began)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := other.RecordSpooled(); err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(otherPath + ".spool"); err != nil || len(entries) != left {
			t.Errorf("%v is left, %v", entries, err)
		}
	}
	wantRow(t, "theirs", row(t, other, "sessions", theirs.Session),
		map[string]any{"state": decide.Running})
	if theirs.ID != ticket.ID {
		t.Errorf("%d and %d", theirs.ID, ticket.ID)
	}
}

// lateBook is a ledger with a run that ends while a call begins: just before the facts are read.
type lateBook struct {
	*Ledger
	end func()
}

func (b lateBook) Load(c *Call) (*Reading, error) {
	b.end()
	return b.Ledger.Load(c)
}

// A run that ends while a call begins, and leaves the outcome in the spool, was not killed.
func TestAnOutcomeThatComesMeanwhile(t *testing.T) {
	l, path := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, ticket := begin(t, l, prompt, 1000)
	book := lateBook{l, func() {
		late(t, l, path, ticket, goodOutcome(someID, "done", 2000))
		execute(t, l, "UPDATE leases SET pid_start = pid_start + 1") // its process has ended
	}}
	d, _, err := Begin(book, testCall(l, prompt+"\n\nMore.", 3000))
	if err != nil || d.NativeID != someID {
		t.Errorf("%s (%s) of %q, %v", d.Mode, d.Reason, d.NativeID, err)
	}
}

// An outcome that can never be recorded is in nobody's way.
func TestAnOutcomeThatFitsNowhere(t *testing.T) {
	l, path := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, ticket := begin(t, l, prompt, 1000)
	bad := Ending{Ledger: l.name(), Calls: []savedRecord{{ticket.Record}}, Session: ticket.Session,
		Outcome: *goodOutcome(someID, "", 2000)}
	if err := l.spool.put(bad.Outcome.Now, EncodeJSON(bad)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.db.Exec("DELETE FROM leases"); err != nil {
		t.Fatal(err)
	}
	d, next := begin(t, l, prompt+"\n\nMore.", 3000)
	if d.Reason != reason.PreviousKilled {
		t.Errorf("%s (%s)", d.Mode, d.Reason)
	}
	finish(t, l, next, goodOutcome(someID, "done", 4000))
	late(t, l, path, ticket, goodOutcome(someID, "done", 5000))
	if d, _ := begin(t, l, prompt+"\n\nMore.\n\nAnd more.", 6000); d.Mode != rewrite.Resume {
		t.Errorf("%s (%s)", d.Mode, d.Reason)
	}
}

// One record that the ledger does not take keeps no other from being recorded.
func TestABadRecordIsSetAside(t *testing.T) {
	l, path := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, ticket := begin(t, l, prompt, 1000)
	late(t, l, path, ticket, goodOutcome(someID, "done", 2000))
	text, err := os.ReadFile(l.spool.list()[0])
	if err != nil {
		t.Fatal(err)
	}
	var bad map[string]any
	if err := json.Unmarshal(text, &bad); err != nil {
		t.Fatal(err)
	}
	bad["Blocks"] = nil // cannot be NULL
	text, err = json.Marshal(bad)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path+".spool", "0000000000000001-7"),
		text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.RecordSpooled(); err != nil || len(l.spool.list()) > 0 {
		t.Errorf("%v, %d left", err, len(l.spool.list()))
	}
	if d, _ := begin(t, l, prompt+"\n\nMore.", 3000); d.NativeID != someID {
		t.Errorf("%s (%s)", d.Mode, d.Reason)
	}
}

// A refusal that cannot be recorded leaves the session unused, and the call
// without one.
func TestARefusalThatIsNotRecorded(t *testing.T) {
	l, path := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, first := begin(t, l, prompt, 1000)
	finish(t, l, first, goodOutcome(someID, "done", 2000))
	_, second := begin(t, l, prompt+"\n\nMore.", 3000)
	_, bystander := begin(t, l, fmt.Sprintf(base, 2), 3000)
	release := lockLedger(t, path)
	if err := l.FallBack(second, reason.RefusedUnknown); err == nil {
		t.Fatal("the ledger was written")
	}
	if second.Session != 0 || second.Totals != "" {
		t.Errorf("it is in session %d, and counts on from %q", second.Session, second.Totals)
	}
	release()
	finish(t, l, second, goodOutcome("99999999-2222-4333-8444-555555555555", "done", 4000))
	// its process has ended
	if _, err := l.db.Exec("UPDATE leases SET pid_start = pid_start + 1"); err != nil {
		t.Fatal(err)
	}
	d, _ := begin(t, l, prompt+"\n\nMore.\n\nAnd more.", 5000)
	if d.Mode != rewrite.Fresh || d.Reason != reason.PreviousKilled {
		t.Errorf("%s (%s) of %q", d.Mode, d.Reason, d.NativeID)
	}
	wantCount(t, l, 3, "SELECT count(*) FROM calls WHERE chain_id = ?", second.Chain)
	wantRow(t, "the call", row(t, l, "calls", second.ID), map[string]any{
		"mode": rewrite.Fresh, "fell_back": reason.RefusedUnknown, "session_id": nil,
		"outcome": "ok"})
	wantRow(t, "another call", row(t, l, "calls", bystander.ID),
		map[string]any{"fell_back": nil, "session_id": bystander.Session})
}

// A call that found the ledger locked is recorded when it ends, once, also if another one is like
// it in everything.
func TestACallWhoseBeginningCameTooLate(t *testing.T) {
	l, path := newLedger(t)
	release := lockLedger(t, path)
	c := testCall(l, fmt.Sprintf(base, 1), 1000)
	if _, _, err := Begin(l, c); !IsLocked(err) {
		t.Fatal(err)
	}
	second, err := l.Observe(c, reason.CallerSession, someID, 7)
	if err != nil {
		t.Fatal(err)
	}
	own := l.spool.list() // it says that the session is the caller's
	if len(own) != 1 || os.Remove(own[0]) != nil {
		t.Fatal(own)
	}
	o := goodOutcome(someID, "", 2000)
	o.Exit = 3
	var texts [][]byte
	for n, ticket := range []*Ticket{l.ObserveLate(c, reason.Fault, 7), second} {
		if err := l.Finish(ticket, o); err != nil {
			t.Fatal(err)
		}
		name := l.spool.list()[0]
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
		if err := os.Rename(name, fmt.Sprintf("%s%d", name, n)); err != nil { // of another process
			t.Fatal(err)
		}
	}
	release()
	names := l.spool.list()
	if len(names) != 2 {
		t.Fatal(names)
	}
	for range 3 {
		if err := l.RecordSpooled(); err != nil {
			t.Fatal(err)
		}
		wantCount(t, l, 2, "SELECT count(*) FROM calls WHERE mode = 'observe' AND started = 1000 "+
			"AND duration = 1000 AND prompt_bytes = 7 AND exit_code = 3 AND native_id = ?", someID)
		for n, name := range names { // the process that recorded it died before it removed the file
			if err := os.WriteFile(name, texts[n], 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	wantCount(t, l, 2, "SELECT count(*) FROM calls")
}

// The fingerprint of an answer that is recorded late has the ledger's key, as every other one.
func TestLateAnswersHaveTheKey(t *testing.T) {
	l, _ := newLedger(t)
	c := testCall(l, "Fix it.", 1000)
	const answer = "I changed the retry loop in src/retry.py so that it gives up after the third " +
		"attempt."
	e := l.Ending(l.ObserveLate(c, reason.Fault, 7), []*Outcome{goodOutcome("", answer, 2000)})
	want := prompt.NewTraces(c.Prompt, []string{answer}, nil, nil, l.Key())
	if len(want.Lines) == 0 || !bytes.Equal(e.AnswerLines, encodeMarks(want.Lines)) {
		t.Errorf("lines %x, want %x", e.AnswerLines, encodeMarks(want.Lines))
	}
}

// A call's beginning records a part of the spool, so that it does not wait for all of it.
func TestBeginSettlesSome(t *testing.T) {
	l, _ := newLedger(t)
	for n := range maxSpooled + 2 {
		e := l.Ending(l.ObserveLate(testCall(l, "x", 1000), reason.Fault, 1),
			[]*Outcome{goodOutcome("", "", 2000)})
		if err := l.spool.put(decide.Millis(n), EncodeJSON(e)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := Begin(l, testCall(l, "Begin.", 3000)); err != nil || len(l.spool.list()) != 2 {
		t.Errorf("%v, %d left", err, len(l.spool.list()))
	}
}

// All that waits is recorded at once.
func TestSettleAll(t *testing.T) {
	l, _ := newLedger(t)
	for n := range 2*maxSpooled + 1 {
		e := l.Ending(l.ObserveLate(testCall(l, "x", 1000), reason.Fault, 1),
			[]*Outcome{goodOutcome("", "", 2000)})
		if err := l.spool.put(decide.Millis(n), EncodeJSON(e)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.RecordSpooled(); err != nil || len(l.spool.list()) > 0 {
		t.Errorf("%v, %d left", err, len(l.spool.list()))
	}
	wantCount(t, l, 2*maxSpooled+1, "SELECT count(*) FROM calls")
}

// A session's digests stay bytes when others are added.
func TestDigestsAreBytes(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	for n := range decide.Millis(2) {
		_, ticket := begin(t, l, prompt, 1000+n*1000)
		o := goodOutcome(someID, "done", 1500+n*1000)
		o.Seen.Texts = []string{"first", "done"}
		finish(t, l, ticket, o)
		prompt += "\n\nMore."
	}
	wantCount(t, l, 1, "SELECT count(*) FROM sessions WHERE typeof(answers) = 'blob' AND "+
		"typeof(said) = 'blob' AND typeof(things) = 'blob' AND length(answers) > 0 AND "+
		"length(said) > 0")
}

// No outcome is lost while other processes look for unfinished ones.
func TestSpoolWhileOthersLook(t *testing.T) {
	s := spool{t.TempDir()}
	const writers, each = 4, 100
	var writing, looking errgroup.Group
	for w := range writers {
		writing.Go(func() error {
			for i := range each {
				if err := s.put(decide.Millis(w*each+i), "outcome"); err != nil {
					return err
				}
			}
			return nil
		})
	}
	done := make(chan struct{})
	for range writers {
		looking.Go(func() error {
			for {
				select {
				case <-done:
					return nil
				default:
					s.list()
				}
			}
		})
	}
	err := writing.Wait()
	close(done)
	_ = looking.Wait()
	if entries, _ := os.ReadDir(s.dir); err != nil || len(entries) != writers*each {
		t.Errorf("%d outcomes, %v", len(entries), err)
	}
}
