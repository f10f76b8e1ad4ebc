package decide

import (
	"math/rand/v2"
	"testing"
)

// Half of the chains are sent whole prompts, whether they are held out or not; none or all if that is asked for.
func TestSendsWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	const chains = 10_000
	var whole [2]int // not held out, held out
	for range chains {
		share := random.Float64()
		if (Limits{}).SendsWhole(share) || !(Limits{WholeOut: 1}).SendsWhole(share) {
			t.Fatalf("%v", share)
		}
		if (Limits{WholeOut: 0.5}).SendsWhole(share) {
			if share < 0.5 {
				whole[1]++
			} else {
				whole[0]++
			}
		}
	}
	for _, n := range whole {
		if n < chains/4-200 || n > chains/4+200 {
			t.Errorf("%d of %d chains are sent whole prompts", whole, chains)
		}
	}
}
