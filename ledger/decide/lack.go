package decide

import (
	"slices"

	"reprise/rewrite/reason"
)

// A Lack names a fact about a session that takes long to find out. Only a decision to continue the
// session turns on it.
type Lack string

// The facts that can lack.
const (
	LacksHistory  Lack = "history"  // ChainFacts.History: git
	LacksCheckout Lack = "checkout" // ChainFacts.CheckoutDiffers: git
	LacksWork     Lack = "work"     // ChainFacts.WorkGone: the files
	LacksInput    Lack = "input"    // ChainFacts.Given: a digest
	LacksTree     Lack = "tree"     // ChainFacts.TreeNow: git
)

// Lacks returns the first fact that a decision turns on and that nobody has asked for, "" for none.
// With the fact, Decide decides again. The work comes after the checkout: on another machine it is
// not thrown away but was never there.
func (f *Facts) Lacks(d Decision) Lack {
	if !d.Mode.Continues() || d.Session == 0 {
		return ""
	}
	c := f.Session(d.Session)
	lacks := func(one Lack, turns bool) bool { return turns && !slices.Contains(c.Asked, one) }
	switch {
	case lacks(LacksHistory, c.Revision.Head != "" && c.Revision.Head != f.Revision.Head):
		return LacksHistory
	case lacks(LacksCheckout, true):
		return LacksCheckout
	case lacks(LacksWork, c.LeftFiles != ""):
		return LacksWork
	case lacks(LacksInput, d.Reason != reason.StartedFrom):
		return LacksInput
	case lacks(LacksTree, c.Changes() && c.Rounds.Repeated(c.Given)):
		return LacksTree
	}
	return ""
}
