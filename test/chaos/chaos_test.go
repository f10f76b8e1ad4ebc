// Package chaos runs callers of many kinds against the shims and the player while things go wrong:
// signals, limits on files, broken ledgers, failing tools, clocks that jump. A world is a home with
// its own ledger and a dozen callers; it lasts ten rounds. The player records every run outside the
// shim. Each block of each prompt and answer has a mark of its own, so that it is recognized
// wherever it appears.
//
// After each call (check_test.go):
//   - it ended as the tool did, and its output is the tool's, byte for byte; of a killed call, a
//     prefix of it;
//   - a session has seen marks of one job and role only, and everything in the prompt is in the
//     session or in the prompt that it was sent;
//   - no resume of a session after a failed run, from before a jump of the clock, of the same
//     prompt, or against REPRISE_FRESH;
//   - a fresh session gets the caller's prompt unchanged; never two processes in one session, never
//     a third run;
//   - the tool does not outlive its shim, and no call waits for a lease that no live process holds.
//
// After each round no process, temporary file or lease is left, the ledger is sound unless the
// round broke it, no mark is in the state directory, and no other user can read that directory.
package chaos

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"reprise/test/harness"
	"reprise/test/player"
	"reprise/test/toolbox"
)

// roundsPerWorld is how many rounds a world lasts.
const roundsPerWorld = 10

var (
	seed   = flag.Uint64("chaos.seed", 1, "the number that the dice begin with")
	first  = flag.Int("chaos.epoch", 0, "the first world")
	length = flag.Duration("chaos.for", 0, "how long worlds are begun; one is played in any case")
)

func TestMain(m *testing.M) { os.Exit(toolbox.Tests{M: m}.Run()) }

// The directory of a world that violates an invariant stays.
func TestChaos(t *testing.T) {
	toolbox.Long(t)
	root, err := os.MkdirTemp("", "chaos-")
	if err != nil {
		t.Fatal(err)
	}
	shims, tools := filepath.Join(root, "shims"), filepath.Join(root, "tools")
	if err := errors.Join(harness.Build(shims), player.Install(tools)); err != nil {
		t.Fatal(err)
	}
	counts := &tally{counts: map[string]int{}}
	began := time.Now()
	for epoch := *first; time.Since(began) < *length || epoch == *first; epoch++ {
		dir := filepath.Join(root, fmt.Sprint("world", epoch))
		w, err := newWorld(dir, shims, tools, *seed, epoch, counts)
		for round := 0; err == nil && round < roundsPerWorld && len(w.found) == 0; round++ {
			err = w.play(round)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, violation := range w.found {
			t.Errorf("-chaos.seed %d -chaos.epoch %d: %s", *seed, epoch, violation)
		}
		if len(w.found) == 0 {
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		}
	}
	t.Log(counts)
	if t.Failed() {
		t.Log("the worlds with violations are in", root)
	} else if err := os.RemoveAll(root); err != nil {
		t.Error(err)
	}
}
