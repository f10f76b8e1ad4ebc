package shim

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"reprise/ledger"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

func TestSlowLedgerIsLeftBehind(t *testing.T) {
	c := &timedLedger{}
	if _, err := inTime(c, func() (int, error) { panic("broken") }); err == nil ||
		errors.Is(err, errSlow) {
		t.Fatalf("after a panic: %v", err)
	}
	held := make(chan struct{})
	defer close(held)
	start := time.Now()
	if _, err := inTime(c, func() (int, error) { <-held; return 1, nil }); !errors.Is(err,
		errSlow) {
		t.Fatalf("a ledger that hangs: %v", err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
	ran := false
	if _, err := inTime(c, func() (int, error) { ran = true; return 1, nil }); !errors.Is(err,
		errSlow) || ran {
		t.Errorf("the next use of a slow ledger: %v, ran: %v", err, ran)
	}
}

func TestSlowLedgerTimeOfGitDoesNotCount(t *testing.T) {
	c := &timedLedger{}
	answered, err := inTime(c, func() (bool, error) {
		return askGit(c, func() bool { time.Sleep(ledgerLimit + ledgerLimit/2); return true }), nil
	})
	if err != nil || !answered || c.slow {
		t.Errorf("git took longer than the ledger's limit: %v", err)
	}
}

// A refused resume is followed by a run that waits for the ledger's time at most.
func TestSlowLedgerDoesNotDelayTheFreshRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, err := ledger.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, ticket, err := ledger.Begin(l, &ledger.Call{Record: ledger.Record{Tool: "claude", Cwd: "/w"},
		Prompt: prompt.New("Begin.", l.Key())})
	if err != nil {
		t.Fatal(err)
	}
	first := ticket.Session
	timed := &timedLedger{Ledger: l}
	c := &decided{found: newFound(&asked{ledger: timed, log: &log{}}), ticket: ticket}
	c.fallBack(reason.RefusedUnknown)
	if timed.slow || c.ticket.Session == 0 || c.ticket.Session == first {
		t.Fatalf("a refusal is not recorded: %+v", c.ticket)
	}
	lock, err := syscall.Open(path+".lock", syscall.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(lock)
	if err := syscall.Flock(lock, syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	timed.spent = ledgerLimit - limitStep
	c.fallBack(reason.RefusedUnknown)
	if !timed.slow || c.ticket.Session != 0 {
		t.Errorf("the call waited for the ledger: %v, session %d", timed.slow, c.ticket.Session)
	}
}
