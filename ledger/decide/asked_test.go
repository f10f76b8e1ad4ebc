package decide

import (
	"slices"
	"testing"

	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// Each fact that takes long to find out is asked for at most once, in one order, and only where the
// decision turns on it.
func TestAsked(t *testing.T) {
	const history, checkout, work, input, tree = "history", "checkout", "work", "input", "tree"
	change := func(edit func(*Facts, *ChainFacts)) func(*Facts) {
		return func(f *Facts) { edit(f, &f.Chains[0]) }
	}
	rounds := change(func(_ *Facts, c *ChainFacts) {
		c.LeftFiles, c.Rounds = `[{"path":"a"}]`, Rounds{Count: 2, Given: "g", Tree: "t"}
	})
	leaves := change(func(_ *Facts, c *ChainFacts) { c.LeftFiles = "files" })
	for _, test := range []struct {
		name   string
		change func(*Facts)
		bad    string // the fact that speaks against the session
		given  string
		want   []string
		reason reason.Code
	}{
		{"nothing but what all lack", func(*Facts) {}, "", "g", []string{checkout, input},
			reason.Extends},
		{"fresh anyway", change(func(_ *Facts, c *ChainFacts) {
			c.State, c.Revision.Head, c.LeftFiles = Killed, "b", "files"
		}), "", "g", nil, reason.PreviousKilled},
		{"held out anyway", func(f *Facts) {
			rounds(f)
			f.Limits.HoldOut = 1
		}, "", "g", nil, reason.HeldOut},
		{"a commit since", change(func(f *Facts, c *ChainFacts) {
			f.Revision.Head, c.Revision.Head = "n", "b"
		}), "", "g", []string{history, checkout, input}, reason.Extends},
		{"a commit taken back", change(func(f *Facts, c *ChainFacts) {
			f.Revision.Head, c.Revision.Head, c.LeftFiles = "n", "b", "files"
		}), history, "g", []string{history}, reason.CommitGone},
		{"the same commit", change(func(f *Facts, c *ChainFacts) {
			f.Revision.Head, c.Revision.Head = "b", "b"
		}), "", "g", []string{checkout, input}, reason.Extends},
		{"another machine's work", leaves, checkout, "g", []string{checkout},
			reason.CheckoutDiffers},
		{"work that is gone", leaves, work, "g", []string{checkout, work}, reason.WorkGone},
		{"the same input again", rounds, "", "g", []string{checkout, work, input, tree},
			reason.NoProgress},
		{"other input", rounds, "", "h", []string{checkout, work, input}, reason.Extends},
		{"a role that begins from another", func(f *Facts) {
			leaves(f)
			f.Chains, f.Start, f.Copies, f.Named = nil, f.Chains, true, true
		}, "", "g", []string{checkout, work}, reason.StartedFrom},
		{"a role that begins from lost work", func(f *Facts) {
			leaves(f)
			f.Chains, f.Start, f.Copies, f.Named = nil, f.Chains, true, true
		}, work, "g", []string{checkout, work}, reason.FirstCall},
	} {
		f := goodFacts()
		var asked []string
		fact := func(name string) (good bool) {
			asked = append(asked, name)
			return name != test.bad
		}
		f.History = func(string) error {
			if fact(history) {
				return nil
			}
			return reason.CommitGone
		}
		f.Checkout = func(string, string) bool { return fact(checkout) }
		f.WorkGone = func(string, string) bool { return !fact(work) }
		f.Given = func(prompt.Continuity) string { fact(input); return test.given }
		f.Tree = func() string { fact(tree); return "t" }
		test.change(&f)
		d := Decide(f)
		if !slices.Equal(asked, test.want) || d.Reason != test.reason {
			t.Errorf("%s: asked for %v, then %s; want %v, %s", test.name, asked, d.Reason,
				test.want, test.reason)
		}
		if slices.Contains(asked, input) && d.Mode.Continues() && d.Rounds.Given != test.given {
			t.Errorf("%s: the round is %+v", test.name, d.Rounds)
		}
	}
}
