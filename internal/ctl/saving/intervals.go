package saving

import (
	"math"
	"math/rand/v2"
	"slices"
)

// An Interval is a 95 % confidence interval.
type Interval struct{ Low, High float64 }

// wilson returns the Wilson score interval of a share, k of n. It holds for few
// and for all too.
func wilson(k, n float64) Interval {
	const z = 1.96
	p, z2 := k/n, z*z
	middle := (p + z2/(2*n)) / (1 + z2/n)
	half := z / (1 + z2/n) * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	return Interval{max(0, middle-half), min(1, middle+half)}
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
func bootstrap(first, second []sample) (ofFirst, ofSecond, difference []Interval) {
	random := rand.New(rand.NewPCG(bootstrapSeed, 0))
	first, second = bundle(first), bundle(second)
	figures := len(first[0])
	a, b, d := make([][]float64, figures), make([][]float64, figures), make([][]float64, figures)
	for range bootstrapDraws {
		meansA, meansB := means(draw(random, first)), means(draw(random, second))
		for i := range figures {
			a[i] = appendNumber(a[i], meansA[i])
			b[i] = appendNumber(b[i], meansB[i])
			d[i] = appendNumber(d[i], meansA[i]-meansB[i])
		}
	}
	for i := range figures {
		ofFirst = append(ofFirst, middle(a[i]))
		ofSecond = append(ofSecond, middle(b[i]))
		difference = append(difference, middle(d[i]))
	}
	return ofFirst, ofSecond, difference
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

func means(s sample) []float64 {
	out := make([]float64, len(s))
	for i, r := range s {
		out[i] = r.Sum / r.N // NaN if no call has it
	}
	return out
}

func appendNumber(to []float64, n float64) []float64 {
	if math.IsNaN(n) {
		return to
	}
	return append(to, n)
}

// middle returns the bounds of the middle 95 % of the values.
func middle(values []float64) Interval {
	if len(values) == 0 {
		return Interval{math.NaN(), math.NaN()}
	}
	slices.Sort(values)
	at := func(share float64) float64 { return values[int(share*float64(len(values)-1)+0.5)] }
	return Interval{at(0.025), at(0.975)}
}
