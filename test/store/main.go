// Command store lets runs on several machines share tasks in a store while requests are lost,
// late and repeated, machines end, clocks differ and the server is killed, and judges what they have
// done: no state of a session is resumed twice, and none that another run has replaced.
//
// The runs are those of fleet.Book with vault and engine; only the tool is not real.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"reprise/fleet/engine"
	"reprise/fleet/store"
	"reprise/test/servers"

	"golang.org/x/sync/errgroup"
)

func main() {
	seed := flag.Uint64("seed", 1, "what the dice begin with")
	steps := flag.Int64("steps", 1_000_000, "how many requests the stores get")
	length := flag.Duration("for", 24*time.Hour, "how long, at most")
	server := flag.String("server", "", "versitygw, minio or postgres; a store in memory otherwise")
	broken := flag.String("broken", "", "a mistake to put in: conditions, lease, holder or bundle")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), *length)
	defer cancel()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt) // the rounds under way are judged
	defer stop()
	counted, wrong, err := check(ctx, plan{*seed, *steps, 6, *server, fault(*broken)})
	fmt.Println(counted)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	case wrong != "":
		fmt.Println(wrong)
		os.Exit(1)
	}
}

// A plan says what is checked.
type plan struct {
	seed   uint64
	steps  int64
	atOnce int    // rounds: most of a round's time is pauses
	server string // "" for stores in memory
	fault  fault
}

// check plays rounds until a number of requests or the context's end, and returns the first that is wrong.
func check(ctx context.Context, p plan) (counted *tally, wrong string, err error) {
	w := &world{fault: p.fault}
	if w.dir, err = os.MkdirTemp("", "checkstore-"); err != nil {
		return &w.tally, "", err
	}
	defer os.RemoveAll(w.dir)
	if p.server != "" {
		stop, err := w.serve(ctx, p)
		if err != nil {
			return &w.tally, "", err
		}
		defer stop()
	}
	all, playing := errgroup.WithContext(ctx)
	var next atomic.Uint64
	for range p.atOnce {
		all.Go(func() error {
			for w.tally.requests.Load() < p.steps && playing.Err() == nil {
				n := p.seed + next.Add(1) - 1
				if wrong, err := w.round(context.WithoutCancel(ctx), n); wrong != "" || err != nil {
					return fmt.Errorf("seed %d: %w%s", n, cmp.Or(err, errWrong), wrong)
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

// serve opens stores on a server, which is killed now and then.
func (w *world) serve(ctx context.Context, p plan) (stop func(), err error) {
	for _, kind := range []servers.Kind{servers.Versitygw, servers.Minio, servers.Postgres} {
		if kind.Name != p.server {
			continue
		}
		s, err := kind.Start(ctx, false)
		if err != nil {
			return nil, err
		}
		for name, value := range s.Env {
			_ = os.Setenv(name, value)
		}
		url, err := s.Fresh(ctx)
		if err != nil {
			return nil, errors.Join(err, s.Stop())
		}
		w.open = func() (store.Store, error) { return engine.Open(context.WithoutCancel(ctx), url) }
		killing, cancel := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			killAgain(killing, s, rand.New(rand.NewPCG(p.seed, 0)))
		}()
		return func() {
			cancel()
			<-done
			if err := s.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, "error:", err)
			}
		}, nil
	}
	return nil, fmt.Errorf("no server is named %q", p.server)
}

// killAgain kills the server after each few seconds, and starts it again.
func killAgain(ctx context.Context, s *servers.Server, random *rand.Rand) {
	for kills := 0; ; kills++ {
		select {
		case <-ctx.Done():
			fmt.Println("the server was killed", kills, "times")
			return
		case <-time.After(time.Duration(500+random.IntN(4000)) * time.Millisecond):
		}
		s.Kill9()
		if err := s.Restart(context.WithoutCancel(ctx)); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			return
		}
	}
}
