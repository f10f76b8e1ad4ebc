package parity

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// Dice returns what draws for a name: it depends on the seed and the name alone.
func Dice(seed uint64, name string) *rand.Rand {
	sum := fnv.New64()
	_, _ = sum.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(seed, sum.Sum64()))
}

// Third returns a third of the cases of a table, at least one, drawn for the name.
func Third(cases []string, seed uint64, name string) (third []string) {
	for _, i := range Dice(seed, name).Perm(len(cases))[:max(1, len(cases)/3)] {
		third = append(third, cases[i])
	}
	slices.Sort(third)
	return third
}
