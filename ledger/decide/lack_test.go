package decide

import (
	"slices"
	"testing"

	"reprise/rewrite/reason"
)

// Each fact is asked for at most once, in one order, and only where the decision turns on it.
func TestLacks(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Facts, *ChainFacts)
		tell   map[Lack]func(*ChainFacts)
		want   []Lack
		reason reason.Code
	}{
		{"nothing but what all lack", func(*Facts, *ChainFacts) {}, nil,
			[]Lack{LacksCheckout, LacksInput}, reason.Extends},
		{"fresh anyway", func(_ *Facts,
			c *ChainFacts) {
			c.State, c.Revision.Head, c.LeftFiles = Killed, "b", "files"
		}, nil,
			nil, reason.PreviousKilled},
		{"a commit since", func(f *Facts,
			c *ChainFacts) {
			f.Revision.Head, c.Revision.Head = "n", "b"
		}, nil,
			[]Lack{LacksHistory, LacksCheckout, LacksInput}, reason.Extends},
		{"a commit taken back",
			func(f *Facts,
				c *ChainFacts) {
				f.Revision.Head, c.Revision.Head, c.LeftFiles = "n",
					"b", "files"
			},
			map[Lack]func(*ChainFacts){LacksHistory: func(c *ChainFacts) {
				c.History = reason.CommitGone
			}}, []Lack{LacksHistory}, reason.CommitGone},
		{"the same commit", func(f *Facts,
			c *ChainFacts) {
			f.Revision.Head, c.Revision.Head = "b", "b"
		}, nil,
			[]Lack{LacksCheckout, LacksInput}, reason.Extends},
		{"another machine's work", func(_ *Facts, c *ChainFacts) { c.LeftFiles = "files" },
			map[Lack]func(*ChainFacts){LacksCheckout: func(c *ChainFacts) {
				c.CheckoutDiffers = true
			}}, []Lack{LacksCheckout}, reason.CheckoutDiffers},
		{"work that is gone", func(_ *Facts, c *ChainFacts) { c.LeftFiles = "files" },
			map[Lack]func(*ChainFacts){LacksWork: func(c *ChainFacts) { c.WorkGone = true }},
			[]Lack{LacksCheckout, LacksWork}, reason.WorkGone},
		{"the same input again", func(_ *Facts, c *ChainFacts) {
			c.LeftFiles, c.Rounds = `[{"path":"a"}]`, Rounds{Count: 2, Given: "g", Tree: "t"}
		},
			map[Lack]func(*ChainFacts){LacksInput: func(c *ChainFacts) { c.Given = "g" },
				LacksTree: func(c *ChainFacts) {
					c.TreeNow = "t"
				}},
			[]Lack{LacksCheckout, LacksWork, LacksInput, LacksTree}, reason.NoProgress},
		{"other input", func(_ *Facts, c *ChainFacts) {
			c.LeftFiles, c.Rounds = `[{"path":"a"}]`, Rounds{Count: 2, Given: "g", Tree: "t"}
		},
			map[Lack]func(*ChainFacts){LacksInput: func(c *ChainFacts) { c.Given = "h" }},
			[]Lack{LacksCheckout, LacksWork, LacksInput}, reason.Extends},
	} {
		f := goodFacts()
		test.change(&f, &f.Chains[0])
		var asked []Lack
		d := Decide(f)
		for lack := f.Lacks(d); lack != ""; lack = f.Lacks(d) {
			if slices.Contains(asked, lack) {
				t.Fatalf("%s: %s is asked for twice", test.name, lack)
			}
			asked = append(asked, lack)
			c := f.Session(d.Session)
			c.Asked = append(c.Asked, lack)
			if tell := test.tell[lack]; tell != nil {
				tell(c)
			}
			d = Decide(f)
		}
		if !slices.Equal(asked, test.want) || d.Reason != test.reason {
			t.Errorf("%s: asked for %v, then %s; want %v, %s", test.name, asked, d.Reason,
				test.want, test.reason)
		}
		if given := f.Chains[0].Given; given != "" && d.Mode.Continues() &&
			d.Rounds.Given != given {
			t.Errorf("%s: the round is %+v", test.name, d.Rounds)
		}
	}
}
