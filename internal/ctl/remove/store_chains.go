package remove

import (
	"context"
	"errors"
	"fmt"

	"reprise/config"
	"reprise/fleet"
	"reprise/fleet/wire"
	"reprise/internal/ctl/app"
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

// storedChain returns the store's part of a chain of this machine, nil if it has none.
func storedChain(a *app.App, l *ledger.Ledger, c ledger.ChainName) (*storedChains, error) {
	if shared, err := l.IsLent(c.ID); err != nil || !shared {
		return nil, err
	}
	s, client, err := app.OpenStore(a)
	if err != nil && s.URL != "" {
		err = onlyHere(err)
	}
	if err != nil {
		return nil, err
	}
	stored := &storedChains{s, client, fleet.Keeper{Store: client, Now: decide.MillisOf(a.Now)},
		fleet.Name{Project: shim.ProjectName(c.Cwd, s), NativeIDs: c.NativeIDs, Task: c.Task, Tool: c.Tool, Cwd: c.Cwd, Role: c.Role, OneRole: true}}
	switch {
	case client != nil && (c.Task == "" || stored.name.Project != ""):
		return stored, nil
	case client != nil:
		stored.close()
	}
	if a.Getenv("REPRISE_STORE") == "off" {
		return nil, nil
	}
	return nil, app.WithHint(fmt.Errorf("chain c%d is in a store that is not configured here", c.ID),
		"set REPRISE_STORE, its key and REPRISE_PROJECT as the calls have them; REPRISE_STORE=off changes this machine only")
}

// onlyHere returns an error of the store, with what can be done without it.
func onlyHere(failure error) error {
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
		err = onlyHere(app.StoreFailure("reset in the store", err, s.settings))
	}
	return kept, err
}

// forget removes the chains from the store. With dry it only counts.
func (s *storedChains) forget(dry bool) (kept fleet.Kept, err error) {
	if s == nil {
		return kept, nil
	}
	kept, err = s.keeper.Forget(context.Background(), s.name, dry)
	if errors.Is(err, ledger.ErrInUse) {
		return kept, app.WithHint(fmt.Errorf("prune in the store: %w", err), "reprise-store log says where it runs")
	}
	if err != nil {
		err = onlyHere(app.StoreFailure("prune in the store", err, s.settings))
	}
	return kept, err
}
