package remove

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"reprise/config"
	"reprise/fleet"
	"reprise/fleet/wire"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/shim"
)

// A storedChains is chains in the store that machines share. A nil one is none.
type storedChains struct {
	settings config.Store
	client   *wire.Client
	keeper   fleet.Keeper
	name     fleet.Name
}

// storedChain returns what the store may have of a chain of this machine, nil if it has nothing of it.
func storedChain(a *app.App, l *ledger.Ledger, c ledger.ChainName) (*storedChains, error) {
	if shared, err := l.IsLent(c.ID); err != nil || !shared {
		return nil, err
	}
	stored, err := openStored(a, fleet.Name{NativeIDs: c.NativeIDs, Task: c.Task, Tool: c.Tool, Cwd: c.Cwd, Role: c.Role, OneRole: true}, c.Cwd)
	if stored == nil && err == nil && a.Getenv("REPRISE_STORE") != "off" {
		err = app.WithHint(fmt.Errorf("chain %d is in a store that is not configured here", c.ID),
			"set REPRISE_STORE, its key and REPRISE_PROJECT as the calls have them; REPRISE_STORE=off changes this machine only")
	}
	return stored, err
}

// storedTask returns what the store may have of a task of the working directory's project, nil without a store.
func storedTask(a *app.App, task string) (*storedChains, error) {
	dir, err := os.Getwd()
	if err != nil || task == "" {
		return nil, err
	}
	return openStored(a, fleet.Name{Task: task}, dir)
}

// openStored opens the store for chains of the project in a directory.
func openStored(a *app.App, name fleet.Name, dir string) (*storedChains, error) {
	s, err := app.StoreSettings(a)
	if err != nil || s.URL == "" {
		return nil, err
	}
	name.Project = shim.ProjectName(dir, s)
	if name.Task != "" && name.Project == "" {
		return nil, nil
	}
	s.Timeout = max(s.Timeout, app.Patience)
	client, err := app.OpenStore(a, s)
	if err != nil {
		return nil, onlyHere("open the store", err, s)
	}
	return &storedChains{s, client, fleet.Keeper{Store: client, Now: decide.MillisOf(a.Now)}, name}, nil
}

// onlyHere returns an error of the store, with what can be done without it.
func onlyHere(what string, err error, s config.Store) error {
	failure := app.StoreFailure(what, err, s)
	return app.WithHint(failure, app.HintFor(failure)+"; REPRISE_STORE=off changes this machine only")
}

func (s *storedChains) close() {
	if s != nil {
		_ = s.client.Close()
	}
}

// reset ends the chains' sessions.
func (s *storedChains) reset() (kept fleet.Kept, err error) {
	if s == nil {
		return kept, nil
	}
	if kept, err = s.keeper.Reset(context.Background(), s.name); err != nil {
		err = onlyHere("reset in the store", err, s.settings)
	}
	return kept, err
}

// forget removes the chains. With dry it only counts.
func (s *storedChains) forget(dry bool) (kept fleet.Kept, err error) {
	if s == nil {
		return kept, nil
	}
	kept, err = s.keeper.Forget(context.Background(), s.name, dry)
	if errors.Is(err, ledger.ErrInUse) {
		return kept, app.WithHint(fmt.Errorf("forget in the store: %w", err), "shimctl status says where it runs")
	}
	if err != nil {
		err = onlyHere("forget in the store", err, s.settings)
	}
	return kept, err
}

// storedWords says what there is of chains in the store, with what comes before it; "" for nothing.
func storedWords(before string, k fleet.Kept) string {
	if k == (fleet.Kept{}) {
		return ""
	}
	return before + view.Count(k.Sessions, "session") + " in the store with " + view.Count(k.Bundles, "bundle")
}

// unlessStored returns an error about a chain that this machine does not know, unless the store has a task of
// this name. Then use changes that.
func unlessStored(a *app.App, name string, unknown error, use func(*storedChains) (found bool, err error)) error {
	if chain := app.UnknownChain(""); !errors.As(unknown, &chain) {
		return unknown
	}
	stored, err := storedTask(a, name)
	if err != nil {
		return err
	}
	if stored == nil {
		return unknown
	}
	defer stored.close()
	if found, err := use(stored); err != nil || found {
		return err
	}
	return unknown
}

// A storePruning is what prune --store removed, or would remove.
type storePruning struct {
	Chains   int64 `json:"chains" doc:"idle chains"`
	Sessions int64 `json:"sessions" doc:"their sessions"`
	Bundles  int64 `json:"bundles" doc:"their packed files"`
	Entries  int64 `json:"entries" doc:"entries of the log, and remains of chains that were removed earlier"`
}

// idleBeyond is how long after max_age the store keeps what is not used.
const idleBeyond = 3 * 24 * time.Hour

// pruneStore removes from the store what no call can resume, and the log of days before history, 0 for none.
func pruneStore(a *app.App, cfg config.Config, history time.Duration, dry bool) (*storePruning, error) {
	s, client, err := app.AskedStore(a)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	_, maxAge := cfg.Longest()
	keeper := fleet.Keeper{Store: client, Now: decide.MillisOf(a.Now)}
	kept, err := keeper.Idle(context.Background(), decide.MillisOf(a.Now.Add(-maxAge-idleBeyond)), dry)
	p := &storePruning{Chains: kept.Chains, Sessions: kept.Sessions, Bundles: kept.Bundles}
	if err == nil && !dry {
		before := ""
		if history > 0 {
			before = fleet.Day(decide.MillisOf(a.Now.Add(-history)))
		}
		var entries int
		entries, err = client.Sweep(context.Background(), before)
		p.Entries = int64(entries)
	}
	if err != nil {
		return p, app.StoreFailure("prune the store", err, s)
	}
	return p, nil
}

func (p *storePruning) words() string {
	words := fmt.Sprintf("%s, %s and %s from the store", view.Count(p.Chains, "chain"), view.Count(p.Sessions, "session"), view.Count(p.Bundles, "bundle"))
	if p.Entries > 0 {
		words += fmt.Sprintf(", and %s older", view.Count(p.Entries, "entr"+map[bool]string{true: "y", false: "ie"}[p.Entries == 1]))
	}
	return words
}
