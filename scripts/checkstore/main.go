// Command checkstore lets runs on several machines share tasks in a store while requests are lost,
// late and repeated, machines end, clocks differ and the server is killed, and judges what they have
// done: no state of a session is resumed twice, and none that another run has replaced.
//
// The runs are those of ledger.Shared with vault and engine; only the tool is not real.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"reprise/scripts/servers"
	"reprise/store"
	"reprise/store/engine"
	"reprise/store/mem"
)

func main() {
	seed := flag.Uint64("seed", 1, "what the dice begin with")
	steps := flag.Int64("steps", 1_000_000, "how many requests the stores get")
	length := flag.Duration("for", 24*time.Hour, "how long, at most")
	server := flag.String("server", "", "versitygw, minio or postgres; a store in memory otherwise")
	kill := flag.Bool("kill", true, "kill the server now and then")
	broken := flag.String("broken", "", "a mistake to put in: conditions, lease, holder or bundle")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), *length)
	defer cancel()
	wrong, err := check(ctx, *seed, *steps, *server, *kill, fault(*broken))
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	case wrong != "":
		fmt.Println(wrong)
		os.Exit(1)
	}
}

// check plays rounds until a number of requests or the context's end, and returns the first that is wrong.
func check(ctx context.Context, seed uint64, steps int64, server string, kill bool, f fault) (wrong string, err error) {
	w := &world{fault: f}
	if w.dir, err = os.MkdirTemp("", "checkstore-"); err != nil {
		return "", err
	}
	defer os.RemoveAll(w.dir)
	memory := mem.New()
	w.open = func() (store.Store, error) { return memory, nil }
	if server != "" {
		stop, err := w.serve(ctx, server, kill, seed)
		if err != nil {
			return "", err
		}
		defer stop()
	}
	defer func() { fmt.Printf("seed %d %s%s: %v\n", seed, server, f, &w.tally) }()
	for n := seed; w.tally.requests.Load() < steps && ctx.Err() == nil; n++ {
		if server == "" && w.tally.rounds.Load()%100 == 0 { // what is left over only costs time
			memory = mem.New()
		}
		if wrong, err := w.round(context.WithoutCancel(ctx), n); wrong != "" || err != nil {
			return fmt.Sprintf("seed %d: %s", n, wrong), err
		}
	}
	return "", nil
}

// serve opens stores on a server, which is killed now and then.
func (w *world) serve(ctx context.Context, name string, kill bool, seed uint64) (stop func(), err error) {
	for _, kind := range []servers.Kind{servers.Versitygw, servers.Minio, servers.Postgres} {
		if kind.Name != name {
			continue
		}
		s, err := kind.Start(ctx, false)
		if err != nil {
			return nil, err
		}
		for name, value := range s.Env {
			os.Setenv(name, value)
		}
		url, err := s.Fresh(ctx)
		if err != nil {
			return nil, fmt.Errorf("%w (%v)", err, s.Stop())
		}
		w.open = func() (store.Store, error) { return engine.Open(ctx, url) }
		killing, cancel := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			if kill {
				killAgain(killing, s, rand.New(rand.NewPCG(seed, 0)))
			}
		}()
		return func() {
			cancel()
			<-done
			if err := s.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, "error:", err)
			}
		}, nil
	}
	return nil, fmt.Errorf("no server is named %q", name)
}

// killAgain kills the server after each few seconds, and starts it again.
func killAgain(ctx context.Context, s *servers.Server, random *rand.Rand) {
	for kills := 0; ; kills++ {
		select {
		case <-ctx.Done():
			fmt.Println("the server was killed", kills, "times")
			return
		case <-time.After(time.Duration(200+random.IntN(2000)) * time.Millisecond):
		}
		s.Kill9()
		if err := s.Restart(context.WithoutCancel(ctx)); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			return
		}
	}
}
