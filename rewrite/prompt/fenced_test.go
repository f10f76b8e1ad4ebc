package prompt

import (
	"strings"
	"testing"

	"reprise/rewrite/reason"
)

// Turns under long names between dashes are a conversation's: an answer there that was changed is
// another history.
func TestFencedTurns(t *testing.T) {
	key := Key("k")
	const answer = "The counter is never raised, so that the loop goes on for ever."
	thread := func(turns ...string) string {
		var b strings.Builder
		for i, turn := range turns {
			b.WriteString("\n--- Turn " + string(rune('1'+i)) +
				[]string{" (Agent using link)", " (Assistant using link via claude code)"}[i%2] +
				" ---\n" + turn + "\n")
		}
		return "You look into what is asked.\n\n=== HISTORY ===\nThread: 7\n" + b.String() +
			"\nAnswer the newest turn.\n"
	}
	first := New(thread("Why does the client hang when the server is down?"), key)
	sent := Sent{Base: first.Footprint(), Answers: []Answer{NewAnswer(answer, nil, key)}}
	for shown, want := range map[string]reason.Code{answer: reason.Extends,
		strings.Replace(answer, "never", "always", 1): reason.HistoryEdited} {
		c := Compare(sent, New(thread("Why does the client hang when the server is down?", shown,
			"And how is that tested?"), key))
		if got := c.Relation; got != want || !c.Transcript {
			t.Errorf("%q: %s, conversation %v, want %s", shown, got, c.Transcript, want)
		}
	}
}
