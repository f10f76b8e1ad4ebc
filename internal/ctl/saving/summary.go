package saving

import (
	"fmt"

	"reprise/internal/ctl/view"
)

// A Basis is what the cost and the tokens of a summary rest on.
type Basis string

// The bases, the best first.
const (
	Estimated Basis = "estimate"       // against similar fresh calls
	Rough     Basis = "rough_estimate" // the same with fewer than MinFresh of them
	NoBasis   Basis = "none"           // there is nothing to compare with
)

// A Summary is a saving in short. Cost and tokens are negative if resuming was dearer.
type Summary struct {
	Headline     string      `json:"headline" doc:"the saving in one sentence"`
	Calls        int64       `json:"managed_calls" doc:"managed calls"`
	AllResumed   int64       `json:"all_resumed_calls" doc:"of these, the resumed ones"`
	LeftOutBytes int64       `json:"left_out_bytes" doc:"counted: what the prompts of resumed calls left out, since the sessions held it"`
	Basis        Basis       `json:"basis" doc:"what cost and tokens rest on: estimate, rough_estimate (fewer than 5 calls to compare with) or none"`
	Resumed      int64       `json:"resumed_calls" doc:"calls with the saving"`
	Against      int64       `json:"compared_calls" doc:"calls they are compared with"`
	CostNanoUSD  view.Number `json:"cost_nano_usd" doc:"cost in billionths of a dollar"`
	Tokens       view.Number `json:"weighted_tokens" doc:"tokens, weighted by what their kinds cost"`
}

// Summary returns the saving in short.
func (s Saving) Summary() Summary {
	basis := Estimated
	switch {
	case s.Estimate.Resumed == 0:
		basis = NoBasis
	case s.Estimate.Rough:
		basis = Rough
	}
	return Summary{Headline: s.Headline(), Calls: s.AtLeast.Calls, AllResumed: s.AtLeast.Resumed, LeftOutBytes: s.AtLeast.LeftOutBytes,
		Basis: basis, Resumed: s.Estimate.Resumed, Against: s.Estimate.Fresh, CostNanoUSD: s.Saved(Cost), Tokens: s.Saved(Weighted)}
}

// Words says how cost and tokens were computed.
func (s Summary) Words() string {
	switch s.Basis {
	case Estimated:
		return fmt.Sprintf("an estimate: %s against %s", view.Count(s.Resumed, "resumed call"), view.Count(s.Against, "similar fresh call"))
	case Rough:
		return fmt.Sprintf("a rough estimate: %s against only %s", view.Count(s.Resumed, "resumed call"), view.Count(s.Against, "similar fresh call"))
	}
	return "there is no similar fresh call to compare a resumed one with"
}

// Method says how the arms were compared.
func (c *Comparison) Method() []string {
	changed, wide := "", ""
	if c.Changed > 0 {
		changed = fmt.Sprintf(", %s left out that changed sides with rollout", view.Count(c.Changed, "chain"))
	}
	if min(c.ControlChains, c.TreatedChains) < 20 {
		wide = ", too narrow for fewer than twenty chains"
	}
	return []string{
		fmt.Sprintf("control group: %s in %s held out, %s in %s treated%s. Means over calls, with intervals of 95 %%%s.",
			view.Count(c.ControlCalls, "call"), view.Count(c.ControlChains, "chain"),
			view.Count(c.TreatedCalls, "call"), view.Count(c.TreatedChains, "chain"), changed, wide),
		"The first call of a chain is the same in both arms, and counted in both: the difference is that of whole jobs.",
	}
}

// Method says how the saving was estimated, or why it is not known.
func (s Saving) Method() (words []string) {
	e, arms := s.Estimate, s.Arms
	switch {
	case s.Comparison != nil:
	case arms.ControlChains+arms.TreatedChains > 0:
		words = append(words, fmt.Sprintf("The control group is too small to compare with: %s held out, %s treated.",
			view.Count(arms.ControlChains, "chain"), view.Count(arms.TreatedChains, "chain")))
	default:
		words = append(words, "No chain was held out as a control group (rollout), so what resuming saved can only be estimated.")
	}
	if e.Resumed == 0 {
		return append(words, "There is no estimate: no resumed call has a fresh one of its tool, rule, role and model to be set against.")
	}
	kind := "Estimate"
	if e.Rough {
		kind = fmt.Sprintf("Rough estimate, since there are fewer than %d fresh calls", MinFresh)
	}
	words = append(words, fmt.Sprintf("%s: %s that ended well set against the mean of %s of the same tool, rule, role and model that ended well, "+
		"as they would have met the provider's cache.",
		kind, view.Count(e.Resumed, "resumed call"), view.Count(e.Fresh, "fresh call")))
	if e.ByFirst > 0 {
		words = append(words, fmt.Sprintf("For %d of them only first calls of jobs were there (%d), which as a rule cost more than later ones.", e.ByFirst, e.FirstCalls))
	}
	if e.Unlike > 0 {
		words = append(words, fmt.Sprintf("%s had too few similar fresh calls, and count as no saving.", view.Count(e.Unlike, "more resumed call")))
	}
	return words
}
