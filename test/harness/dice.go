package harness

import (
	"hash/fnv"
	"math/rand/v2"
)

// Dice returns the random numbers for a name: they depend on the seed and the name alone.
func Dice(seed uint64, name string) *rand.Rand {
	sum := fnv.New64()
	_, _ = sum.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(seed, sum.Sum64()))
}
