// Package saving estimates the saving by resumed calls, and says it in one sentence.
//
// A resumed call is set against the mean of the fresh calls of the same tool, role and model, in
// tokens weighted by price, and in money: by the tool's own figure, else at list price. The
// beginning of a fresh call's request that other calls had put into the provider's cache is priced
// as read. It is an estimate: guards do not keep calls fresh at random. The package is pure, it
// takes sums of the ledger's calls. Invariant: an unknown figure is never 0.
package saving

import (
	"fmt"
	"math"

	"reprise/internal/ctl/view"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A Saving is the saving by resumes in some calls.
type Saving struct {
	Calls, Resumed int64 // managed calls
	// of prompts of resumed calls that were not sent, since the sessions held them
	LeftOutBytes int64
	Compared     int64 // the resumed calls that were compared
	Fresh        int64 // the fresh calls that they were compared with
	Cost, Tokens Amount

	groups map[like]*group
	price  Pricer
}

// An Amount is a figure of the compared calls.
type Amount struct {
	Figure
	Calls          int64       // compared resumed calls that have the figure
	Resumed, Fresh view.Number // means
	Saved          view.Number // negative if it was more
	Instead        view.Number // of all calls, without resuming
}

// A Figure is one of the two figures that are compared.
type Figure struct {
	Name, Unit string
	of         func(history.Sums) (sum float64, calls int64)
}

// The figures.
var (
	Cost = Figure{"cost", "nano_usd", func(s history.Sums) (float64, int64) {
		return float64(s.Cost), s.Priced
	}}
	Tokens = Figure{"weighted tokens", "tokens", func(s history.Sums) (float64, int64) {
		return weighted(s), s.Metered
	}}
)

// A Pricer returns the cost of a slice's calls at list price.
type Pricer func(history.Slice) (nano int64, ok bool)

// A like is the properties that calls must share to be compared.
type like struct{ tool, role, model string }

func likeness(s history.Slice) like { return like{s.Tool, s.Role, s.Model} }

// A group sums up the calls that are compared. A fresh call in the place of a resumed call would
// have found in the provider's cache the beginning of its tokens there.
type group struct {
	fresh       history.Sums
	front       history.Front // of the fresh calls
	calls, warm int64         // resumed calls
	alike       int64         // bytes that their prompts left out which extend the prompt before
}

// New estimates the saving of resumes in the calls. With a price, calls of tools that report no
// cost are estimated in money too.
func New(calls []history.Slice, price Pricer) Saving {
	s := Saving{price: price, groups: map[like]*group{}}
	for _, slice := range calls {
		if !slice.Managed() {
			continue
		}
		s.Calls, s.Resumed = s.Calls+slice.Calls, s.Resumed+slice.Resumed
		if slice.Mode.Continues() {
			s.LeftOutBytes += slice.LeftOutBytes
		}
		if slice.Well {
			s.compare(slice)
		}
	}
	for kind, g := range s.groups {
		if g.calls > 0 && g.fresh.Calls > 0 {
			s.Compared, s.Fresh = s.Compared+g.calls, s.Fresh+g.fresh.Calls
			g.fresh = g.instead(kind.tool)
		}
	}
	s.Cost, s.Tokens = s.amount(Cost, calls), s.amount(Tokens, calls)
	return s
}

func (s *Saving) compare(slice history.Slice) {
	kind := likeness(slice)
	if s.groups[kind] == nil {
		s.groups[kind] = &group{}
	}
	g := s.groups[kind]
	switch slice.Side() {
	case decide.Resumed:
		g.calls, g.warm = g.calls+slice.Calls, g.warm+slice.Warm
		if slice.Reason == reason.Extends {
			g.alike += slice.LeftOutBytes
		}
	case decide.FirstRun, decide.FollowUp:
		g.fresh.Add(s.priced(slice).Sums)
		g.front.Add(slice.Front)
	}
}

func (s *Saving) amount(f Figure, calls []history.Slice) Amount {
	a := Amount{Figure: f, Saved: view.Unknown, Instead: view.Unknown}
	var used, all, instead, saved float64
	for _, slice := range calls {
		if !slice.Managed() {
			continue
		}
		own, share := s.Share(f, slice)
		all, saved = all+own, saved+share
		if mean, n := s.mean(f, slice); n > 0 {
			a.Calls, used, instead = a.Calls+n, used+own, instead+mean*float64(n)
		}
	}
	a.Resumed, a.Fresh = view.Number(used)/view.Number(a.Calls),
		view.Number(instead)/view.Number(a.Calls)
	if a.Calls > 0 {
		a.Saved, a.Instead = view.Number(saved), view.Number(all+saved)
	}
	return a
}

// mean returns the figure of a fresh call in the place of a resumed call of the slice, and the
// number of calls that it is compared with, 0 if one of the two is not known.
func (s *Saving) mean(f Figure, slice history.Slice) (mean float64, calls int64) {
	if slice.Side() != decide.Resumed || !slice.Well {
		return 0, 0
	}
	sum, fresh := f.of(s.groups[likeness(slice)].fresh)
	if fresh == 0 {
		return 0, 0
	}
	_, calls = f.of(s.priced(slice).Sums)
	return sum / float64(fresh), calls
}

// Share returns the figure of the calls of a slice, 0 if it is not known, and their saving. Over
// all slices the shares add up to the saving. A cache entry of an hour, which only reprise asks
// for, is a loss of fresh calls.
func (s *Saving) Share(f Figure, slice history.Slice) (used, saved float64) {
	used, _ = f.of(s.priced(slice).Sums)
	if mean, n := s.mean(f, slice); n > 0 {
		return used, mean*float64(n) - used
	}
	if slice.Managed() && slice.Side() != decide.Resumed && weighted(slice.Sums) > 0 {
		return used, -used * hourPrice(slice.Sums) / weighted(slice.Sums)
	}
	return used, 0
}

// priced returns the slice at list price if the tool reports no cost.
func (s *Saving) priced(slice history.Slice) history.Slice {
	if slice.Priced || !slice.Counted || s.price == nil {
		return slice
	}
	if nano, ok := s.price(slice); ok {
		slice.Sums.Priced, slice.Cost = slice.Calls, nano
	}
	return slice
}

// instead returns the fresh calls as they would have been in the place of the resumed calls: they
// read from the cache the text in front of a prompt, and where the cache goes by the text, the
// beginning of the prompt too.
func (g *group) instead(name string) history.Sums {
	s := g.fresh
	was := weighted(s)
	s.HourWrite = 0 // only reprise asks for an hour
	tool := &rewrite.Descriptor{}
	if known, ok := rewrite.Lookup(name); ok {
		tool = known.Descriptor()
	}
	if g.front.Firsts > 0 && !tool.CachePerSession {
		n := float64(g.front.Firsts)
		size := float64(g.front.Ahead) / n
		if g.front.Most > 0 {
			size = min(size, float64(g.front.Most)) // a part of it can be each call's own
		}
		if tool.CacheByText {
			size += float64(g.alike) / float64(g.calls) / bytesPerToken
		}
		warm := float64(g.warm) / float64(g.calls)
		found := int64(n * warm * max(0, size-float64(g.front.Read)/n))
		written := min(found, s.CacheWrite)
		input := min(found-written, s.Input)
		s.CacheWrite, s.Input, s.CacheRead = s.CacheWrite-written, s.Input-input,
			s.CacheRead+written+input
	}
	if was > 0 {
		s.Cost = int64(float64(s.Cost) * weighted(s) / was)
	}
	return s
}

// bytesPerToken is the usual length of a token, since the ledger has only sizes of prompts.
const bytesPerToken = 4

// weighted adds up the kinds of tokens, weighted by price.
func weighted(s history.Sums) float64 {
	return decide.WeightInput*float64(s.Input) + decide.WeightCacheRead*float64(s.CacheRead) +
		decide.WeightCacheWrite*float64(s.CacheWrite) + hourPrice(s) +
		decide.WeightOutput*float64(s.Output)
}

// hourPrice returns the additional price of cache entries that last for an hour.
func hourPrice(s history.Sums) float64 {
	return (decide.WeightHourWrite - decide.WeightCacheWrite) * float64(s.HourWrite)
}

// Headline returns the saving in one sentence, without a full stop: in money, or in tokens if no
// price is known.
//
// test/savings compares it with the measured weighted tokens of jobs with claude, codex, gemini,
// qwen and vibe.
func (s Saving) Headline() string {
	switch {
	case s.Calls == 0:
		return "no managed call has been made"
	case s.Resumed == 0 && s.Calls == 1:
		return "the only call was not resumed"
	case s.Resumed == 0:
		return fmt.Sprintf("none of the %s was resumed", view.Count(s.Calls, "call"))
	}
	words := fmt.Sprintf("%s of %s resumed", view.Thousands(s.Resumed), view.Count(s.Calls, "call"))
	a := s.Cost
	if !a.Saved.Known() {
		a = s.Tokens
	}
	if !a.Saved.Known() {
		return words + "; the saving is not known, no similar fresh call ended well"
	}
	unit := ""
	if a.Unit == "tokens" {
		unit = " " + a.Name
	}
	saved := view.Amount(a.Unit, view.Number(math.Abs(float64(a.Saved))))
	if a.Saved < 0 {
		return fmt.Sprintf("%s, cost about %s%s more than without (estimate)", words, saved, unit)
	}
	return fmt.Sprintf("%s, saved about %s of %s%s (estimate)", words, saved,
		view.Amount(a.Unit, a.Instead), unit)
}

// Words names the calls behind the estimate.
func (s Saving) Words() string {
	if s.Compared == 0 {
		return "no similar fresh call ended well"
	}
	return fmt.Sprintf("an estimate: %s against %s", view.Count(s.Compared, "resumed call"),
		view.Count(s.Fresh, "fresh call"))
}

// A Summary is a saving in JSON. Cost and tokens are negative if resuming was dearer.
type Summary struct {
	Headline     string      `json:"headline" doc:"the saving in one sentence"`
	Calls        int64       `json:"managed_calls" doc:"managed calls"`
	Resumed      int64       `json:"resumed_calls" doc:"of these, the resumed calls"`
	LeftOutBytes int64       `json:"left_out_bytes" doc:"counted: bytes that the prompts of resumed calls left out, since the session held them"`
	Compared     int64       `json:"compared_calls" doc:"resumed calls that were compared"`
	Fresh        int64       `json:"fresh_calls" doc:"fresh calls of the same tool, role and model that they were compared with"`
	Cost         view.Number `json:"cost_nano_usd" doc:"cost in billionths of a dollar"`
	CostInstead  view.Number `json:"cost_without_nano_usd" doc:"estimated cost of all calls without resuming"`
	Tokens       view.Number `json:"weighted_tokens" doc:"estimated saving in tokens, weighted by what their kinds cost"`
}

// Summary returns the saving in JSON.
func (s Saving) Summary() Summary {
	return Summary{s.Headline(), s.Calls, s.Resumed, s.LeftOutBytes, s.Compared, s.Fresh,
		s.Cost.Saved, s.Cost.Instead, s.Tokens.Saved}
}
