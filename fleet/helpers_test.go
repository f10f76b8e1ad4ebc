package fleet

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
)

var update = flag.Bool("update", false, "write testdata/register.json anew")

func newLedger(t testing.TB) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

var base = "You are the coder of job %d.\n\n" +
	strings.Repeat("Keep every function small and clear. ", 8)

func nth(n int) string { return fmt.Sprintf("%08x-2222-4333-8444-555555555555", n) }

func testCall(text string, key prompt.Key, now decide.Millis) *ledger.Call {
	return &ledger.Call{
		Record: ledger.Record{Tool: "claude", Cwd: "/project", Format: rewrite.Text},
		Home:   "/home/.claude",
		Prompt: prompt.New(text, key),
		Request: decide.Request{Now: now,
			Limits: decide.Limits{TTL: 30 * 60_000, MaxAge: 24 * 3_600_000,
				ContextShare: 0.8, MinBase: 200, Unnamed: rewrite.UnnamedExtends}},
		Stored: func(string, string, decide.Stamp) decide.StoredState { return decide.StoredSame },
	}
}

func goodOutcome(id, answer string, now decide.Millis) *ledger.Outcome {
	return &ledger.Outcome{Now: now, Seen: rewrite.StreamState{ID: id, Final: true,
		Content: true, Answer: answer}, File: "/f", Stamp: "1"}
}

func (b *Book) finish(t *ledger.Ticket, turns ...*ledger.Outcome) error {
	ctx, cancel := context.WithTimeout(context.Background(), b.Upload)
	defer cancel()
	left, err := b.FinishWithin(ctx, t, turns...)
	if left != nil {
		err = errors.Join(err, errUnfinished)
	}
	return err
}
