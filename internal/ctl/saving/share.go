package saving

import (
	"slices"

	"reprise/ledger/decide"
	"reprise/ledger/history"
)

// Used returns how much of a figure the calls of a slice used, at list price where the tool reports no cost.
func (s Saving) Used(key string, slice history.Slice) float64 {
	return Figures[index(key)].Of(s.priced(slice).Sums).Sum
}

// Share returns what resuming saved of a figure on a slice. Over all slices that the saving was computed from, the shares add up to it.
func (s Saving) Share(key string) func(history.Slice) float64 {
	f := Figures[index(key)]
	return func(slice history.Slice) float64 {
		slice = s.priced(slice)
		side := slice.Side()
		if !slice.Well || side == decide.Unmeasured {
			return 0
		}
		if side != decide.Resumed {
			return -hourShare(f, slice.Sums)
		}
		fresh, ok := s.against[likeness(slice)]
		if a, b := f.Of(slice.Sums), f.Of(fresh.Sums); ok && a.N > 0 && b.N > 0 {
			return b.Sum/b.N*a.N - a.Sum
		}
		return 0
	}
}

func index(key string) int {
	return slices.IndexFunc(Figures, func(f Figure) bool { return f.Key == key })
}
