package fleet

import (
	"context"
	"errors"
	"slices"
	"time"

	"reprise/fleet/store"
	"reprise/ledger"
	"reprise/ledger/decide"
)

// A Keeper ends and removes what a store has of chains, whichever machine has left it there.
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

// Kept counts what a Keeper has changed, or would change.
type Kept struct{ Chains, Sessions, Bundles int64 }

func (k *Kept) add(more Kept) {
	k.Chains, k.Sessions, k.Bundles = k.Chains+more.Chains, k.Sessions+more.Sessions, k.Bundles+more.Bundles
}

// A change changes a register, or says that it is to be removed, and counts what it has done. With the zero Kept the
// register stays as it is.
type change func(*register) (kept Kept, remove bool, err error)

// Reset ends the sessions of chains: their next calls are fresh, on every machine.
func (k Keeper) Reset(ctx context.Context, n Name) (Kept, error) {
	return k.change(ctx, n, false, false, func(r *register) (Kept, bool, error) {
		kept := Kept{Chains: 1}
		for i := range r.Sessions {
			if s := &r.Sessions[i]; !s.Reset {
				s.Reset = true
				kept.Sessions++
			}
		}
		return kept, false, nil
	})
}

// Forget removes chains with the bundles of their sessions. It fails with ledger.ErrInUse if a run has one of these. With
// dry it only counts.
func (k Keeper) Forget(ctx context.Context, n Name, dry bool) (Kept, error) {
	return k.change(ctx, n, true, dry, func(r *register) (Kept, bool, error) {
		if slices.ContainsFunc(r.Sessions, func(s session) bool { return s.held(k.Now) }) {
			return Kept{}, false, ledger.ErrInUse
		}
		return Kept{Chains: 1, Sessions: int64(len(r.Sessions))}, true, nil
	})
}

// Idle removes the registers that were last used before a time and are not in use, with their bundles. With dry it only
// counts. What others take meanwhile stays.
func (k Keeper) Idle(ctx context.Context, before decide.Millis, dry bool) (all Kept, err error) {
	idle := func(r *register) (Kept, bool, error) {
		if r.Chain.Updated >= before || slices.ContainsFunc(r.Sessions, func(s session) bool { return max(s.LastUsed, s.HeldUntil) >= before }) {
			return Kept{}, false, nil
		}
		return Kept{Chains: 1, Sessions: int64(len(r.Sessions))}, true, nil
	}
	for _, kind := range []string{store.Task, store.Opening} {
		registers, err := k.Store.Registers(ctx, kind)
		if err != nil {
			return all, err
		}
		for _, r := range registers {
			kept, err := k.edit(ctx, r, dry, idle)
			if err != nil && !errors.Is(err, store.ErrMoved) {
				return all, err
			}
			all.add(kept)
		}
	}
	return all, nil
}

// change changes the chains that a name selects. A damaged register has none: the next call is fresh and replaces it.
// With remove, change removes it.
func (k Keeper) change(ctx context.Context, n Name, remove, dry bool, do change) (all Kept, err error) {
	registers, err := k.find(ctx, n)
	if err != nil {
		return all, err
	}
	for _, r := range registers {
		if r.Damaged {
			if remove && !dry {
				err = k.Store.Remove(ctx, r)
			}
			if err != nil && !errors.Is(err, store.ErrMoved) {
				return all, err
			}
			all.add(Kept{Chains: 1})
			continue
		}
		kept, err := k.changeOne(ctx, r, dry, func(r *register) (Kept, bool, error) {
			if !n.selects(r) {
				return Kept{}, false, nil
			}
			return do(r)
		})
		if err != nil {
			return all, err
		}
		all.add(kept)
	}
	return all, nil
}

// changeOne changes a register, again if others change it at the same time.
func (k Keeper) changeOne(ctx context.Context, r store.Register, dry bool, do change) (kept Kept, err error) {
	for try := 0; ; try++ {
		kept, err = k.edit(ctx, r, dry, do)
		if !errors.Is(err, store.ErrMoved) || try >= maxEdits {
			return kept, err
		}
		ledger.Pause(time.Millisecond, try)
		if r, err = k.Store.Read(ctx, r.Name); errors.Is(err, store.ErrAbsent) {
			return Kept{}, nil
		}
		if err != nil {
			return Kept{}, err
		}
	}
}

// find returns the registers in which the chains may be: a task's is found by its name, others by their content.
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

// edit changes or removes a register, and removes the bundles that are left over. One that cannot be read stays.
func (k Keeper) edit(ctx context.Context, from store.Register, dry bool, do change) (kept Kept, err error) {
	r, err := decode(from)
	if err != nil {
		return Kept{}, nil
	}
	over := r.bundles()
	kept, remove, err := do(r)
	if err != nil || kept == (Kept{}) {
		return Kept{}, err
	}
	var value []byte
	if !remove {
		value = r.encode(k.Now)
		over = r.without(over)
	}
	kept.Bundles = int64(len(over))
	if dry {
		return kept, nil
	}
	if remove {
		err = k.Store.Remove(ctx, from)
	} else {
		_, err = k.Store.Swap(ctx, from.Name, from.Version, value)
	}
	if err == nil && len(over) > 0 {
		err = k.Store.Drop(ctx, over...)
	}
	if err != nil {
		return Kept{}, err
	}
	return kept, nil
}
