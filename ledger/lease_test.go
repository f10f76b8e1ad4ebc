package ledger

import (
	"errors"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A tool that goes on when its shim is gone keeps the session.
func TestAnOrphanKeepsItsLease(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, first := begin(t, l, prompt, 1000)
	finish(t, l, first, goodOutcome(someID, "done", 2000))
	_, second := begin(t, l, prompt+"\n\nMore.", 3000)
	tool := exec.Command("sleep", "60")
	if err := tool.Start(); err != nil {
		t.Fatal(err)
	}
	defer tool.Process.Kill()
	if err := l.Pin(second.Session, someID, tool.Process.Pid); err != nil {
		t.Fatal(err)
	}
	// the shim is gone
	if _, err := l.db.Exec("UPDATE leases SET pid_start = pid_start + 1"); err != nil {
		t.Fatal(err)
	}
	more := prompt + "\n\nMore.\n\nAnd more."
	preview := func() reason.Code {
		d, _, err := Preview(l, testCall(l, more, 4000))
		if err != nil {
			t.Fatal(err)
		}
		return d.Reason
	}
	if got := preview(); got != reason.Leased || endedAs(t, l, second.ID, 4000) != "" {
		t.Errorf("while the tool works: %s", got)
	}
	if err := tool.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	tool.Wait()
	if got := endedAs(t, l, second.ID, 4000); got != "killed" {
		t.Errorf("when it is gone, the call's outcome is %q", got)
	}
	if got := preview(); got != reason.PreviousKilled {
		t.Errorf("when it is gone: %s", got)
	}
	finish(t, l, second, goodOutcome(someID, "done", 5000)) // it was in another container
	if got := endedAs(t, l, second.ID, 6000); got != "ok" {
		t.Errorf("an end that comes later: %q", got)
	}
}

// endedAs returns a call's outcome once lost calls have ended.
func endedAs(t *testing.T, l *Ledger, call int64, now decide.Millis) (outcome string) {
	t.Helper()
	if err := l.EndLost(now); err != nil {
		t.Fatal(err)
	}
	if err := l.db.QueryRow("SELECT coalesce(outcome, '') FROM calls WHERE id = ?",
		call).Scan(&outcome); err != nil {
		t.Fatal(err)
	}
	return outcome
}

// A call without a session counts as running for a day, since nothing shows whether its process
// lives.
func TestLostWithoutASession(t *testing.T) {
	l, _ := newLedger(t)
	ticket, err := l.Observe(testCall(l, "mine", 3000), reason.CallerSession, "", 4)
	if err != nil {
		t.Fatal(err)
	}
	if got := endedAs(t, l, ticket.ID, 3000+day); got != "" {
		t.Errorf("after a day: %q", got)
	}
	if got := endedAs(t, l, ticket.ID, 3001+day); got != "killed" {
		t.Errorf("after more than a day: %q", got)
	}
}

// A fact of a tool that is noted too late does not get into the lease of the next tool.
func TestLatePinLeavesAnothersLease(t *testing.T) {
	l, _ := newLedger(t)
	_, ticket := begin(t, l, fmt.Sprintf(base, 1), 1000)
	child := func() (pid int) {
		if err := l.db.QueryRow("SELECT child FROM leases").Scan(&pid); err != nil {
			t.Fatal(err)
		}
		return pid
	}
	for _, step := range []struct {
		tool, want int
		after      string
	}{{100, 100, "UPDATE leases SET pid = pid + 1"}, {200, 100, ""}} {
		if err := l.Pin(ticket.Session, someID, step.tool); err != nil {
			t.Fatal(err)
		}
		if got := child(); got != step.want {
			t.Errorf("the lease names %d, want %d", got, step.want)
		}
		if _, err := l.db.Exec(step.after); err != nil {
			t.Fatal(err)
		}
	}
}

// A call that is to wait is not recorded while it does.
func TestWaiting(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, first := begin(t, l, prompt, 1000)
	waiting := testCall(l, prompt+"\n\nMore.", 1500)
	waiting.Wait = true
	if _, _, err := Begin(l, waiting); !errors.Is(err, ErrHeld) {
		t.Fatalf("%v", err)
	}
	wantCount(t, l, 1, "SELECT count(*) FROM calls")
	other := testCall(l, prompt+"\n\nMore.", 1500)
	other.Wait, other.Fingerprints.Model = true, "another"
	if d, _, err := Preview(l, other); err != nil || d.Reason != reason.ModelChanged {
		t.Errorf("what cannot be resumed anyway would wait: %s, %v", d.Reason, err)
	}
	finish(t, l, first, goodOutcome(someID, "done", 2000))
	waiting.Now = 2500
	if d, _, err := Begin(l, waiting); err != nil || d.Mode != rewrite.Resume {
		t.Errorf("then %s (%s), %v", d.Mode, d.Reason, err)
	}
}

// A process of another PID namespace cannot be seen: its call counts as running for a day, and so
// does a call from the future, since the clock might have been set back.
func TestLeaseOfAnotherNamespace(t *testing.T) {
	for _, over := range []decide.Millis{day + hour, -day - hour} {
		testHiddenLease(t, over)
	}
}

func testHiddenLease(t *testing.T, over decide.Millis) {
	t.Helper()
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	now := decide.MillisOf(time.Now())
	_, first := begin(t, l, prompt, now)
	finish(t, l, first, goodOutcome(someID, "done", now+1000))
	_, second := begin(t, l, prompt+"\n\nMore.", now+2000)
	// In the container the PID is another one, which no process has here.
	if _, err := l.db.Exec("UPDATE leases SET namespace = 'pid:[1]', pid = 1 << 30, pid_start = " +
		"5000"); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		held    bool
		outcome string
		reason  reason.Code
		after   decide.Millis
	}{{true, "", reason.Leased, 0}, {false, "killed", reason.PreviousKilled, over}} {
		if _, err := l.db.Exec("UPDATE leases SET taken = taken - ?", step.after); err != nil {
			t.Fatal(err)
		}
		files, err := l.SessionFiles(0)
		if err != nil || len(files) != 1 || files[0].Held != step.held {
			t.Errorf("prune sees %+v, want held %v, %v", files, step.held, err)
		}
		d, _, err := Preview(l, testCall(l, prompt+"\n\nMore.\n\nAnd more.", now+4000))
		if err != nil || d.Reason != step.reason {
			t.Errorf("the next call: %s, want %s, %v", d.Reason, step.reason, err)
		}
		if got := endedAs(t, l, second.ID, now+4000); got != step.outcome {
			t.Errorf("its outcome is %q, want %q", got, step.outcome)
		}
	}
}

// A dead lease goes with the call, and when the chain goes on: then the call has ended as well.
func TestDeadLeasesGo(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	kill := func() {
		if _, err := l.db.Exec("UPDATE leases SET boot = 'an earlier one'"); err != nil {
			t.Fatal(err)
		}
	}
	_, first := begin(t, l, prompt, 1000)
	finish(t, l, first, goodOutcome(someID, "done", 2000))
	begin(t, l, prompt+"\n\nMore.", 3000)
	kill()
	begin(t, l, prompt+"\n\nMore.\n\nAnd more.", 4000)
	wantCount(t, l, 1, "SELECT count(*) FROM leases")
	wantCount(t, l, 1, "SELECT count(*) FROM calls WHERE started = 3000 AND outcome = 'killed'")
	wantCount(t, l, 1, "SELECT count(*) FROM calls WHERE outcome IS NULL")
	kill()
	if err := l.EndLost(5000); err != nil {
		t.Fatal(err)
	}
	wantCount(t, l, 0, "SELECT count(*) FROM leases")
}

// A call with an outcome in the spool is not lost.
func TestAnOutcomeInTheSpoolIsNoLoss(t *testing.T) {
	l, path := newLedger(t)
	_, ticket := begin(t, l, fmt.Sprintf(base, 1), 1000)
	release := lockLedger(t, path)
	finish(t, l, ticket, goodOutcome(someID, "done", 2000))
	release()
	if _, err := l.db.Exec("UPDATE leases SET boot = 'an earlier one'"); err != nil {
		t.Fatal(err)
	}
	if got := endedAs(t, l, ticket.ID, 3000); got != "ok" {
		t.Errorf("%q, want ok", got)
	}
}
