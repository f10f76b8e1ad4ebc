package ledger

import (
	"errors"
	"testing"

	"reprise/rewrite"
)

// If a conversation's prompt shows more than a session in use was sent, the call waits for the
// session's record.
func TestWaitForRecord(t *testing.T) {
	const first = "Human: Write the parser of the grammar in grammar.txt. It reports each error " +
		"with its line."
	const goesOn = first + "\n\nAssistant: The parser is in parser.go now.\n\nHuman: The test of " +
		"the empty file fails."
	for name, tt := range map[string]struct {
		task, prompt string
		waits        bool
	}{
		"the answer": {"", goesOn, true},
		"evidence": {"", first +
			"\n\n## Rejection\n\nYour change fails a test.", true},
		"another job": {"", first + "\n\nAssistant: Hello.", true},
		"the same":    {"", first, false},
		"another conversation": {"",
			"Human: Write the parser of the grammar in grammar.txt. Quickly.\n\nAssistant: " +
				"Yes.\n\nHuman: Go on.", false},
		"a name":                 {"t", "Go on.", true},
		"a name and the same":    {"t", first, false},
		"a name, another prompt": {"other", "Go on.", false},
	} {
		l, err := OpenMemory()
		if err != nil {
			t.Fatal(err)
		}
		begun := copyCall(l, first, 1000)
		if tt.task != "" {
			begun.Task = "t"
		}
		if _, _, err := Begin(l, begun); err != nil {
			t.Fatal(err)
		}
		next := copyCall(l, tt.prompt, 2000)
		next.Task, next.WaitForRecord = tt.task, true
		d, _, err := Begin(l, next)
		if errors.Is(err, ErrHeld) != tt.waits {
			t.Errorf("%s: %v, %+v", name, err, d)
		}
		next.WaitForRecord = false
		if d, _, err := Begin(l, next); err != nil || d.Mode != rewrite.Fresh {
			t.Errorf("%s, afterwards: %v, %+v", name, err, d)
		}
		l.Close()
	}
}
