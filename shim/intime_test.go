package shim

import (
	"errors"
	"testing"
	"time"
)

func TestSlowLedgerIsLeftBehind(t *testing.T) {
	c := &call{}
	if _, err := inTime(c, func() (int, error) { panic("broken") }); err == nil || errors.Is(err, errSlow) {
		t.Fatalf("after a panic: %v", err)
	}
	held := make(chan struct{})
	defer close(held)
	start := time.Now()
	if _, err := inTime(c, func() (int, error) { <-held; return 1, nil }); !errors.Is(err, errSlow) {
		t.Fatalf("a ledger that hangs: %v", err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
	ran := false
	if _, err := inTime(c, func() (int, error) { ran = true; return 1, nil }); !errors.Is(err, errSlow) || ran {
		t.Errorf("the next use of a slow ledger: %v, ran: %v", err, ran)
	}
}

func TestSlowLedgerTimeOfGitDoesNotCount(t *testing.T) {
	c := &call{}
	answered, err := inTime(c, func() (bool, error) {
		return askGit(c, func() bool { time.Sleep(ledgerLimit + ledgerLimit/2); return true }), nil
	})
	if err != nil || !answered || c.slow {
		t.Errorf("git took longer than the ledger's limit: %v", err)
	}
}
