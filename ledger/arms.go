package ledger

import "reprise/ledger/decide"

// The arms of the comparison that delta_rollout allows.
const (
	WholePrompt = "whole" // its resumed sessions are sent whole prompts
	DeltaPrompt = "delta" // they are sent deltas where that pays
)

// deltaArm returns the chain's side of the comparison, "" if all chains are treated alike.
func (t *Ticket) deltaArm(l decide.Limits) string {
	switch {
	case t.chain == 0 || l.WholePrompt || l.WholeOut <= 0 || l.WholeOut >= 1:
		return ""
	case l.SendsWhole(t.share()):
		return WholePrompt
	}
	return DeltaPrompt
}
