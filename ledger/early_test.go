package ledger

import (
	"os"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite/prompt"
)

// A run with all turns over is recorded while the tool still runs: the session is free at once,
// and the facts of the run's end are added once.
func TestFinishEarly(t *testing.T) {
	l, _ := newLedger(t)
	_, ticket := begin(t, l, "first", 1000)
	o := goodOutcome(someID, "The first answer.", 2000)
	o.Left = "not of the last turn"
	second := goodOutcome(someID, "The second answer.", 3000)
	second.Started, second.Sent, second.Left = 2500, 6, "files"
	ticket.call.Prompt = prompt.New("first\n\nsecond", l.Key())
	if err := l.FinishEarly(ticket, o, second); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"state": decide.Live, "turns": 2, "errors": 0, "last_used": 3000,
		"stamp": "1", "left_files": "files"}
	wantRow(t, "after its turns", row(t, l, "sessions", ticket.Session), want)
	if held, err := Held(l, ticket.Session); held || err != nil {
		t.Errorf("held %v, %v", held, err)
	}

	end := *second
	end.File, end.Stamp = "/file", "7"
	if err := l.Finish(ticket, o, &end); err != nil {
		t.Fatal(err)
	}
	want["stamp"], want["file"] = "7", "/file"
	wantRow(t, "after its end", row(t, l, "sessions", ticket.Session), want)

	// An end that could not be recorded comes from the spool, and only once.
	third := goodOutcome(someID, "The third answer.", 4000)
	third.Started = 3500
	e := l.Ending(ticket, []*Outcome{o, second, third})
	if err := l.spool.put(e.Outcome.Now, EncodeJSON(e)); err != nil {
		t.Fatal(err)
	}
	name := l.spool.list()[0]
	for range 2 { // the process that recorded it died before it removed the file
		if err := os.WriteFile(name, []byte(EncodeJSON(e)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := l.RecordSpooled(); err != nil {
			t.Fatal(err)
		}
	}
	wantRow(t, "after a turn of its own", row(t, l, "sessions", ticket.Session),
		map[string]any{"turns": 3, "errors": 0, "last_used": 4000})
	var calls int
	if err := l.db.QueryRow("SELECT count(*) FROM calls WHERE outcome = 'ok'").Scan(&calls); err != nil || calls != 3 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// If it cannot be recorded early, it is recorded at the end.
func TestFinishEarlyFails(t *testing.T) {
	l, _ := newLedger(t)
	_, ticket := begin(t, l, "first", 1000)
	o := goodOutcome(someID, "An answer.", 2000)
	if _, err := l.db.Exec("CREATE TRIGGER refuse BEFORE UPDATE ON sessions BEGIN SELECT " +
		"raise(ABORT, 'no'); END"); err != nil {
		t.Fatal(err)
	}
	if err := l.FinishEarly(ticket, o); err == nil {
		t.Fatal("it was recorded")
	}
	if _, err := l.db.Exec("DROP TRIGGER refuse"); err != nil {
		t.Fatal(err)
	}
	finish(t, l, ticket, o)
	wantRow(t, "at the end", row(t, l, "sessions", ticket.Session),
		map[string]any{"state": decide.Live, "turns": 1})
}

// The files that a conversation has changed are known at the end of the latest turn. They count
// like those of a run of one turn, also if the prompt names them.
func TestConversationChangesFiles(t *testing.T) {
	first, end := goodOutcome(someID, "An answer.", 2000), goodOutcome(someID, "Another.", 3000)
	end.Started, end.Left = 2500, `[{"Path":"lib/parser.go"}]`
	for name, play := range map[string]func(*Ledger, *Ticket) error{
		"one turn":    func(l *Ledger, t *Ticket) error { return l.Finish(t, end) },
		"two turns":   func(l *Ledger, t *Ticket) error { return l.Finish(t, first, end) },
		"ended early": func(l *Ledger, t *Ticket) error { return l.FinishEarly(t, first, end) },
		"one is behind": func(l *Ledger, t *Ticket) error {
			t.Recorded = 1
			return l.Finish(t, first, end)
		},
	} {
		l, _ := newLedger(t)
		_, ticket := begin(t, l, "Mend parser.go.", 1000)
		want := prompt.NewTraces(ticket.call.Prompt, nil, nil, []string{"parser.go"}, l.Key())
		if err := play(l, ticket); err != nil {
			t.Fatal(err)
		}
		wantRow(t, name, row(t, l, "sessions", ticket.Session),
			map[string]any{"things": string(encodeMarks(want.Things))})
	}
}
