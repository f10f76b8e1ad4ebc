// Command chaos runs callers of many kinds against the shims and the player while things go wrong:
// signals, limits on files, broken ledgers, failing tools, clocks that jump. A world is a home with
// its own ledger and a dozen callers; it lasts ten rounds. The player records every run outside the
// shim. Each block of each prompt and answer has a mark of its own, so that it is recognized
// wherever it appears.
//
// After each call (check.go):
//   - it ended as the tool did, and its output is the tool's, byte for byte; of a killed call, a prefix of it;
//   - a session has seen marks of one job and role only, and everything in the prompt is in the session
//     or in what it was sent;
//   - no resume of a session whose last run failed, from before a jump of the clock, of the same prompt,
//     or against REPRISE_FRESH;
//   - a fresh session gets the caller's prompt unchanged; never two processes in one session, never a third run;
//   - the tool does not outlive its shim, and no call waits for a lease that no live process holds.
//
// After each round no process, temporary file or lease is left, the ledger is sound unless the
// round broke it, no mark is in the state directory, and no other user can read that directory.
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
func soak(seed uint64, first int, length time.Duration, t *tally) (broken bool, root string,
	err error) {
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
