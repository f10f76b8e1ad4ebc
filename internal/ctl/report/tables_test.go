package report

import (
	"slices"
	"testing"

	"reprise/internal/ctl/saving"
	"reprise/internal/ctl/view"
	"reprise/ledger/history"
	"reprise/rewrite"
)

// A table begins with what cost most, not with what saved most, and ends with the sum of the others.
func TestDearestFirst(t *testing.T) {
	slice := func(cwd string, calls, cost int64) history.Slice {
		s := history.Slice{Cwd: cwd, Mode: rewrite.Resume, Priced: true}
		s.Calls, s.Cost, s.Sums.Priced = calls, cost, calls
		return s
	}
	managed := []history.Slice{slice(history.OtherKeys, 9000, 9e12), slice("/few", 6, 1e9), slice("/unpriced", 9, 0), slice("/many", 5398, 5e11), slice("/some", 7, 0)}
	share := func(s history.Slice) []float64 {
		saved := make([]float64, len(saving.Figures))
		for i := range saved {
			saved[i] = map[string]float64{"/few": 1e9, "/many": -1e9}[s.Cwd]
		}
		return saved
	}
	var got []string
	for _, row := range groupings[0].sums(managed, share, view.Reporter{}) {
		got = append(got, row.key)
	}
	if want := []string{"/many", "/few", "/unpriced", "/some", history.OtherKeys}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
