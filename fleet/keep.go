package fleet

import (
	"context"
	"errors"
	"slices"

	"reprise/fleet/store"
	"reprise/ledger"
	"reprise/ledger/decide"
)

// A KeptStore is a store with the verbs that calls do not need.
type KeptStore interface {
	store.Registers
	// Registers returns all registers of a kind.
	Registers(ctx context.Context, kind string) ([]store.Register, error)
	// Remove removes a register if it still has this version.
	Remove(ctx context.Context, r store.Register) error
	// Drop removes bundles.
	Drop(ctx context.Context, names ...string) error
}

// Reset implements ledger.Remote. A damaged register has no session: the next call is fresh and
// replaces it.
func (b *Book) Reset(ctx context.Context,
	c ledger.ChainName, now decide.Millis) (all ledger.StoreChanges, err error) {
	registers, err := b.find(ctx, c)
	for i := range registers {
		var ended int64
		over, err := edit(ctx, b.Kept, &registers[i], now, func(r *register) error {
			ended = 0
			for i := range r.Sessions {
				if s := &r.Sessions[i]; !s.Reset {
					s.Reset = true
					ended++
				}
			}
			return nil
		})
		if err == nil && len(over) > 0 {
			err = b.Kept.Drop(ctx, over...)
		}
		if err != nil && !errors.Is(err, errFenced) {
			return all, err
		}
		all.Chains, all.Sessions, all.Bundles = all.Chains+1, all.Sessions+ended,
			all.Bundles+int64(len(over))
	}
	return all, err
}

// Forget implements ledger.Remote.
func (b *Book) Forget(
	ctx context.Context, c ledger.ChainName, now decide.Millis, dry bool,
) (all ledger.StoreChanges, err error) {
	registers, err := b.find(ctx, c)
	for _, at := range registers {
		var names []string
		if r, err := decode(at); err == nil { // else it is damaged
			if slices.ContainsFunc(r.Sessions, func(s session) bool { return s.held(now) }) {
				return all, ledger.ErrInUse
			}
			names = r.bundles()
			all.Sessions, all.Bundles = all.Sessions+int64(len(r.Sessions)),
				all.Bundles+int64(len(names))
		}
		all.Chains++
		if dry {
			continue
		}
		err := b.Kept.Remove(ctx, at)
		if errors.Is(err, store.ErrMoved) {
			return all, ledger.ErrInUse // a run has changed it meanwhile
		}
		if err == nil && len(names) > 0 {
			err = b.Kept.Drop(ctx, names...)
		}
		if err != nil {
			return all, err
		}
	}
	return all, err
}

// find returns the registers of the chain: a task's are found by the name, others by their content.
// Those that a newer reprise has written are left out.
func (b *Book) find(ctx context.Context, c ledger.ChainName) (found []store.Register, err error) {
	if c.Task == "" {
		found, err = b.Kept.Registers(ctx, store.Opening)
	} else {
		name := store.Name{Kind: store.Task, Of: taskName(b.Project, c.Cwd, c.Task)}
		found, _, err = b.Kept.List(ctx, name, maxRoles)
	}
	return slices.DeleteFunc(found, func(at store.Register) bool {
		r, err := decode(at)
		return errors.Is(err, store.ErrNewer) || err == nil && !r.isOf(c) ||
			err != nil && c.Task == ""
	}), err
}

func (r *register) isOf(c ledger.ChainName) bool {
	if r.name.Kind == store.Task {
		return c.Tool == r.Chain.Tool && c.Role == r.Chain.Role
	}
	return slices.ContainsFunc(r.Sessions, func(s session) bool {
		return slices.Contains(c.NativeIDs, s.NativeID)
	})
}
