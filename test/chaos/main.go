// Command chaos runs callers of many kinds against the shims and the player while things go wrong:
// signals, full disks, broken ledgers, failing tools. After each call and each round it checks the
// invariants (docs/internals/chaos.md).
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"reprise/test/harness"
	"reprise/test/player"
	"reprise/test/toolbox"
)

// roundsPerWorld is how many rounds a world lasts.
const roundsPerWorld = 10

func main() {
	seed := flag.Uint64("seed", 1, "what the dice begin with")
	length := flag.Duration("for", time.Minute, "how long worlds are begun")
	first := flag.Int("epoch", 0, "the first world")
	flag.Parse()
	toolbox.RestoreSignals()
	t := &tally{counts: map[string]int{}}
	broken, root, err := soak(*seed, *first, *length, t)
	for _, line := range t.report() {
		fmt.Println(line)
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	case broken:
		fmt.Println("seed", *seed, "has violations, see above; their worlds are in", root)
		os.Exit(1)
	}
	fmt.Println("seed", *seed, "has no violations")
	_ = os.RemoveAll(root) // a directory for temporary files
}

// soak plays one world after the other until the time is up. It reports a world in which an
// invariant is violated, and stops there.
func soak(seed uint64, first int, length time.Duration, t *tally) (broken bool, root string, err error) {
	if root, err = os.MkdirTemp("", "chaos-"); err != nil {
		return false, "", err
	}
	shims, tools := filepath.Join(root, "shims"), filepath.Join(root, "tools")
	if err := errors.Join(harness.Build(shims), player.Install(tools)); err != nil {
		return false, root, err
	}
	for epoch, began := first, time.Now(); time.Since(began) < length || epoch == first; epoch++ {
		dir := filepath.Join(root, fmt.Sprint("world", epoch))
		w, err := newWorld(dir, shims, tools, seed, epoch, t)
		if err != nil {
			return false, root, err
		}
		for round := range roundsPerWorld {
			if err := w.play(round); err != nil {
				return false, root, err
			}
			if len(w.found) > 0 {
				break
			}
		}
		if w.report() {
			broken = true
			continue // its directory is evidence
		}
		if err := os.RemoveAll(dir); err != nil {
			return broken, root, err
		}
	}
	return broken, root, nil
}
