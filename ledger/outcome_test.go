package ledger

import (
	"fmt"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// The state of a session by how its run ended. A run that was stopped by its caller's limit of
// turns can be continued, if nothing else is wrong.
func TestWhatBecomesOfASession(t *testing.T) {
	stopped := func(change func(*Outcome)) *Outcome {
		o := goodOutcome(someID, "", 2000)
		o.Exit, o.Seen.Failed, o.Seen.TurnLimit = 1, true, true
		if change != nil {
			change(o)
		}
		return o
	}
	tests := []struct {
		name    string
		outcome *Outcome
		state   decide.State
		why     reason.Code
		result  string
	}{
		{"good", goodOutcome(someID, "done", 2000), decide.Live, "", "ok"},
		{"limit of turns", stopped(nil), decide.Live, reason.TurnLimit, "failed"},
		{"limit, and exit 0", stopped(func(o *Outcome) { o.Exit = 0 }), decide.Live,
			reason.TurnLimit, "failed"},
		{"failed for another reason", stopped(func(o *Outcome) { o.Seen.TurnLimit = false }),
			decide.Failed, "", "failed"},
		{"limit, and killed", stopped(func(o *Outcome) { o.Signal = 15 }), decide.Killed,
			"", "killed"},
		{"limit, and cut short", stopped(func(o *Outcome) { o.Seen.Final = false }), decide.Failed,
			"", "failed"},
		{"limit, and no model", stopped(func(o *Outcome) { o.Seen.Synthetic = true }),
			decide.Failed, "", "failed"},
		{"limit, in another session", stopped(func(o *Outcome) { o.Seen.WrongID = true }),
			decide.Failed, "", "failed"},
		{"limit, without an id", stopped(func(o *Outcome) { o.Seen.ID = "" }), decide.Failed,
			"", "failed"},
		{"limit, and refused", stopped(func(o *Outcome) { o.Seen.Refusal = reason.RefusedContext }),
			decide.Dead, reason.RefusedContext, "failed"},
	}
	for _, tt := range tests {
		l, _ := newLedger(t)
		_, ticket := begin(t, l, fmt.Sprintf(base, 1), 1000)
		finish(t, l, ticket, tt.outcome)
		turns, errors := 1, 0
		if tt.state != decide.Live {
			turns, errors = 0, 1
		}
		wantRow(t, tt.name, row(t, l, "sessions", ticket.Session), map[string]any{"state": tt.state,
			"state_why": tt.why, "turns": turns, "errors": errors})
		wantRow(t, tt.name, row(t, l, "calls", ticket.ID), map[string]any{"outcome": tt.result})
	}
}

// Only tokens that a good run is known to have used are compared.
func TestWhatIsCompared(t *testing.T) {
	for _, tt := range []struct {
		exit  int
		known bool
		want  int
	}{{0, true, 1}, {0, false, 0}, {1, true, 0}} {
		l, _ := newLedger(t)
		_, ticket := begin(t, l, fmt.Sprintf(base, 1), 1000)
		o := goodOutcome(someID, "done", 2000)
		o.Exit, o.Seen.Usage = tt.exit, rewrite.Usage{Known: tt.known, Input: 10, Output: 10}
		finish(t, l, ticket, o)
		if runs := l.past(ticket.Chain); len(runs) != tt.want {
			t.Errorf("exit %d, usage known %v: %d runs, want %d", tt.exit, tt.known, len(runs),
				tt.want)
		}
	}
}

// A session knows the last prompt, as far as the newest prompt tells, and the forms of all answers.
func TestWhatASessionWasSent(t *testing.T) {
	l, _ := newLedger(t)
	var said []byte
	var ticket *Ticket
	for n, text := range []string{fmt.Sprintf(base, 1), "# Title\n\n## Part\n\n" +
		fmt.Sprintf(base, 2)} {
		c := testCall(l, text, decide.Millis(1000*n))
		c.Task, c.Limits.Unrelated = "task", true
		_, ticket = beginCall(t, l, c)
		o := goodOutcome(someID, "The last words.", decide.Millis(1000*n+500))
		o.Seen.Texts = []string{"The first words.", "The last words."}
		finish(t, l, ticket, o)
		said = append(said, encodeSaid(prompt.NewAnswer(o.Seen.Answer, o.Seen.Texts, l.Key()))...)
		footprint := c.Prompt.Footprint()
		wantRow(t, text[:10], row(t, l, "sessions", ticket.Session), map[string]any{
			"base_opening": footprint.Opening, "base_bytes": footprint.Bytes, "said": string(said),
			"turns": n + 1})
	}
}

// A copy that fails counts as an error of its source, so a source with many such copies is not
// resumed. A good copy does not count.
func TestErrorsOfCopies(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, first := beginCall(t, l, copyCall(l, prompt, 1000))
	finish(t, l, first, outcome(sourceID, "/source", 10, "", 1500))
	for n, exit := range []int{0, 1, 0, 1} {
		d, ticket := beginCall(t, l,
			copyCall(l, fmt.Sprintf("%s\n\nPart %d.", prompt, n), decide.Millis(2000+1000*n)))
		wantSource(t, "a copy", d, sourceID)
		o := outcome(nth(n), "/copy", 10, "", decide.Millis(2500+1000*n))
		if o.Exit = exit; exit != 0 {
			o.Seen.Outside = reason.ServiceFailed
		}
		finish(t, l, ticket, o)
		wantRow(t, "the source", row(t, l, "sessions", first.Session),
			map[string]any{"errors": (n + 1) / 2, "state": decide.Live})
		wantRow(t, "the copy", row(t, l, "sessions", ticket.Session),
			map[string]any{"errors": exit})
	}
}
