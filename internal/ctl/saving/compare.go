package saving

import (
	"math"

	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite"
)

// A Comparison compares the chains that were held out with the others.
type Comparison struct {
	ControlChains int64            `json:"control_chains" doc:"chains that were held out"`
	ControlCalls  int64            `json:"control_calls" doc:"their calls"`
	TreatedChains int64            `json:"treated_chains" doc:"the others"`
	TreatedCalls  int64            `json:"treated_calls" doc:"their calls"`
	Changed       int64            `json:"changed_chains" doc:"chains left out that changed sides"` // since rollout was changed
	Figures       []ComparedFigure `json:"figures" doc:"what was compared"`
}

// A ComparedFigure is a mean in both arms, and the treated arm's less the control's.
type ComparedFigure struct {
	Figure
	Control    Mean `json:"control" doc:"of the calls that were held out"`
	Treated    Mean `json:"treated" doc:"of the others"`
	Difference Mean `json:"difference" doc:"treated minus control"`
}

// A Mean is a mean with its interval; neither is known if no call has the figure.
type Mean struct {
	Mean view.Number `json:"mean" doc:"mean over calls"`
	Interval
}

// compare compares the arms; ok is false if one has fewer than two chains, which have no interval.
func compare(chains []history.ChainSums) (c Comparison, ok bool) {
	arms := map[int64]int{}
	for _, chain := range chains {
		arms[chain.Chain]++
	}
	var control, treated []sample
	var ofControl, ofTreated history.Sums
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
	c.ControlChains, c.ControlCalls = int64(len(control)), ofControl.Calls
	c.TreatedChains, c.TreatedCalls = int64(len(treated)), ofTreated.Calls
	if len(control) < 2 || len(treated) < 2 {
		return c, false
	}
	inTreated, inControl, between := bootstrap(treated, control)
	for i, f := range Figures {
		a, b := f.Of(ofTreated), f.Of(ofControl)
		compared := ComparedFigure{f, Mean{b.mean(), inControl[i]}, Mean{a.mean(), inTreated[i]}, Mean{difference(a.mean(), b.mean()), between[i]}}
		if f.Unit == "share" && a.N > 0 && b.N > 0 {
			compared.Control.Interval, compared.Treated.Interval = wilson(b.Sum, b.N), wilson(a.Sum, a.N)
		}
		c.Figures = append(c.Figures, compared)
	}
	return c, true
}

// difference returns a - b, 0 for what is only an error of rounding.
func difference(a, b view.Number) view.Number {
	if less := a - b; math.Abs(float64(less)) >= 1e-9 || !less.Known() {
		return less
	}
	return 0
}

// clear reports whether the interval of the difference lies on one side of zero.
func (f ComparedFigure) clear() bool { return f.Difference.High < 0 || f.Difference.Low > 0 }

// An Estimate compares each resumed call with the mean of the fresh calls of its tool, rule, role and
// model. Guards do not keep calls fresh at random, so this measures nothing.
type Estimate struct {
	Rough      bool          `json:"rough" doc:"whether there were fewer than 5 fresh calls of a kind to compare with"`
	Resumed    int64         `json:"resumed_calls" doc:"resumed calls that were compared"`
	Fresh      int64         `json:"fresh_calls" doc:"fresh calls they are compared with"`
	ByFirst    int64         `json:"resumed_calls_by_first_calls" doc:"of these, those compared with first calls only"`
	FirstCalls int64         `json:"first_calls" doc:"these first calls"`
	Unlike     int64         `json:"uncomparable_calls" doc:"resumed calls with too few fresh calls to compare"`
	Figures    []SavedFigure `json:"figures" doc:"what was compared"`
}

// A SavedFigure is a mean over the resumed calls, what similar fresh calls
// would have, and the sum of the difference.
type SavedFigure struct {
	Figure
	Calls   int64       `json:"-"` // resumed calls that have the figure and were compared
	Resumed view.Number `json:"resumed_mean" doc:"mean of the resumed calls"`
	Fresh   view.Number `json:"fresh_mean" doc:"mean of the fresh runs"`
	Saved   view.Number `json:"saved" doc:"by all resumed_calls"`
}

// MinFresh is how many similar fresh calls a resumed call needs. With fewer, the estimate is rough.
const MinFresh = 5

// sideSums are the calls that are alike and counted as the same.
type sideSums struct {
	like
	Side  decide.Side
	alike int64 // bytes that prompts left out which extend what their sessions were sent
	history.Front
	history.Sums
}

// A warmth is what calls found of what comes in front of a prompt in the provider's cache: a new session in their place would have found
// it too.
type warmth struct {
	all, part float64 // shares of the calls that found all of it, and a part
	found     float64 // the tokens of such a part
	alike     float64 // tokens of the prompt itself that it would have found, as it begins like the one before
}

func (s sideSums) warmth() (w warmth) {
	of := &rewrite.Descriptor{}
	if tool, known := rewrite.Lookup(s.tool); known {
		of = tool.Descriptor()
	}
	if of.CachePerSession {
		return w
	}
	if of.CacheByText {
		w.alike = float64(s.alike) / 4 / float64(s.Calls) // as for Front.Ahead
	}
	w.all, w.part = float64(s.Warm)/float64(s.Calls), float64(s.Missed)/float64(s.Calls)
	w.found = float64(s.Found) / float64(max(s.Missed, 1))
	return w
}

// A like is what calls must have in common to be compared.
type like struct{ tool, rule, role, model string }

// A yardstick holds the fresh calls that similar resumed ones are compared with.
type yardstick struct {
	history.Sums
	front history.Front
	first bool // first calls stand in: there are too few that continued their job
}

// yardsticks returns a yardstick for each like with at least that many fresh calls: these as they would have been in the place of the
// resumed ones.
func yardsticks(sides []sideSums, least int64) map[like]yardstick {
	found, warm := map[like]yardstick{}, map[like]warmth{}
	for _, s := range sides {
		_, known := found[s.like]
		switch {
		case s.Side == decide.Resumed:
			warm[s.like] = s.warmth()
		case s.Calls >= least && (!known || s.Side == decide.FollowUp):
			found[s.like] = yardstick{s.Sums, s.Front, s.Side == decide.FirstRun}
		}
	}
	for like, y := range found {
		y.Sums = y.instead(warm[like])
		found[like] = y
	}
	return found
}

// more returns how many more tokens the yardstick's calls would have found in the cache in the place of others, negative if fewer.
func (y yardstick) more(w warmth) int64 {
	if y.front.Firsts == 0 {
		return 0
	}
	n := float64(y.front.Firsts)
	front, own, part := float64(y.front.Ahead)/n, float64(y.front.Read)/n, w.found
	if part >= 0.75*front { // only the session's history was missed: qwen's and gemini's first resume
		part += w.alike
	}
	size := front
	if most := float64(y.front.Most); most > 0 {
		size = min(size, most) // a part of it may be each call's own
	}
	size += w.alike
	own = min(own, size)
	return int64(n * (w.all*(size-own) + w.part*(min(part, size)-own)))
}

// instead returns the yardstick's calls as they would have been in the place of calls that met the provider's cache so, and without
// reprise, which alone asks for an hour.
func (y yardstick) instead(w warmth) history.Sums {
	s := y.Sums
	found := max(y.more(w), -s.CacheRead)
	written := min(found, s.CacheWrite)
	if found < 0 && s.CacheWrite == 0 {
		written = 0 // the tool's provider charges nothing for it
	}
	input := min(found-written, s.Input)
	s.CacheWrite, s.Input, s.CacheRead = s.CacheWrite-written, s.Input-input, s.CacheRead+written+input
	s.HourWrite = 0
	if was := weighted(y.Sums); was > 0 {
		s.Cost = int64(float64(s.Cost) * weighted(s) / was)
	}
	return s
}

// estimate compares resumed calls with similar fresh ones among their peers, and with few of them if there are only few. It also returns
// the fresh ones.
func estimate(sides, peers []sideSums) (Estimate, map[like]yardstick) {
	against := yardsticks(peers, MinFresh)
	e := estimateAgainst(sides, against)
	if e.Resumed == 0 {
		few := yardsticks(peers, 1)
		if rough := estimateAgainst(sides, few); rough.Resumed > 0 {
			rough.Rough = true
			return rough, few
		}
	}
	return e, against
}

func estimateAgainst(sides []sideSums, against map[like]yardstick) (out Estimate) {
	resumedSum, freshSum := make(sample, len(Figures)), make(sample, len(Figures))
	hour := make([]float64, len(Figures)) // what it cost other calls that the provider was asked for an hour
	for _, resumed := range sides {
		if resumed.Side != decide.Resumed {
			for i, f := range Figures {
				hour[i] += hourShare(f, resumed.Sums)
			}
			continue
		}
		fresh, ok := against[resumed.like]
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
		for i, f := range Figures {
			a, b := f.Of(resumed.Sums), f.Of(fresh.Sums)
			if a.N > 0 && b.N > 0 {
				resumedSum[i].Sum, resumedSum[i].N = resumedSum[i].Sum+a.Sum, resumedSum[i].N+a.N
				freshSum[i].Sum, freshSum[i].N = freshSum[i].Sum+b.Sum/b.N*a.N, freshSum[i].N+a.N
			}
		}
	}
	for i, f := range Figures {
		if f.Unit == "share" {
			continue // only calls that ended well are compared
		}
		s := SavedFigure{Figure: f, Calls: int64(resumedSum[i].N), Resumed: resumedSum[i].mean(), Fresh: freshSum[i].mean(), Saved: view.Unknown}
		if s.Calls > 0 {
			s.Saved = difference(view.Number(freshSum[i].Sum), view.Number(resumedSum[i].Sum+hour[i]))
		}
		out.Figures = append(out.Figures, s)
	}
	return out
}
