// Package store_test lets runs on several machines share tasks in a store while requests are lost,
// late and repeated, machines end, clocks differ and the server is killed, and judges the result:
// no state of a session is resumed twice, and none that another run has replaced.
//
// The runs are made by fleet.Book with vault and engine; only the tool is not real.
package store_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reprise/fleet/s3"
	"reprise/fleet/store"
	"reprise/test/servers"
	"reprise/test/toolbox"

	"github.com/anishathalye/porcupine"
	"golang.org/x/sync/errgroup"
)

var (
	seed   = flag.Uint64("store.seed", 1, "what the dice begin with")
	steps  = flag.Int64("store.steps", 2000, "how many requests the stores get")
	length = flag.Duration("store.for", 24*time.Hour,
		"how long, at most; where mistakes are put in two minutes")
	server = flag.String("store.server", "", "versitygw or minio; a store in memory otherwise")
)

// Runs make no mistake, and each mistake that is put in on purpose is found.
func TestCheck(t *testing.T) {
	toolbox.Long(t)
	for _, p := range []plan{
		{*seed, *steps, *length, 6, *server, none},
		{1, 100_000, 2 * time.Minute, 2, "", conditions},
		{1, 100_000, 2 * time.Minute, 2, "", lease},
		{1, 100_000, 2 * time.Minute, 2, "", holder}, {1, 100_000, 2 * time.Minute, 2, "", reuse},
	} {
		t.Run("fault="+string(p.fault), func(t *testing.T) {
			tally, wrong, err := check(t, p)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(tally)
			if found := wrong != ""; found != (p.fault != none) {
				t.Error(wrong)
			}
			if resumed, calls := tally.resumed.Load(), tally.calls.Load(); p.fault == none &&
				resumed*20 < calls {
				t.Errorf("%d of %d calls resume: too few to find anything", resumed, calls)
			}
		})
	}
}

// A plan lists the checks.
type plan struct {
	seed   uint64
	steps  int64
	length time.Duration
	atOnce int    // rounds: most of a round's time is pauses
	server string // "" for stores in memory
	fault  fault
}

// check plays rounds until a number of requests or the time is up, and returns the first that is
// wrong.
func check(t *testing.T, p plan) (counted *tally, wrong string, err error) {
	ctx, cancel := context.WithTimeout(t.Context(), p.length)
	defer cancel()
	w := &world{fault: p.fault, dir: t.TempDir()}
	if p.server != "" {
		w.serve(ctx, t, p)
	}
	all, playing := errgroup.WithContext(ctx)
	var next atomic.Uint64
	for range p.atOnce {
		all.Go(func() error {
			for w.tally.requests.Load() < p.steps && playing.Err() == nil {
				n := p.seed + next.Add(1) - 1
				if wrong, err := w.round(context.WithoutCancel(ctx), n); wrong != "" || err != nil {
					return fmt.Errorf("-store.seed %d: %w%s", n, cmp.Or(err, errWrong), wrong)
				}
			}
			return nil
		})
	}
	if err = all.Wait(); errors.Is(err, errWrong) {
		return &w.tally, err.Error(), nil
	}
	return &w.tally, "", err
}

var errWrong = errors.New("wrong: ")

// serve opens stores on a server, which is killed now and then until the context ends.
func (w *world) serve(ctx context.Context, t *testing.T, p plan) {
	kinds := []servers.Kind{servers.Versitygw, servers.Minio}
	i := slices.IndexFunc(kinds, func(k servers.Kind) bool { return k.Name == p.server })
	if i < 0 {
		t.Fatalf("no server is named %q", p.server)
	}
	s, err := kinds[i].Start(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range s.Env {
		t.Setenv(name, value)
	}
	url := s.Fresh()
	w.open = func() (store.Store, error) { return s3.Open(url) }
	killing, cancel := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- killAgain(killing, t, s, rand.New(rand.NewPCG(p.seed, 0))) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, s.Stop()); err != nil {
			t.Error(err)
		}
	})
}

// killAgain kills the server after each few seconds, and starts it again.
func killAgain(ctx context.Context, t *testing.T, s *servers.Server, random *rand.Rand) error {
	for kills := 0; ; kills++ {
		select {
		case <-ctx.Done():
			t.Log("the server was killed", kills, "times")
			return nil
		case <-time.After(time.Duration(500+random.IntN(4000)) * time.Millisecond):
		}
		s.Kill9()
		if err := s.Restart(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
}

// Histories that are right and wrong.
func TestJudge(t *testing.T) {
	at := func(o op, began, ended int64) porcupine.Operation {
		return porcupine.Operation{Input: o, Call: began, Return: ended}
	}
	begun := []porcupine.Operation{at(op{take, "a", "s", ""}, 1, 2),
		at(op{finish, "a", "s", "1"}, 3, 4)}
	for _, c := range []struct {
		name, want string
		more       []porcupine.Operation
	}{
		{"one after the other", "", []porcupine.Operation{at(op{take, "b", "s", "1"}, 5, 6),
			at(op{finish, "b", "s", "2"}, 7, 8), at(op{take, "c", "s", "2"}, 9, 10)}},
		{"twice", "same state", []porcupine.Operation{at(op{take, "b", "s", "1"}, 5, 6),
			at(op{take, "c", "s", "1"}, 7, 8)}},
		{"stale", "no order", []porcupine.Operation{at(op{abandon, "b", "s", ""}, 5, 6),
			at(op{take, "c", "s", "1"}, 7, 8)}},
		{"before it was left", "no order", []porcupine.Operation{at(op{take, "b", "s", "1"}, 5, 6),
			at(op{take, "c", "s", "2"}, 7, 8), at(op{finish, "b", "s", "2"}, 9, 10)}},
		{"left without knowing", "", []porcupine.Operation{at(op{take, "b", "s", "1"}, 5, 6),
			at(op{maybeFinish, "b", "s", "2"}, 7, never), at(op{take, "c", "s", "2"}, 9, 10)}},
		{"not left without knowing", "no order",
			[]porcupine.Operation{at(op{take, "b", "s", "1"}, 5, 6),
				at(op{maybeFinish, "b", "s", "2"}, 7, 8), at(op{take, "c", "s", "3"}, 9, 10)}},
		{"by another run", "no order", []porcupine.Operation{at(op{take, "b", "s", "1"}, 5, 6),
			at(op{finish, "a", "s", "2"}, 7, 8)}},
		{"another session", "", []porcupine.Operation{at(op{take, "b", "other", ""}, 5, 6),
			at(op{take, "c", "s", "1"}, 7, 8)}},
	} {
		h := &history{ops: append(begun[:2:2], c.more...)}
		wrong, decided := h.judge()
		if !decided || (wrong == "") != (c.want == "") || !strings.Contains(wrong, c.want) {
			t.Errorf("%s: %q", c.name, wrong)
		}
	}
}
