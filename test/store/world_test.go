package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"reprise/fleet"
	"reprise/fleet/bundle"
	"reprise/fleet/store"
	"reprise/fleet/vault"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/test/stores/mem"
)

const (
	runners  = 5
	perRound = 8 // calls of a runner on one task
)

// A world is a store, and machines that share the tasks in it.
type world struct {
	// a connection to a server; nil for a store in memory for each round
	open  func() (store.Store, error)
	fault fault
	dir   string
	clock atomic.Int64 // in milliseconds, without the machines' skews
	made  atomic.Int64 // names that are used once
	tally tally
}

// A tally counts events.
type tally struct {
	rounds, calls, resumed, fellBack, died, refused, unknown, unfinished, requests,
	undecided atomic.Int64
}

func (t *tally) String() string {
	return fmt.Sprintf("%d requests: %d tasks, %d calls, %d resumed, %d fell back, %d died, %d "+
		"without a store, %d with an unknown end, %d without one, %d histories too long to judge",
		t.requests.Load(), t.rounds.Load(), t.calls.Load(), t.resumed.Load(), t.fellBack.Load(),
		t.died.Load(), t.refused.Load(), t.unknown.Load(), t.unfinished.Load(), t.undecided.Load())
}

// name returns a name that is used once.
func (w *world) name(what string) string { return fmt.Sprint(what, w.made.Add(1)) }

// drawRates returns rates of faults for a round: none, few of one kind, or some of all.
func drawRates(random *rand.Rand) faultRates {
	rate := func() float64 {
		if random.IntN(2) == 0 {
			return 0
		}
		return random.Float64() / 12
	}
	if random.IntN(8) == 0 {
		return faultRates{}
	}
	return faultRates{RequestLost: rate(), AnswerLost: rate(), Late: rate(), Repeated: rate(),
		Twice: rate(), ReadLost: rate() / 4, Down: rate() / 20}
}

// round lets all runners work on one task, and returns their mistakes.
func (w *world) round(ctx context.Context, seed uint64) (wrong string, err error) {
	random := rand.New(rand.NewPCG(seed, 1))
	rates := drawRates(random)
	h, task := &history{}, w.name("task")
	var sections atomic.Int64
	unnamed := random.IntN(8) == 0
	open := w.open
	if open == nil {
		memory := mem.New()
		open = func() (store.Store, error) { return memory, nil }
	}
	var all []*runner
	for i := range runners {
		r := &runner{world: w, history: h, task: task, unnamed: unnamed, sections: &sections,
			client: i, random: rand.New(rand.NewPCG(seed, uint64(i)+2))}
		inner, err := open()
		if err != nil {
			return "", err
		}
		if err := r.connect(ctx, inner, seed+uint64(i), rates); err != nil {
			return "", err
		}
		all = append(all, r)
	}
	var done sync.WaitGroup
	errs := make([]error, len(all))
	for i, r := range all {
		done.Go(func() {
			for range perRound {
				errs[i] = errors.Join(errs[i], r.call())
			}
		})
	}
	done.Wait()
	for i, r := range all {
		r.connection.Settle()
		if i == 0 {
			errs[i] = errors.Join(errs[i], r.call()) // sees writes that have arrived late
		}
		w.tally.requests.Add(int64(r.connection.Requests()))
		errs[i] = errors.Join(errs[i], r.close())
	}
	w.tally.rounds.Add(1)
	if err := errors.Join(errs...); err != nil {
		return "", err
	}
	wrong, decided := h.judge()
	if !decided {
		w.tally.undecided.Add(1)
	}
	return wrong, nil
}

// connect gives the runner a connection of its own to the store, with faults.
func (r *runner) connect(ctx context.Context, inner store.Store, seed uint64,
	rates faultRates) error {
	r.connection = newFaulty(r.world.fault.engine(inner), seed, rates)
	key := store.Key{7}
	options := vault.Options{Key: key, Limits: bundle.Limits{Size: 1 << 20, Files: 10},
		Now: time.Now,
		// it would find one of the faults
		SelfTest: func(context.Context, store.Store) error { return nil }}
	v := vault.Open(ctx, r.connection, options)
	r.digests = key.Derive("digests")
	r.store = &observed{Shared: r.world.fault.bundles(r.world.fault.registers(v, r.now), r)}
	return r.renewMachine()
}

// renewMachine puts the runner on a machine that has nothing.
func (r *runner) renewMachine() error {
	if r.machine != nil {
		if err := r.machine.Local.Close(); err != nil {
			return err
		}
	}
	local, err := ledger.OpenMemory()
	if err != nil {
		return err
	}
	host := r.world.name("machine")
	r.home = filepath.Join(r.world.dir, host)
	if err := os.MkdirAll(filepath.Join(r.home, "sessions"), 0o700); err != nil {
		return err
	}
	r.skew = r.random.Int64N(2*maxSkew) - maxSkew
	r.machine = &fleet.Book{Store: r.store, Digests: r.digests,
		RemoteOptions: ledger.RemoteOptions{Local: local, Project: "org/repo", Host: host,
			Place: host, Timeout: time.Minute, Upload: time.Minute}}
	return nil
}

// maxSkew is by how many milliseconds a machine's clock is off.
const maxSkew = 20 * 60_000

// now returns the time of the runner's machine. Time passes with calls, and now and then more than
// a lease lasts.
func (r *runner) now() decide.Millis {
	passed := r.random.Int64N(2000)
	if r.random.IntN(20) == 0 {
		passed += maxSkew
	}
	return decide.Millis(1_800_000_000_000 + r.world.clock.Add(passed) + r.skew)
}

func (r *runner) close() error {
	err := r.machine.Local.Close()
	return errors.Join(err, r.removeHomes())
}

func (r *runner) removeHomes() error { return os.RemoveAll(r.home) }

// prompt returns a prompt that repeats all earlier ones of the task and adds something.
func (r *runner) prompt() string {
	var text strings.Builder
	text.WriteString("You are the coder of " + r.task + ".\n\n" +
		strings.Repeat("Keep every function small and clear. ", 8))
	for n := range r.sections.Add(1) {
		fmt.Fprintf(&text, "\n\n## Round %d", n)
	}
	return text.String()
}
