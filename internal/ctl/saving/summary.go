package saving

import (
	"fmt"
	"math"

	"reprise/internal/ctl/view"
)

// A Basis is what the cost and the tokens of a summary rest on.
type Basis string

// The bases, the best first.
const (
	Measured  Basis = "measured"       // against chains that were held out
	Estimated Basis = "estimate"       // against fresh calls of their like
	Rough     Basis = "rough_estimate" // the same with fewer than MinFresh of them
	NoBasis   Basis = "none"           // there is nothing to compare with
)

// A Summary is a saving in short. Cost and tokens are negative if resuming was dearer.
type Summary struct {
	Headline     string   `json:"headline" doc:"the saving in one sentence"`
	Calls        int64    `json:"managed_calls" doc:"managed calls"`
	AllResumed   int64    `json:"all_resumed_calls" doc:"of these, the resumed ones"`
	LeftOutBytes int64    `json:"left_out_bytes" doc:"counted: what the prompts of resumed calls that ended well left out, since the sessions held it"`
	Basis        Basis    `json:"basis" doc:"what cost and tokens rest on: measured, estimate, rough_estimate (fewer than 5 calls to compare with) or none"`
	Measured     bool     `json:"measured" doc:"whether compared with chains that were held out; otherwise an estimate"`
	Resumed      int64    `json:"resumed_calls" doc:"calls with the saving; if measured, all of chains that were not held out"`
	Against      int64    `json:"compared_calls" doc:"calls they are compared with"`
	CostNanoUSD  *float64 `json:"cost_nano_usd" doc:"cost in billionths of a dollar"`
	Tokens       *float64 `json:"weighted_tokens" doc:"tokens, weighted by what their kinds cost"`
}

// Summary returns the saving in short.
func (s Saving) Summary() Summary {
	out := Summary{Headline: s.Headline(), Calls: s.AtLeast.Calls, AllResumed: s.AtLeast.Resumed, LeftOutBytes: s.AtLeast.LeftOutBytes,
		Basis: s.Basis(), CostNanoUSD: number(s.Saved(Cost)), Tokens: number(s.Saved(Weighted))}
	if c := s.Comparison; c != nil {
		out.Measured, out.Resumed, out.Against = true, c.Treated.Calls, c.Control.Calls
	} else if e := s.Estimate; e != nil {
		out.Resumed, out.Against = e.Resumed, e.Fresh
	}
	return out
}

// Basis returns what the saved cost and tokens rest on.
func (s Saving) Basis() Basis {
	switch {
	case s.Comparison != nil:
		return Measured
	case s.Estimate == nil || s.Estimate.Resumed == 0:
		return NoBasis
	case s.Estimate.Rough:
		return Rough
	}
	return Estimated
}

// number returns nil for NaN.
func number(n float64) *float64 {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return nil
	}
	return &n
}

// Words says how cost and tokens were computed.
func (s Summary) Words() string {
	switch s.Basis {
	case Measured:
		return fmt.Sprintf("measured: %s against %s held out", view.Count(s.Resumed, "call"), view.Count(s.Against, "call"))
	case Estimated:
		return fmt.Sprintf("an estimate: %s against %s of their like", view.Count(s.Resumed, "resumed call"), view.Count(s.Against, "fresh call"))
	case Rough:
		return fmt.Sprintf("a rough estimate: %s against only %s of their like", view.Count(s.Resumed, "resumed call"), view.Count(s.Against, "fresh call"))
	}
	return "no resumed call has a fresh one of its like to compare with"
}
