package fleet

import (
	"context"
	"errors"
	"slices"

	"reprise/fleet/store"
	"reprise/ledger"
	"reprise/ledger/decide"
)

// A Keeper ends and removes chains in a store, whichever machine has left it there.
type Keeper struct {
	Store KeptStore
	Now   decide.Millis
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

// A Name selects chains in a store: by their sessions, or by their task in a project.
type Name struct {
	NativeIDs []string
	Project   string
	Task      string
	// Of the task's chains. Empty ones select all.
	Tool, Cwd, Role string
	OneRole         bool // Role selects, even if it is empty
}

// Kept counts the changes that a Keeper has made, or would change.
type Kept struct{ Chains, Sessions, Bundles int64 }

func (k *Kept) add(more Kept) {
	k.Chains, k.Sessions, k.Bundles = k.Chains+more.Chains, k.Sessions+more.Sessions, k.Bundles+more.Bundles
}

// Reset ends the sessions of chains: their next calls are fresh, on every machine.
func (k Keeper) Reset(ctx context.Context, n Name) (Kept, error) {
	return k.changeNamed(ctx, n, false, false, func(r *register) (Kept, error) {
		kept := Kept{Chains: 1}
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
func (k Keeper) Forget(ctx context.Context, n Name, dry bool) (Kept, error) {
	return k.changeNamed(ctx, n, true, dry, func(r *register) (Kept, error) {
		if slices.ContainsFunc(r.Sessions, func(s session) bool { return s.held(k.Now) }) {
			return Kept{}, ledger.ErrInUse
		}
		return Kept{Chains: 1, Sessions: int64(len(r.Sessions))}, nil
	})
}

// changeNamed changes or removes the chains that a name selects. A damaged register has none: the next call is fresh and replaces it.
func (k Keeper) changeNamed(ctx context.Context, n Name, remove, dry bool, do func(*register) (Kept, error)) (all Kept, err error) {
	registers, err := k.find(ctx, n)
	if err != nil {
		return all, err
	}
	for _, r := range registers {
		kept := Kept{Chains: 1}
		if !r.Damaged {
			kept, err = k.change(ctx, r, remove, dry, func(r *register) (Kept, error) {
				if !n.selects(r) {
					return Kept{}, nil
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
		all.add(kept)
	}
	return all, nil
}

// find returns the registers that can have the chains: a task's is found by the name, others by their content.
func (k Keeper) find(ctx context.Context, n Name) (found []store.Register, err error) {
	if n.Task != "" && n.Cwd != "" {
		found, _, err := k.Store.List(ctx, store.Name{Kind: store.Task, Of: taskName(n.Project, n.Cwd, n.Task)}, maxRoles)
		return found, err
	}
	kind := store.Opening
	if n.Task != "" {
		kind = store.Task
	}
	registers, err := k.Store.Registers(ctx, kind)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(registers, func(r store.Register) bool {
		return n.Task != "" && (len(r.Name.Of) != 3 || r.Name.Of[0] != n.Project || r.Name.Of[2] != n.Task)
	}), nil
}

// selects reports whether the name selects a register's chain.
func (n Name) selects(r *register) bool {
	if r.name.Kind == store.Task {
		return (n.Tool == "" || n.Tool == r.Chain.Tool) && (!n.OneRole || n.Role == r.Chain.Role)
	}
	return slices.ContainsFunc(r.Sessions, func(s session) bool { return s.NativeID != nil && slices.Contains(n.NativeIDs, *s.NativeID) })
}

// errUnchanged ends an edit that has nothing to change.
var errUnchanged = errors.New("nothing is to be changed")

// change changes or removes a register, unless do counts nothing, and removes the bundles that are left over. One that cannot be read stays.
func (k Keeper) change(ctx context.Context, at store.Register, remove, dry bool, do func(*register) (Kept, error)) (kept Kept, err error) {
	over, err := edit(ctx, keptRegisters{k.Store, remove, dry}, &at, k.Now, func(r *register) (err error) {
		if kept, err = do(r); err == nil && kept == (Kept{}) {
			err = errUnchanged
		}
		if remove {
			r.Sessions = nil
		}
		return err
	})
	if errors.Is(err, errUnchanged) || errors.Is(err, errFenced) || errors.Is(err, store.ErrNewer) {
		return Kept{}, nil
	}
	kept.Bundles = int64(len(over))
	if err == nil && len(over) > 0 && !dry {
		err = k.Store.Drop(ctx, over...)
	}
	if err != nil {
		return Kept{}, err
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
