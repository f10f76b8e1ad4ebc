package ledger

import (
	"fmt"
	"sync"
	"testing"

	"reprise/ledger/decide"
	"reprise/ledger/proc"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

const (
	minute decide.Millis = 60_000
	hour                 = 60 * minute
)

// callerOf returns a caller with processes that have these PIDs, on one machine.
func callerOf(pids ...int) decide.Caller {
	c := decide.Caller{}
	for _, pid := range pids {
		c.Processes = append(c.Processes, callerProcess(pid))
	}
	return c
}

func callerProcess(pid int) decide.CallerProcess {
	return decide.CallerProcess{Process: proc.Process{Boot: "boot", Namespace: "pid:[1]",
		PID: pid, Start: int64(pid) * 100}, Name: fmt.Sprintf("program %d.sh", pid)}
}

// lockLedger keeps the ledger locked for writing until it is released, as another process would.
func lockLedger(t *testing.T, path string) (release func()) {
	t.Helper()
	other, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	tx, err := other.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() {
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	})
}

// wantCount checks the number that a query returns.
func wantCount(t *testing.T, l *Ledger, want int64, query string, args ...any) {
	t.Helper()
	var got int64
	if err := l.db.QueryRow(query, args...).Scan(&got); err != nil || got != want {
		t.Errorf("%s: %d, want %d, %v", query, got, want, err)
	}
}

// goodFacts is a call that is resumed.
func goodFacts() decide.Facts {
	p := decide.Fingerprints{Settings: "s", Model: "m", Runtime: "r", Auth: "a"}
	return decide.Facts{
		Request: decide.Request{Now: 100 * hour, Fingerprints: p,
			Limits: decide.Limits{TTL: hour, MaxAge: hour, ContextShare: 1}},
		Chains: []decide.ChainFacts{{
			Chain: 7, Session: 8, SessionRecord: decide.SessionRecord{NativeID: "id",
				State: decide.Live, Fingerprints: p,
				Created: 100*hour - minute, LastUsed: 100*hour - minute},
			Continuity: prompt.Continuity{Relation: reason.Extends, BeginsAlike: true},
			Evidence:   decide.Evidence{Transcript: true},
		}},
	}
}
