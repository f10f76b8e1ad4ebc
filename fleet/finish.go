package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"reprise/fleet/store"
	"reprise/ledger"
	"reprise/ledger/decide"
)

// An Unfinished is the work that a call leaves in the store once it has ended. It contains no text
// of prompts or answers.
type Unfinished struct {
	taken
	Home   string
	Paths  store.Texts  // the session's files, none if there is nothing to resume
	Bundle store.Bundle // of these files, once they are in the store
	Place  string       // see Book
	Tree   string
	Result ledger.Ending
	When   decide.Millis // the start of the call
	tree   func() string // returns Tree, nil once it is known
}

// Job implements ledger.Remote: it names the task, or all that begin as the call does.
func (b *Book) Job(c *ledger.Call) string {
	n := b.name(c)
	d := sha256.Sum256([]byte(n.Kind + "\x00" + strings.Join(n.Of, "\x00")))
	return hex.EncodeToString(d[:8])
}

// FinishWithin implements ledger.Remote. Nobody resumes a session that the store lacks.
func (b *Book) FinishWithin(ctx context.Context, t *ledger.Ticket,
	turns ...*ledger.Outcome) (left []byte, err error) {
	err = b.Local.Finish(t, turns...)
	h := holdOf(t)
	if h == nil || t.Session == 0 { // or a refusal could not be recorded here
		return nil, err
	}
	h.mu.Lock()
	u := &Unfinished{taken: h.taken, Home: h.call.Home, Place: b.Place,
		Result: b.Local.Ending(t, turns), When: h.call.Now}
	h.mu.Unlock()
	last := &u.Result.Outcome
	if state, _, _ := last.State(); state == decide.Live {
		u.Paths = last.Paths
	}
	if last.Tree != nil {
		u.tree = sync.OnceValue(last.Tree)
		go u.tree() // while the session is packed
	}
	failed := b.complete(ctx, u)
	if errors.Is(failed, errUnfinished) {
		u.settleTree()
		return []byte(ledger.EncodeJSON(u)), err
	}
	return nil, errors.Join(err, failed)
}

// errUnfinished reports that the time was over first. Another process can do the rest.
var errUnfinished = errors.New("the time is over")

// isOver reports whether the time for a store is over. The helper gives up a bit earlier.
func (b *Book) isOver(ctx context.Context) bool {
	until, limited := ctx.Deadline()
	return ctx.Err() != nil || limited && time.Until(until) < b.Upload/10
}

// complete puts the session of a call that has ended into the store, and gives it back. It fails
// with errUnfinished if the context ends before. A second complete of work that is done finds
// nothing to do.
func (b *Book) complete(ctx context.Context, u *Unfinished) error {
	var failed error
	if len(u.Paths) > 0 && u.Bundle.Name == "" {
		u.Bundle, failed = b.Store.Save(ctx, u.Home, u.Paths)
	}
	if failed != nil && b.isOver(ctx) || ctx.Err() != nil {
		return errors.Join(errUnfinished, failed, context.Cause(ctx))
	}
	u.settleTree()
	err := b.finishHeld(ctx, u)
	if errors.Is(err, errFenced) && u.keeps(u.Bundle.Name) {
		err = nil // an earlier try has done it, but has got no answer in time
	}
	if err != nil && b.isOver(ctx) {
		return errors.Join(errUnfinished, failed, err)
	}
	switch {
	case err == nil && u.Bundle.Name != "":
		err = b.Local.NoteFiles(u.Result.Session, u.Bundle.Digest)
	case errors.Is(err, errFenced) && u.Bundle.Name != "":
		u.Over = append(u.Over, u.Bundle.Name)
	}
	err = errors.Join(failed, err)
	// else the register might name them still
	if len(u.Over) > 0 && (err == nil || errors.Is(err, errFenced)) {
		_ = b.Store.Drop(ctx, u.Over...) // the store's own rules remove the rest
	}
	return err
}

// finishHeld records in the register how the run ended, and ends the hold: the session has a new
// bundle, or none, and the source of a copy can be resumed again only if the copy came to nothing.
func (b *Book) finishHeld(ctx context.Context, u *Unfinished) error {
	if err := b.resetOthers(ctx, u.Register.Name, u.Result.Resets); err != nil {
		return err
	}
	return b.edit(ctx, &u.taken, u.When, func(r *register, number, source int64) (err error) {
		r.change(func(c *ledger.Chain) { err = c.Finish(number, &u.Result) })
		own := &r.Sessions[number-1]
		own.Holder, own.HeldUntil, own.Host, own.Place = "", 0, b.Host, u.Place
		own.Bundle, own.BundleDigest, own.Tree = u.Bundle.Name, u.Bundle.Digest, u.Tree
		if source == 0 {
			return err
		}
		from := &r.Sessions[source-1]
		if from.State == decide.Running {
			from.Holder, from.HeldUntil, from.State = "", 0, decide.Live
			if own.State == decide.Live {
				from.Bundle = ""
			}
		}
		return err
	})
}

// settleTree waits for the name of the directory's content, which is found out meanwhile.
func (u *Unfinished) settleTree() {
	if u.tree != nil {
		u.Tree, u.tree = u.tree(), nil
	}
}

// Reset implements ledger.Remote. A damaged register has no session: the next call replaces it.
func (b *Book) Reset(ctx context.Context,
	c ledger.ChainName, now decide.Millis) (records int64, err error) {
	registers, err := b.find(ctx, c)
	for i := range registers {
		over, err := edit(ctx, b.Store, &registers[i], now, func(r *register) error {
			for i := range r.Sessions {
				r.Sessions[i].Reset = true
			}
			return nil
		})
		if err == nil && len(over) > 0 {
			err = b.Store.Drop(ctx, over...)
		}
		if err != nil && !errors.Is(err, errFenced) {
			return records, err
		}
		records++
	}
	return records, err
}

// Forget implements ledger.Remote.
func (b *Book) Forget(ctx context.Context, c ledger.ChainName,
	now decide.Millis, dry bool) (sessions int64, err error) {
	registers, err := b.find(ctx, c)
	for _, at := range registers {
		var names []string
		if r, err := decode(at); err == nil { // else it is damaged
			if slices.ContainsFunc(r.Sessions, func(s session) bool { return s.held(now) }) {
				return sessions, ledger.ErrInUse
			}
			names, sessions = r.bundles(), sessions+int64(len(r.Sessions))
		}
		if dry {
			continue
		}
		err := b.Store.Remove(ctx, at)
		if errors.Is(err, store.ErrMoved) {
			return sessions, ledger.ErrInUse // a run has changed it meanwhile
		}
		if err == nil && len(names) > 0 {
			err = b.Store.Drop(ctx, names...)
		}
		if err != nil {
			return sessions, err
		}
	}
	return sessions, err
}

// find returns the registers of the chain: a task's are found by the name, others by their content.
// Those that a newer reprise has written are left out.
func (b *Book) find(ctx context.Context, c ledger.ChainName) (found []store.Register, err error) {
	name, limit := store.Name{Kind: store.Opening}, math.MaxInt
	if c.Task != "" {
		name = store.Name{Kind: store.Task, Of: taskName(b.Project, c.Cwd, c.Task)}
		limit = maxRoles
	}
	found, _, err = b.Store.List(ctx, name, limit)
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
