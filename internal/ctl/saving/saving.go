// Package saving computes what resuming saved, and says it in one sentence.
//
// It is pure: its input is sums of the ledger's calls. Three kinds of figures are kept apart: what was
// counted (AtLeast), what is estimated (Estimate) and what was measured against a control group
// (Comparison). Its invariant: a figure of one kind is never shown as one of another, and an unknown
// figure is never 0.
//
// A chain's number and a key in the ledger decide whether rollout resumes it; delta_rollout goes by other
// digits of that number. Calls of one chain are not independent, so the intervals of tokens, cost, duration
// and all differences come from a bootstrap over whole chains (1000 draws, always the same), the interval of
// a success share is Wilson's, and calls and time of a chain have Student's. Chains that changed groups
// because rollout changed are excluded, and counted.
package saving

import (
	"slices"

	"reprise/internal/ctl/view"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite/reason"
)

// A Saving is what resuming saved in a period.
type Saving struct {
	AtLeast    AtLeast
	Arms       Comparison  // its sizes hold even if the arms are too small to be compared
	Comparison *Comparison // of the arms; nil if they cannot be compared. It says nothing of calls made while nothing was held out
	Estimate   Estimate    // of all calls, also those of the arms. What parts of them saved adds up to it

	against map[like]yardstick // with what Estimate compares
	price   Price
}

// AtLeast is what holds without any comparison. A session's history is read again by the model with each
// call, so what a prompt leaves out is not as many tokens saved.
type AtLeast struct {
	Calls        int64 // managed calls
	Resumed      int64 // of these, the resumed ones
	LeftOutBytes int64 // what the prompts of resumed calls left out
	byLogin      int64 // of Resumed, those made with a login
}

// A Price returns what the calls of a slice cost, if no tool said so.
type Price func(history.Slice) (nano int64, ok bool)

// New computes what resuming saved in calls and arms. An estimate compares them with all calls of their period, which are
// peers, nil if these are all: so what a part saved adds up to what the whole did. With a price, calls whose tool reports no cost are estimated in money too;
// it may be nil.
func New(calls, peers []history.Slice, arms []history.ChainSums, price Price) Saving {
	s := Saving{price: price}
	var ok bool
	if s.Arms, ok = compare(arms); ok {
		s.Comparison = &s.Arms
	}
	managed := s.managed(calls)
	for _, slice := range managed {
		s.AtLeast.Calls += slice.Calls
		s.AtLeast.Resumed += slice.Resumed
		if slice.Login {
			s.AtLeast.byLogin += slice.Resumed
		}
		if slice.Mode.Continues() {
			s.AtLeast.LeftOutBytes += slice.LeftOutBytes
		}
	}
	own := sides(managed)
	all := own
	if peers != nil {
		all = sides(s.managed(peers))
	}
	s.Estimate, s.against = estimate(own, all)
	return s
}

// priced returns the slice with its price, if no tool said what its calls cost.
func (s Saving) priced(slice history.Slice) history.Slice {
	if slice.Priced || !slice.Counted || s.price == nil {
		return slice
	}
	if nano, ok := s.price(slice); ok {
		slice.Sums.Priced, slice.Cost = slice.Calls, nano
	}
	return slice
}

// managed returns the managed calls with their prices.
func (s Saving) managed(slices []history.Slice) (managed []history.Slice) {
	for _, slice := range slices {
		if slice.Managed() {
			managed = append(managed, s.priced(slice))
		}
	}
	return managed
}

// sides adds up the calls that ended well by what they are counted as.
func sides(slices []history.Slice) (list []sideSums) {
	type key struct {
		like
		side decide.Side
	}
	at := map[key]int{}
	for _, slice := range slices {
		k := key{likeness(slice), slice.Side()}
		if !slice.Well || k.side == decide.Unmeasured {
			continue
		}
		i, ok := at[k]
		if !ok {
			i = len(list)
			at[k] = i
			list = append(list, sideSums{like: k.like, Side: k.side})
		}
		list[i].Sums.Add(slice.Sums)
		list[i].Front.Add(slice.Front)
		if slice.Reason == reason.Extends {
			list[i].alike += slice.LeftOutBytes
		}
	}
	return list
}

func likeness(s history.Slice) like { return like{s.Tool, s.Rule, s.Role, s.Model} }

// Saved returns by how much less of a figure was used, negative if it was more; unknown without a figure to compare
// with.
func (s Saving) Saved(key string) view.Number { return s.estimated(key).Saved }

func (s Saving) estimated(key string) SavedFigure {
	at := slices.IndexFunc(s.Estimate.Figures, func(f SavedFigure) bool { return f.Key == key })
	if at < 0 || s.Estimate.Resumed == 0 {
		return SavedFigure{Saved: view.Unknown}
	}
	return s.Estimate.Figures[at]
}
