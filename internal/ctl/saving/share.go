package saving

import (
	"reprise/ledger/decide"
	"reprise/ledger/history"
)

// A Share returns what resuming saved on one slice, by figure. Over all slices that the saving was
// computed from, the shares add up to it.
type Share func(history.Slice) []float64

// Share returns the slices' shares of the saving: it compares the resumed calls of a slice with similar fresh calls.
func (s Saving) Share() Share {
	return func(slice history.Slice) []float64 {
		saved := make([]float64, len(Figures))
		slice = s.priced(slice)
		if side := slice.Side(); side != decide.Resumed {
			if slice.Well && side != decide.Unmeasured {
				for i, f := range Figures {
					saved[i] = -hourShare(f, slice.Sums)
				}
			}
			return saved
		}
		fresh, ok := s.against[likeness(slice)]
		if !ok || !slice.Well {
			return saved
		}
		for i, f := range Figures {
			if a, b := f.Of(slice.Sums), f.Of(fresh.Sums); a.N > 0 && b.N > 0 {
				saved[i] = b.Sum/b.N*a.N - a.Sum
			}
		}
		return saved
	}
}
