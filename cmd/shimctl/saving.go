package main

import (
	"math"

	"reprise/ledger"
)

// A figure is one of the things that are compared, as a mean over calls.
type figure struct {
	name string
	unit string // share, tokens, nano_usd or ms
	of   func(ledger.Sums) ratio
}

var figures = []figure{
	{"success", "share", func(s ledger.Sums) ratio { return ratio{float64(s.OK), float64(s.Ended)} }},
	{"input", "tokens", func(s ledger.Sums) ratio { return ratio{float64(s.Input), float64(s.Metered)} }},
	{"cache read", "tokens", func(s ledger.Sums) ratio { return ratio{float64(s.CacheRead), float64(s.Metered)} }},
	{"cache write", "tokens", func(s ledger.Sums) ratio { return ratio{float64(s.CacheWrite), float64(s.Metered)} }},
	{"output", "tokens", func(s ledger.Sums) ratio { return ratio{float64(s.Output), float64(s.Metered)} }},
	{"weighted", "tokens", func(s ledger.Sums) ratio { return ratio{weighted(s), float64(s.Metered)} }},
	{"cost", "nano_usd", func(s ledger.Sums) ratio { return ratio{float64(s.Cost), float64(s.Priced)} }},
	{"duration", "ms", func(s ledger.Sums) ratio { return ratio{float64(s.Duration), float64(s.Timed)} }},
}

// weighted adds up the kinds of tokens, weighted by their cost.
func weighted(s ledger.Sums) float64 {
	return ledger.WeightInput*float64(s.Input) + ledger.WeightCacheRead*float64(s.CacheRead) +
		ledger.WeightCacheWrite*float64(s.CacheWrite) + ledger.WeightOutput*float64(s.Output)
}

func newSample(s ledger.Sums) sample {
	out := make(sample, len(figures))
	for i, f := range figures {
		out[i] = f.of(s)
	}
	return out
}

// A comparison compares the chains that were held out with the others.
type comparison struct {
	Control, Treated armSize
	Changed          int64 // chains that were in both arms, since rollout was changed: left out
	Figures          []comparedFigure
}

type armSize struct{ Chains, Calls int64 }

type comparedFigure struct {
	figure
	Control, Treated, Difference estimate // the difference is the treated arm's less the control's
	told                         float64  // treated calls that have the figure
}

// An estimate is a mean with its interval; both are NaN if no call has the figure.
type estimate struct {
	Mean float64
	interval
}

// compare compares the arms; ok is false if one has fewer than
// two chains, which have no interval.
func compare(chains []ledger.ChainSums) (c comparison, ok bool) {
	arms := map[int64]int{}
	for _, chain := range chains {
		arms[chain.Chain]++
	}
	var control, treated []sample
	var ofControl, ofTreated ledger.Sums
	for _, chain := range chains {
		switch {
		case arms[chain.Chain] > 1:
			c.Changed++
		case chain.Arm == ledger.Control:
			control = append(control, newSample(chain.Sums))
			ofControl.Add(chain.Sums)
		default:
			treated = append(treated, newSample(chain.Sums))
			ofTreated.Add(chain.Sums)
		}
	}
	c.Changed /= 2
	c.Control = armSize{int64(len(control)), ofControl.Calls}
	c.Treated = armSize{int64(len(treated)), ofTreated.Calls}
	if len(control) < 2 || len(treated) < 2 {
		return c, false
	}
	inTreated, inControl, between := bootstrap(treated, control)
	for i, f := range figures {
		a, b := f.of(ofTreated), f.of(ofControl)
		compared := comparedFigure{f, estimate{b.sum / b.n, inControl[i]}, estimate{a.sum / a.n, inTreated[i]},
			estimate{a.sum/a.n - b.sum/b.n, between[i]}, a.n}
		if f.unit == "share" && a.n > 0 && b.n > 0 {
			compared.Control.interval, compared.Treated.interval = wilson(b.sum, b.n), wilson(a.sum, a.n)
		}
		c.Figures = append(c.Figures, compared)
	}
	return c, true
}

// saved returns by how much less the treated calls have, NaN if no call has the figure.
func (f comparedFigure) saved() float64 { return -f.Difference.Mean * f.told }

// A saving is an estimate of what resuming has saved: each resumed call is compared with
// the mean of the fresh calls of its tool, rule and model.
type saving struct {
	Resumed    int64 // calls that could be compared with fresh ones
	Fresh      int64 // the fresh ones
	ByFirst    int64 // of Resumed, those that could only be compared with first calls
	FirstCalls int64 // of Fresh, those first calls
	Unlike     int64 // resumed calls for which there were too few fresh ones
	Figures    []savedFigure
}

// A savedFigure is a mean over the resumed calls, what similar fresh calls
// would have, and the sum of the difference; NaN if no call has the figure.
type savedFigure struct {
	figure
	Resumed, Fresh, Saved float64
}

// minFresh is how many similar fresh calls a resumed call needs.
const minFresh = 5

// A like is what calls must have in common to be compared.
type like struct{ tool, rule, model string }

// A yardstick holds the fresh calls that similar resumed ones are compared with.
type yardstick struct {
	ledger.Sums
	first bool // first calls stand in: there are too few that continued their job
}

// yardsticks returns a yardstick for each like with enough fresh calls.
func yardsticks(sides []ledger.SideSums) map[like]yardstick {
	found := map[like]yardstick{}
	for _, s := range sides {
		l := like{s.Tool, s.Rule, s.Model}
		enough := s.Side != ledger.Resumed && s.Calls >= minFresh
		if _, known := found[l]; enough && (!known || s.Side == ledger.FollowUp) {
			found[l] = yardstick{s.Sums, s.Side == ledger.FirstRun}
		}
	}
	return found
}

// estimateSaving compares resumed calls with similar fresh ones, if there are any.
func estimateSaving(sides []ledger.SideSums) saving {
	var out saving
	against := yardsticks(sides)
	resumedSum, freshSum := make(sample, len(figures)), make(sample, len(figures))
	for _, resumed := range sides {
		if resumed.Side != ledger.Resumed {
			continue
		}
		fresh, ok := against[like{resumed.Tool, resumed.Rule, resumed.Model}]
		if !ok {
			out.Unlike += resumed.Calls
			continue
		}
		out.Resumed += resumed.Calls
		out.Fresh += fresh.Calls
		if fresh.first {
			out.ByFirst += resumed.Calls
			out.FirstCalls += fresh.Calls
		}
		for i, f := range figures {
			a, b := f.of(resumed.Sums), f.of(fresh.Sums)
			if a.n > 0 && b.n > 0 {
				resumedSum[i].sum, resumedSum[i].n = resumedSum[i].sum+a.sum, resumedSum[i].n+a.n
				freshSum[i].sum, freshSum[i].n = freshSum[i].sum+b.sum/b.n*a.n, freshSum[i].n+a.n
			}
		}
	}
	for i, f := range figures {
		if f.unit == "share" {
			continue // only calls that ended well are compared
		}
		s := savedFigure{f, resumedSum[i].sum / resumedSum[i].n, freshSum[i].sum / freshSum[i].n, freshSum[i].sum - resumedSum[i].sum}
		if resumedSum[i].n == 0 {
			s.Saved = math.NaN()
		}
		out.Figures = append(out.Figures, s)
	}
	return out
}
