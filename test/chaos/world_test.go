package chaos

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"reprise/test/harness"
	"reprise/test/player"
)

// A World is a home, its ledger, and callers. Everything in it follows from seed and epoch, as far
// as the system's own scheduling allows.
type World struct {
	*harness.World
	Seed  uint64
	Epoch int

	marks   markOwners
	threads []*Thread
	tally   *tally

	mu      sync.Mutex
	round   int
	calls   int
	weather string
	all     bool // of this round: every call must be passed through
	found   []string
	killed  bool            // of this round: a shim was killed with SIGKILL
	stale   map[string]bool // sessions from before a change of the clock
}

// A tally counts the events of all worlds.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (t *tally) add(what string) {
	t.mu.Lock()
	t.counts[what]++
	t.mu.Unlock()
}

// newWorld creates the directories of a world and its callers.
func newWorld(root, shims, tools string, seed uint64, epoch int, t *tally) (*World, error) {
	inner, err := harness.Bare(root, shims, tools, "/usr/bin", "/bin")
	if err != nil {
		return nil, err
	}
	w := &World{World: inner, Seed: seed, Epoch: epoch, tally: t,
		marks: markOwners{owner: map[string]string{}}, stale: map[string]bool{}}
	err = errors.Join(player.Prepare(w.notes()), os.Mkdir(filepath.Join(w.Project, "d0"), 0o755),
		os.Mkdir(filepath.Join(w.Project, "d1"), 0o755), w.Configure(harness.ResumesAll))
	if err != nil {
		return nil, err
	}
	w.newThreads()
	return w, nil
}

// notes returns the directory of the player's scripts and records.
func (w *World) notes() string { return filepath.Join(w.Root, "notes") }

// rng returns the random numbers of one part of the world's history.
func (w *World) rng(part int) *rand.Rand {
	return rand.New(rand.NewPCG(w.Seed, uint64(w.Epoch)<<32|uint64(part)))
}

// play runs the callers for one round under a fault scenario, and checks the results.
func (w *World) play(round int) error {
	rng := w.rng(1000 + round)
	w.round, w.killed = round, false
	undo, err := w.change(rng)
	if err != nil {
		return fmt.Errorf("make weather %q: %w", w.weather, err)
	}
	var callers sync.WaitGroup
	slots := make(chan struct{}, 6)
	for _, i := range rng.Perm(len(w.threads))[:min(len(w.threads), 3+rng.IntN(4))] {
		t := w.threads[i]
		callers.Go(func() { w.visit(t, slots) })
	}
	callers.Wait()
	w.waitForProcesses()
	if err := undo(); err != nil {
		return fmt.Errorf("undo weather %q: %w", w.weather, err)
	}
	w.checkRound()
	w.tally.add("rounds")
	return nil
}

// visit lets a caller make a few calls, one after the other or all at once.
func (w *World) visit(t *Thread, slots chan struct{}) {
	n := 1 + t.rng.IntN(4)
	if t.Style != Transcript && t.rng.IntN(4) == 0 {
		var burst sync.WaitGroup
		w.tally.add("bursts on one chain")
		for range n + 1 {
			c := w.newCall(t)
			c.beside = true
			burst.Go(func() { w.take(c, slots) })
		}
		burst.Wait()
		return
	}
	var winding sync.WaitGroup
	for range n {
		c := w.newCall(t)
		if c.talk == nil || !t.Hasty {
			w.take(c, slots)
			t.answered(c.answer())
			continue
		}
		c.beside = true
		ended := make(chan struct{})
		winding.Go(func() { w.take(c, slots); close(ended) })
		select {
		case <-c.talk.ended:
			w.tally.add("calls that begin before the last one's end")
		case <-ended:
		}
	}
	winding.Wait()
}

func (w *World) take(c *Call, slots chan struct{}) {
	slots <- struct{}{}
	defer func() { <-slots }()
	if err := c.run(); err != nil {
		w.violate(c, "cannot be made: %v", err)
		return
	}
	c.check()
}

// runs returns the player's records of a call, in order.
func (w *World) runs(call string) []player.Run { return player.Runs(w.notes(), call) }

// waitForProcesses waits until no process works in the world any more.
func (w *World) waitForProcesses() {
	var pids []int
	if !harness.Until(5*time.Second, func() bool { pids = w.Processes(); return len(pids) == 0 }) {
		w.violate(nil, "processes are left after all callers have ended: %v", pids)
	}
}

// violate records that an invariant is violated.
func (w *World) violate(c *Call, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	where := fmt.Sprintf("epoch %d, round %d, weather: %s", w.Epoch, w.round, w.weather)
	if c != nil {
		where += "\n" + c.describe()
	}
	w.mu.Lock()
	w.found = append(w.found, text+"\n"+where)
	w.mu.Unlock()
	w.tally.add("violations")
}

// String returns the counts in a fixed order.
func (t *tally) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t.counts)) {
		fmt.Fprintf(&b, "\n%-52s %7d", name, t.counts[name])
	}
	return b.String()
}
