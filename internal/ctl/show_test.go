package ctl

import (
	"regexp"
	"strings"
	"testing"

	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
)

// Sessions stand below what they were made of: one after the other as long as there is one,
// further in where there are several.
func TestShowDrawsTheTree(t *testing.T) {
	var b strings.Builder
	a := screenApp(&b, 0)
	session := func(id, parent string) ledger.SessionRow {
		return ledger.SessionRow{NativeID: id, Parent: parent, State: decide.Live}
	}
	showTree(a, view.Reporter{}, ledger.ChainRow{ID: 1, Sessions: []ledger.SessionRow{
		session("other", "pruned"), session("right2", "right"), session("right", "second"), session("left", "second"), session("second", "first"), session("first", ""),
	}}, nil)
	var got []string
	for line := range strings.Lines(b.String()) {
		if m := regexp.MustCompile(`^([│├└─ ]*session \S+)`).FindString(line); m != "" {
			got = append(got, m)
		}
	}
	want := `├─ session other
├─ session first
└─ session second
   ├─ session right
   ├─ session right2
   └─ session left`
	if strings.Join(got, "\n") != want {
		t.Errorf("%s\nnot\n%s\n%s", strings.Join(got, "\n"), want, b.String())
	}
}
