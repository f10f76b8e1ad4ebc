package saving

import (
	"fmt"

	"reprise/internal/ctl/view"
)

// Method says how the saving was computed, or why it is not known.
func (s Saving) Method() []string {
	if s.Comparison != nil {
		return s.Comparison.method()
	}
	return s.Estimate.method(s.Arms)
}

func (c *Comparison) method() []string {
	changed := ""
	if c.Changed > 0 {
		changed = fmt.Sprintf(", %s left out that changed sides with rollout", view.Count(c.Changed, "chain"))
	}
	return []string{
		fmt.Sprintf("control group: %s in %s held out, %s in %s treated%s. Means over calls, with intervals that hold 95 times in 100.",
			view.Count(c.Control.Calls, "call"), view.Count(c.Control.Chains, "chain"),
			view.Count(c.Treated.Calls, "call"), view.Count(c.Treated.Chains, "chain"), changed),
		"The first call of a chain is the same in both arms, and counted in both: the difference is that of whole jobs.",
	}
}

func (e *Estimate) method(arms Comparison) (words []string) {
	if arms.Control.Chains+arms.Treated.Chains > 0 {
		words = append(words, fmt.Sprintf("The control group is too small to compare with: %s held out, %s treated.",
			view.Count(arms.Control.Chains, "chain"), view.Count(arms.Treated.Chains, "chain")))
	} else {
		words = append(words, "No chain was held out as a control group (rollout), so what resuming saved can only be estimated.")
	}
	if e.Resumed == 0 {
		return append(words, "There is no estimate: no resumed call has a fresh one of its tool, rule and model to be set against.")
	}
	kind := "Estimate"
	if e.Rough {
		kind = fmt.Sprintf("Rough estimate, since there are fewer than %d fresh calls", MinFresh)
	}
	words = append(words, fmt.Sprintf("%s: %s that ended well set against the mean of %s of the same tool, rule and model that ended well.",
		kind, view.Count(e.Resumed, "resumed call"), view.Count(e.Fresh, "fresh call")))
	if e.ByFirst > 0 {
		words = append(words, fmt.Sprintf("For %d of them only first calls of jobs were there (%d), which as a rule cost more than later ones.", e.ByFirst, e.FirstCalls))
	}
	if e.Unlike > 0 {
		words = append(words, fmt.Sprintf("%s had too few fresh ones of their like, and count as no saving.", view.Count(e.Unlike, "more resumed call")))
	}
	return words
}
