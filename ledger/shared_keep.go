package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"reprise/store"
)

// A Keeper ends and removes what a store has of chains, whichever machine has left it there.
type Keeper struct {
	Local *Ledger
	Store KeptStore
	Now   Millis
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

// A SharedName selects chains in a store: by their sessions, or by their task in a project.
type SharedName struct {
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

// Reset ends the sessions of chains: their next calls are fresh, on every machine.
func (k Keeper) Reset(ctx context.Context, n SharedName) (Kept, error) {
	return k.change(ctx, n, false, func(tx *sql.Tx, chains string) (kept Kept, err error) {
		kept.Sessions, err = changed(tx.Exec("UPDATE sessions SET reset = 1 WHERE reset = 0 AND chain_id IN " + chains))
		return kept, err
	}, false)
}

// Forget removes chains with the bundles of their sessions. It fails with ErrInUse if a run has one of these. With dry it
// only counts.
func (k Keeper) Forget(ctx context.Context, n SharedName, dry bool) (Kept, error) {
	return k.change(ctx, n, true, func(tx *sql.Tx, chains string) (kept Kept, err error) {
		var held bool
		err = tx.QueryRow("SELECT count(*), coalesce(max(holder <> '' AND held_until > ?), 0) FROM sessions WHERE chain_id IN "+chains, k.Now).
			Scan(&kept.Sessions, &held)
		if err == nil && held {
			err = ErrInUse
		}
		if err == nil {
			_, err = tx.Exec("DELETE FROM chains WHERE id IN " + chains)
		}
		return kept, err
	}, dry)
}

// Idle removes the registers that were last used before a time and are not in use, with their bundles. With dry it only
// counts. What others take meanwhile stays.
func (k Keeper) Idle(ctx context.Context, before Millis, dry bool) (all Kept, err error) {
	for _, kind := range []string{store.Task, store.Opening} {
		registers, err := k.Store.Registers(ctx, kind)
		if err != nil {
			return all, err
		}
		for _, r := range registers {
			kept, err := k.edit(ctx, r, dry, func(tx *sql.Tx, p *page) (kept Kept, err error) {
				var busy bool
				err = tx.QueryRow(`SELECT coalesce(max(max(last_used, held_until) >= ?), 0), count(*) FROM sessions`, before).Scan(&busy, &kept.Sessions)
				if err == nil && !busy {
					err = tx.QueryRow("SELECT coalesce(max(updated) >= ?, 0), count(*) FROM chains", before).Scan(&busy, &kept.Chains)
				}
				if err != nil || busy {
					return Kept{}, err
				}
				_, err = tx.Exec("DELETE FROM chains")
				return kept, err
			})
			if err != nil && !errors.Is(err, store.ErrMoved) && !errors.Is(err, store.ErrNewer) {
				return all, err
			}
			all.add(kept)
		}
	}
	return all, nil
}

// change changes the chains that a name selects. chains is a list of them for SQL. A damaged register has none: the next
// call is fresh and replaces it. With remove, change removes it.
func (k Keeper) change(ctx context.Context, n SharedName, remove bool, do func(tx *sql.Tx, chains string) (Kept, error), dry bool) (all Kept, err error) {
	registers, err := k.find(ctx, n)
	if err != nil {
		return all, err
	}
	for _, r := range registers {
		var kept Kept
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
		for try := 0; ; try++ {
			kept, err = k.edit(ctx, r, dry, func(tx *sql.Tx, p *page) (Kept, error) {
				list, err := n.chains(tx, r.Name)
				if err != nil || len(list) == 0 {
					return Kept{}, err
				}
				kept, err := do(tx, "("+strings.Trim(strings.Join(strings.Fields(fmt.Sprint(list)), ", "), "[]")+")")
				kept.Chains = int64(len(list))
				return kept, err
			})
			if !errors.Is(err, store.ErrMoved) || try >= maxEdits {
				break
			}
			pause(shortest, try)
			if r, err = k.Store.Read(ctx, r.Name); errors.Is(err, store.ErrAbsent) {
				err = nil
				break
			}
			if err != nil {
				return all, err
			}
		}
		if err != nil && !errors.Is(err, store.ErrNewer) {
			return all, err
		}
		all.add(kept)
	}
	return all, nil
}

// find returns the registers in which the chains may be: a task's is found by its name, others by their content.
func (k Keeper) find(ctx context.Context, n SharedName) (found []store.Register, err error) {
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

// chains returns the chains of a register's page that the name selects.
func (n SharedName) chains(tx *sql.Tx, register store.Name) ([]int64, error) {
	if register.Kind == store.Task {
		return ids(tx.Query("SELECT id FROM chains WHERE (? = '' OR tool = ?) AND (NOT ? OR role = ?)", n.Tool, n.Tool, n.OneRole, n.Role))
	}
	return ids(tx.Query("SELECT DISTINCT chain_id FROM sessions WHERE native_id IN (SELECT value FROM json_each(?))",
		encodeJSON(append([]string{}, n.NativeIDs...))))
}

// edit changes a register, or removes it if it has no chain any more, and removes the bundles that are left over. If do
// counts nothing, or with dry, the register stays as it is.
func (k Keeper) edit(ctx context.Context, r store.Register, dry bool, do func(*sql.Tx, *page) (Kept, error)) (kept Kept, err error) {
	p, err := newPage(k.Local, r)
	if err != nil {
		return Kept{}, err
	}
	defer p.db.Close()
	var over []string
	var value []byte
	err = p.transact(func(tx *sql.Tx) error {
		before, err := bundles(tx)
		if err != nil {
			return err
		}
		if kept, err = do(tx, p); err != nil {
			return err
		}
		left, err := ids(tx.Query("SELECT id FROM chains"))
		if err == nil && len(left) > 0 {
			value, err = p.value(tx, left[0], k.Now)
		}
		if err == nil {
			over, err = without(before, tx)
		}
		return err
	})
	kept.Bundles = int64(len(over))
	if err != nil || dry || kept == (Kept{}) {
		return kept, err
	}
	if value == nil {
		err = k.Store.Remove(ctx, r)
	} else {
		_, err = k.Store.Swap(ctx, r.Name, r.Version, value)
	}
	if err == nil && len(over) > 0 {
		err = k.Store.Drop(ctx, over...)
	}
	if err != nil {
		return Kept{}, err
	}
	return kept, nil
}

// IsShared reports whether a store has had a session of a chain.
func (l *Ledger) IsShared(chain int64) (is bool, err error) {
	err = l.db.QueryRow("SELECT EXISTS (SELECT 1 FROM sessions WHERE chain_id = ? AND shared <> '')", chain).Scan(&is)
	if err != nil {
		return false, fmt.Errorf("read chain: %w", err)
	}
	return is, nil
}
