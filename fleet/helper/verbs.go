package helper

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"reprise/config"
	"reprise/fleet/store"
	"reprise/fleet/vault"
)

// patience is how long a verb that a person types waits for the store.
const patience = 5 * time.Minute

// verbs are the commands of a person for the store.
var verbs = map[string]func(context.Context, *vault.Vault, config.Config, io.Writer) error{
	"log": printLog, "prune": prune, "check": check,
}

// run carries out a verb on the store that the configuration and the environment name.
func run(verb string, out io.Writer, engine OpenEngine) error {
	path, err := config.ConfigFile(os.Getenv)
	if err != nil {
		return err
	}
	cfg, err := config.Load(path)
	if err != nil {
		return err
	}
	s, err := config.ResolveStore(os.Getenv, cfg)
	switch {
	case err != nil:
		return err
	case s.URL == "":
		return errors.New("no store is configured: set REPRISE_STORE, or url under [store]")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	opened, err := open(ctx, s.URL, s.Key, s.KeyFile, engine)
	if err != nil {
		return err
	}
	return verbs[verb](ctx, opened, cfg, out)
}

// A chain has the fields of a register that the verbs read.
type chain struct {
	register store.Register
	Chain    struct {
		Tool, Task, Role string
		Updated          int64
	}
	Sessions []struct {
		NativeID            string `json:"native_id"`
		LastUsed            int64  `json:"last_used"`
		HeldUntil           int64  `json:"held_until"`
		Host, State, Bundle string
	}
}

// used returns when the chain was last used, in milliseconds since 1970.
func (c chain) used() int64 {
	last := c.Chain.Updated
	for _, s := range c.Sessions {
		last = max(last, s.LastUsed, s.HeldUntil)
	}
	return last
}

// readChains returns the chains that can be read, and counts the others.
func readChains(ctx context.Context, v *vault.Vault) (chains []chain, others int, err error) {
	for _, kind := range store.Kinds {
		registers, _, err := v.List(ctx, store.Name{Kind: kind}, math.MaxInt)
		if err != nil {
			return nil, 0, err
		}
		for _, r := range registers {
			c := chain{register: r}
			if r.Damaged || json.Unmarshal(r.Value, &c) != nil {
				others++
			} else {
				chains = append(chains, c)
			}
		}
	}
	return chains, others, nil
}

// check tests whether the store can be used, and counts the chains and sessions in it.
func check(ctx context.Context, v *vault.Vault, _ config.Config, out io.Writer) error {
	tested, latency, err := v.Test(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "answers in %s, keeps conditions on writes (tested %s)\n",
		latency.Round(time.Millisecond), tested.Format(time.DateOnly))
	chains, others, err := readChains(ctx, v)
	if err != nil {
		return err
	}
	tasks, unnamed, sessions, held := map[string]bool{}, 0, 0, 0
	for _, c := range chains {
		if name := c.register.Name; name.Kind == store.Task {
			tasks[strings.Join(name.Of, "\x00")] = true // each role has a register
		} else {
			unnamed++
		}
		for _, s := range c.Sessions {
			sessions++
			if s.HeldUntil > time.Now().UnixMilli() {
				held++
			}
		}
	}
	fmt.Fprintf(out, "tasks: %d, chains without a name: %d, sessions: %d, running: %d\n"+
		"chains of another key, or damaged: %d\n", len(tasks), unnamed, sessions, held, others)
	return nil
}

// printLog prints the sessions of all machines, a line of JSON each.
func printLog(ctx context.Context, v *vault.Vault, _ config.Config, out io.Writer) error {
	lines := json.NewEncoder(out)
	chains, _, err := readChains(ctx, v)
	for _, c := range chains {
		project := ""
		if of := c.register.Name.Of; len(of) > 0 {
			project = of[0]
		}
		for _, s := range c.Sessions {
			err = cmp.Or(err, lines.Encode(struct {
				Used    time.Time `json:"used"`
				Host    string    `json:"host"`
				Project string    `json:"project"`
				Tool    string    `json:"tool"`
				Task    string    `json:"task,omitempty"`
				Role    string    `json:"role,omitempty"`
				Session string    `json:"session,omitempty"`
				State   string    `json:"state"`
			}{time.UnixMilli(s.LastUsed).UTC(), s.Host, project, c.Chain.Tool, c.Chain.Task,
				strings.TrimSpace(c.Chain.Role), s.NativeID, s.State}))
		}
	}
	return err
}

// idleBeyond is how long after max_age the store keeps unused files.
const idleBeyond = 3 * 24 * time.Hour

// prune removes the chains that no call can resume any more.
func prune(ctx context.Context, v *vault.Vault, cfg config.Config, out io.Writer) error {
	before := time.Now().Add(-cfg.MaxAge - idleBeyond)
	chains, _, err := readChains(ctx, v)
	if err != nil {
		return err
	}
	removed := 0
	for _, c := range chains {
		if c.used() >= before.UnixMilli() {
			continue
		}
		err := v.Remove(ctx, c.register)
		if errors.Is(err, store.ErrMoved) {
			continue // a call has used it meanwhile
		}
		removed++
		for _, s := range c.Sessions {
			if err == nil && s.Bundle != "" {
				err = v.Drop(ctx, s.Bundle)
			}
		}
		if err != nil {
			return err
		}
	}
	remains, err := v.Sweep(ctx)
	if err == nil {
		fmt.Fprintf(out, "removed chains: %d, remains of earlier ones: %d\n", removed, remains)
	}
	return err
}
