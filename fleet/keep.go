package fleet

import (
	"context"
	"errors"
	"slices"

	"reprise/fleet/store"
	"reprise/ledger"
	"reprise/ledger/decide"
)

// A Keeper ends and removes chains of a project in a store, whichever machine has left it there.
type Keeper struct {
	Store   KeptStore
	Project string
	Now     decide.Millis
}

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

// Reset ends the sessions of chains: their next calls are fresh, on every machine.
func (k Keeper) Reset(ctx context.Context, c ledger.ChainName) (ledger.Kept, error) {
	return k.changeNamed(ctx, c, false, false, func(r *register) (ledger.Kept, error) {
		kept := ledger.Kept{Chains: 1}
		for i := range r.Sessions {
			if s := &r.Sessions[i]; !s.Reset {
				s.Reset = true
				kept.Sessions++
			}
		}
		return kept, nil
	})
}

// Forget removes chains with the bundles of their sessions. It fails with ledger.ErrInUse if a run has one of these. With
// dry it only counts.
func (k Keeper) Forget(ctx context.Context, c ledger.ChainName, dry bool) (ledger.Kept, error) {
	return k.changeNamed(ctx, c, true, dry, func(r *register) (ledger.Kept, error) {
		if slices.ContainsFunc(r.Sessions, func(s session) bool { return s.held(k.Now) }) {
			return ledger.Kept{}, ledger.ErrInUse
		}
		return ledger.Kept{Chains: 1, Sessions: int64(len(r.Sessions))}, nil
	})
}

// changeNamed changes or removes the registers of a chain. A damaged register has none: the next call is fresh and replaces it.
func (k Keeper) changeNamed(ctx context.Context, c ledger.ChainName, remove, dry bool, do func(*register) (ledger.Kept, error)) (all ledger.Kept, err error) {
	registers, err := k.find(ctx, c)
	if err != nil {
		return all, err
	}
	for _, r := range registers {
		kept := ledger.Kept{Chains: 1}
		if !r.Damaged {
			kept, err = k.change(ctx, r, remove, dry, func(r *register) (ledger.Kept, error) {
				if !r.isOf(c) {
					return ledger.Kept{}, nil
				}
				return do(r)
			})
		} else if remove && !dry {
			if err = k.Store.Remove(ctx, r); errors.Is(err, store.ErrMoved) {
				err = nil
			}
		}
		if err != nil {
			return all, err
		}
		all = ledger.Kept{Chains: all.Chains + kept.Chains, Sessions: all.Sessions + kept.Sessions, Bundles: all.Bundles + kept.Bundles}
	}
	return all, nil
}

// find returns the registers that can have the chain: a task's is found by the name, others by their content.
func (k Keeper) find(ctx context.Context, c ledger.ChainName) (found []store.Register, err error) {
	if c.Task == "" {
		return k.Store.Registers(ctx, store.Opening)
	}
	found, _, err = k.Store.List(ctx, store.Name{Kind: store.Task, Of: taskName(k.Project, c.Cwd, c.Task)}, maxRoles)
	return found, err
}

// isOf reports whether a register has a chain of this machine.
func (r *register) isOf(c ledger.ChainName) bool {
	if r.name.Kind == store.Task {
		return c.Tool == r.Chain.Tool && c.Role == r.Chain.Role
	}
	return slices.ContainsFunc(r.Sessions, func(s session) bool { return s.NativeID != nil && slices.Contains(c.NativeIDs, *s.NativeID) })
}

// errUnchanged ends an edit that has nothing to change.
var errUnchanged = errors.New("nothing is to be changed")

// change changes or removes a register, unless do counts nothing, and removes the bundles that are left over. One that cannot be read stays.
func (k Keeper) change(ctx context.Context, at store.Register, remove, dry bool, do func(*register) (ledger.Kept, error)) (kept ledger.Kept, err error) {
	over, err := edit(ctx, keptRegisters{k.Store, remove, dry}, &at, k.Now, func(r *register) (err error) {
		if kept, err = do(r); err == nil && kept == (ledger.Kept{}) {
			err = errUnchanged
		}
		if remove {
			r.Sessions = nil
		}
		return err
	})
	if errors.Is(err, errUnchanged) || errors.Is(err, errFenced) || errors.Is(err, store.ErrNewer) {
		return ledger.Kept{}, nil
	}
	kept.Bundles = int64(len(over))
	if err == nil && len(over) > 0 && !dry {
		err = k.Store.Drop(ctx, over...)
	}
	if err != nil {
		return ledger.Kept{}, err
	}
	return kept, nil
}

// keptRegisters are removed instead of replaced, or with dry stay as they are.
type keptRegisters struct {
	KeptStore
	remove, dry bool
}

// Swap implements store.Registers.
func (k keptRegisters) Swap(ctx context.Context, name store.Name, old string, value []byte) (string, error) {
	switch {
	case k.dry:
		return old, nil
	case k.remove:
		return "", k.Remove(ctx, store.Register{Name: name, Version: old})
	}
	return k.KeptStore.Swap(ctx, name, old, value)
}
