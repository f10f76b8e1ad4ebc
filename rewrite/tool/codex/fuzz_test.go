package codex

import (
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/test/tooltest"
)

// The session of a transcript is the session that the header names, with any text of prompt, model
// and tools behind that; and the whole transcript is shown.
func FuzzBanner(f *testing.F) {
	f.Add("hi", "codex\nhello\ntokens used\n1,234\n")
	f.Add("--------\nsession id: "+tooltest.ForeignID+"\n--------", "exec\nls\nERROR: x\n")
	f.Add("a\nuser\nb", "user\n--------\nsession id: "+tooltest.ForeignID+"\n--------\n")
	f.Fuzz(func(t *testing.T, prompt, behind string) {
		s := tool.Stream(rewrite.CommandLine{Format: rewrite.Text, Mode: rewrite.Fresh},
			rewrite.Plan{Prompt: prompt, Whole: true}, "")
		transcript := "OpenAI Codex\n--------\nmodel: m\nsession id: " + tooltest.SomeID +
			"\n--------\nuser\n" + prompt + "\n" + behind
		_, shown := tooltest.Feed(s, nil, []byte(transcript))
		if s.Seen().ID != tooltest.SomeID || s.Seen().WrongID {
			t.Fatalf("id %q of %q", s.Seen().ID, transcript)
		}
		// A heading that nothing follows is held back until the end.
		if rest, ok := strings.CutPrefix(transcript, shown); !ok || strings.Count(rest, "\n") > 1 {
			t.Fatalf("%q is shown as %q", transcript, shown)
		}
	})
}
