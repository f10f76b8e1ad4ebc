package saving

import (
	"strings"

	"reprise/internal/ctl/view"
	"reprise/ledger/decide"
	"reprise/ledger/history"
)

// A Figure is one of the things that are compared, as a mean over calls.
type Figure struct {
	Key  string                   `json:"name" doc:"what is compared"`
	Unit string                   `json:"unit" doc:"share, tokens, nano_usd or ms"`
	Of   func(history.Sums) Ratio `json:"-"`
}

// A Ratio is a sum and its divisor: the mean over calls of what many chains add up to.
type Ratio struct{ Sum, N float64 }

// mean returns the mean, which is not known if no call has the figure.
func (r Ratio) mean() view.Number { return view.Number(r.Sum / r.N) }

// The names of the figures that a summary shows.
const (
	Cost     = "cost"
	Weighted = "weighted_tokens"
)

// Figures are all of them, in the order in which they are shown.
var Figures = []Figure{
	{"success", "share", func(s history.Sums) Ratio { return Ratio{float64(s.OK), float64(s.Ended)} }},
	{"input_tokens", "tokens", func(s history.Sums) Ratio { return Ratio{float64(s.Input), float64(s.Metered)} }},
	{"cache_read_tokens", "tokens", func(s history.Sums) Ratio { return Ratio{float64(s.CacheRead), float64(s.Metered)} }},
	{"cache_write_tokens", "tokens", func(s history.Sums) Ratio { return Ratio{float64(s.CacheWrite), float64(s.Metered)} }},
	{"output_tokens", "tokens", func(s history.Sums) Ratio { return Ratio{float64(s.Output), float64(s.Metered)} }},
	{Weighted, "tokens", func(s history.Sums) Ratio { return Ratio{weighted(s), float64(s.Metered)} }},
	{Cost, "nano_usd", func(s history.Sums) Ratio { return Ratio{float64(s.Cost), float64(s.Priced)} }},
	{"duration", "ms", func(s history.Sums) Ratio { return Ratio{float64(s.Duration), float64(s.Timed)} }},
}

// Title returns the figure's name for people.
func (f Figure) Title() string { return strings.ReplaceAll(f.Key, "_", " ") }

// weighted adds up the kinds of tokens, weighted by their cost.
func weighted(s history.Sums) float64 {
	return decide.WeightInput*float64(s.Input) + decide.WeightCacheRead*float64(s.CacheRead) +
		decide.WeightCacheWrite*float64(s.CacheWrite) + hourPrice(s) + decide.WeightOutput*float64(s.Output)
}

// hourPrice returns what it costs more that the provider was asked to keep prompts for an hour.
func hourPrice(s history.Sums) float64 {
	return (decide.WeightHourWrite - decide.WeightCacheWrite) * float64(s.HourWrite)
}

// hourShare returns the part of a figure that is due to it.
func hourShare(f Figure, s history.Sums) float64 {
	switch f.Key {
	case Weighted:
		return hourPrice(s)
	case Cost:
		return float64(s.Cost) * hourPrice(s) / max(weighted(s), 1)
	}
	return 0
}

func newSample(s history.Sums) sample {
	out := make(sample, len(Figures))
	for i, f := range Figures {
		out[i] = f.Of(s)
	}
	return out
}
