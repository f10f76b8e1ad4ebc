package doctor

import (
	"testing"

	"reprise/rewrite/reason"
)

// A word of a damaged ledger, or of a newer program's, is not shown.
func TestOnlyOwnWordsAreShared(t *testing.T) {
	for word, want := range map[string]string{"ok": "ok", "": "", "a secret": "other"} {
		if got := own(word, outcomes); got != want {
			t.Errorf("%q: %q", word, got)
		}
	}
	for c, want := range map[reason.Code]string{reason.FirstCall: "first_call", "": "",
		"a secret": "other"} {
		if got := code(c); got != want {
			t.Errorf("%q: %q", c, got)
		}
	}
}
