package saving

import (
	"math"
	"math/rand/v2"
	"slices"

	"reprise/internal/ctl/view"
)

// An Interval is a 95 % confidence interval.
type Interval struct {
	Low  view.Number `json:"low" doc:"lower end of the interval"`
	High view.Number `json:"high" doc:"upper end of the interval"`
}

// wilson returns the Wilson score interval of a share, k of n. It holds for few
// and for all too.
func wilson(k, n float64) Interval {
	const z = 1.96
	p, z2 := k/n, z*z
	middle := (p + z2/(2*n)) / (1 + z2/n)
	half := z / (1 + z2/n) * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	return Interval{max(0, difference(view.Number(middle), view.Number(half))), view.Number(min(1, middle+half))}
}

// A sample holds a ratio for each figure. Calls of one chain are alike, so a chain
// is drawn or left as a whole.
type sample []Ratio

// The bootstrap draws the same samples each time, so that a ledger always yields the same
// intervals.
const (
	bootstrapDraws = 1000
	bootstrapSeed  = 1
	mostSamples    = 1000 // more chains are drawn by the bundle, which changes nothing but the time it takes
)

// bootstrap returns, for each figure, the intervals of both arms' means and of their
// difference, the first minus the second.
func bootstrap(first, second []sample) (ofFirst, ofSecond, between []Interval) {
	random := rand.New(rand.NewPCG(bootstrapSeed, 0))
	first, second = bundle(first), bundle(second)
	figures := len(first[0])
	a, b, d := make([][]view.Number, figures), make([][]view.Number, figures), make([][]view.Number, figures)
	for range bootstrapDraws {
		drawnA, drawnB := draw(random, first), draw(random, second)
		for i := range figures {
			a[i] = append(a[i], drawnA[i].mean())
			b[i] = append(b[i], drawnB[i].mean())
			d[i] = append(d[i], difference(drawnA[i].mean(), drawnB[i].mean()))
		}
	}
	for i := range figures {
		ofFirst = append(ofFirst, middle(a[i]))
		ofSecond = append(ofSecond, middle(b[i]))
		between = append(between, middle(d[i]))
	}
	return ofFirst, ofSecond, between
}

func bundle(chains []sample) []sample {
	if len(chains) <= mostSamples {
		return chains
	}
	bundles := make([]sample, mostSamples)
	for i, c := range chains {
		at := &bundles[i%mostSamples]
		if *at == nil {
			*at = make(sample, len(c))
		}
		at.add(c)
	}
	return bundles
}

func draw(random *rand.Rand, from []sample) sample {
	sum := make(sample, len(from[0]))
	for range from {
		sum.add(from[random.IntN(len(from))])
	}
	return sum
}

func (s sample) add(more sample) {
	for i := range s {
		s[i].Sum += more[i].Sum
		s[i].N += more[i].N
	}
}

// middle returns the bounds of the middle 95 % of the known values.
func middle(values []view.Number) Interval {
	values = slices.DeleteFunc(values, func(n view.Number) bool { return !n.Known() })
	if len(values) == 0 {
		return Interval{view.Unknown, view.Unknown}
	}
	slices.Sort(values)
	at := func(share float64) view.Number { return values[int(share*float64(len(values)-1)+0.5)] }
	return Interval{at(0.025), at(0.975)}
}
