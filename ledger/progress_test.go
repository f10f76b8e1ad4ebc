package ledger

import (
	"fmt"
	"strings"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite/reason"
)

// A loop that brings the same feedback again and again, in one session or in copies: the third
// time, if nothing has changed since the second, the call is fresh. The directory is looked at only
// if feedback is repeated.
func TestNoProgress(t *testing.T) {
	const fails, lints = "\n\nThe tests still fail.", "\n\nThe linter complains."
	for _, tt := range []struct {
		name    string
		added   []string // to the prompt, round by round
		trees   []string // the directory's files at the start of each round
		fresh   []int    // rounds that are fresh because of it
		lookups int
		reads   bool // the runs change no file
	}{
		{"stuck", []string{"", fails, fails, fails, fails, fails, fails},
			[]string{"t", "t", "t", "t", "t", "t", "t"}, []int{3, 6}, 4, false},
		{"each round changes something", []string{"", fails, fails, fails, fails},
			[]string{"1", "2", "3", "4", "5"}, nil, 3, false},
		{"changed at last", []string{"", fails, fails, fails, fails},
			[]string{"t", "t", "t", "u", "u"}, []int{4}, 3, false},
		{"other feedback each time", []string{"", fails, lints, fails, lints},
			[]string{"t", "t", "t", "t", "t"}, nil, 0, false},
		{"something is added to it", []string{"", fails, fails, fails + lints, lints},
			[]string{"t", "t", "t", "t", "t"}, nil, 1, false},
		{"no repository", []string{"", fails, fails, fails, fails}, []string{"", "", "", "", ""},
			nil, 3, false},
		{"a reviewer", []string{"", fails, fails, fails, fails}, []string{"t", "t", "t", "t", "t"},
			nil, 0, true},
	} {
		for _, copies := range []bool{false, true} {
			l, _ := newLedger(t)
			text, lookups := fmt.Sprintf(base, 1), 0
			for i, added := range tt.added {
				text += added
				c := testCall(l, text, decide.Millis(1000+3000*i))
				c.Task, c.Role, c.Copies = "job", "coder", copies
				c.Tree = func() string { lookups++; return tt.trees[i] }
				d, ticket := beginCall(t, l, c)
				want := reason.Extends
				switch {
				case i == 0:
					want = reason.FirstCall
				case strings.Contains(fmt.Sprint(" ", tt.fresh, " "), fmt.Sprint(i)):
					want = reason.NoProgress
				}
				if d.Reason != want {
					t.Errorf("%s, copies %v, round %d: %s (%s), want %s", tt.name, copies, i,
						d.Mode, d.Reason, want)
				}
				o := goodOutcome(fmt.Sprintf("00000000-0000-4000-8000-%012d", i), "done",
					c.Now+1000)
				if !tt.reads {
					o.Left = `[{"path":"what the runs changed"}]`
				}
				finish(t, l, ticket, o)
				if !copies && d.Mode.Continues() {
					l.db.Exec("UPDATE sessions SET native_id = ? WHERE id = ?", d.NativeID,
						ticket.Session)
				}
			}
			if lookups != tt.lookups {
				t.Errorf("%s, copies %v: the directory was looked at %d times, want %d", tt.name,
					copies, lookups, tt.lookups)
			}
		}
	}
}
