package decide

// WeightHourWrite is the price of a token that is written to Anthropic's cache for an hour, relative to one of input.
const WeightHourWrite = 2

// A Reuse has numbers of tokens that the calls of a job wrote to the provider's cache, and needed
// again.
type Reuse struct {
	Written int64 // to the cache, by all calls
	// The tokens of sessions that were continued after 5 to 60 minutes, and the part that was
	// written again since only a cache of an hour would have held it.
	Within, Again int64
	// The tokens of sessions that were continued while the cache should have held them, and the
	// part that was found. That is less where a version or a model does not send a session again as
	// it was.
	Expected, Found int64
}

// HourSaves returns the weighted tokens that a cache of an hour saves against one of five minutes, negative if
// it costs more. A token that is kept for an hour is read instead of written again after 5 to 60
// minutes, but every written token costs more. So the hour pays if more than 65 % of the written
// tokens are read then.
func (r Reuse) HourSaves() float64 {
	const saved, paid = WeightCacheWrite - WeightCacheRead, WeightHourWrite - WeightCacheWrite
	found := 1.0
	if r.Expected > 0 {
		found = float64(r.Found) / float64(r.Expected)
	}
	return saved*found*float64(r.Within) - paid*(float64(r.Written)-found*float64(r.Again))
}
