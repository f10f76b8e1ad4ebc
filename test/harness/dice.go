package harness

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// Dice returns the random numbers for a name: they depend on the seed and the name alone.
func Dice(seed uint64, name string) *rand.Rand {
	sum := fnv.New64()
	_, _ = sum.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(seed, sum.Sum64()))
}

// Sixth returns a sixth of the cases of a table, at least one, drawn for the name.
func Sixth(cases []string, seed uint64, name string) (sixth []string) {
	for _, i := range Dice(seed, name).Perm(len(cases))[:max(1, len(cases)/6)] {
		sixth = append(sixth, cases[i])
	}
	slices.Sort(sixth)
	return sixth
}
