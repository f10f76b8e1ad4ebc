package faults

import (
	"fmt"
	"sync"
)

// crowd is how many calls are made at once.
const crowd = 64

var burstKinds = []kind{
	{"many at once", "64 calls of one chain", func(w *world) {
		w.burst(rounds, func(int) string { return "one" })
	}},
	{"many at once", "64 calls of 64 chains", func(w *world) {
		w.burst(rounds, func(i int) string { return fmt.Sprint("task ", i) })
	}},
	{"many at once", "64 calls of 8 chains", func(w *world) {
		w.burst(rounds, func(i int) string { return fmt.Sprint("task ", i%8) })
	}},
	{"many at once", "64 calls without a name", func(w *world) {
		w.burst(rounds, func(int) string { return "" })
	}},
}

// burst makes rounds of calls, all of a round at once.
func (w *world) burst(rounds int, task func(i int) string) {
	for round := range rounds {
		var wg sync.WaitGroup
		for i := range crowd {
			wg.Go(func() {
				w.call(call{prompt: job(round) + fmt.Sprintf("\n\nRemark %d.", i), task: task(i),
					ms: 20})
			})
		}
		wg.Wait()
	}
	w.sound(0)
}
