package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"reprise/fleet/store"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite/reason"
)

// heldFor is how long a call that does not renew the hold is waited for.
const heldFor decide.Millis = 15 * 60_000

// A hold is the part of a store that a call has taken.
type hold struct {
	taken
	call *ledger.Call
	from session // that the call resumes, as it was
	// another call has it now, or that is not known: there is nothing to record in the store
	lost atomic.Bool
	mu   sync.Mutex // guards the fields of taken
}

// A taken register is a call's own.
type taken struct {
	Register store.Register // as the call has last written it
	Holder   string         // a random name of the run
	Over     []string       // bundles that no session of the register has any more
}

// holdOf returns a call's hold in a store, nil if it has none, or not any more.
func holdOf(t *ledger.Ticket) *hold {
	if loan := t.Loan; loan != nil && !loan.Hold.(*hold).lost.Load() {
		return loan.Hold.(*hold)
	}
	return nil
}

// keeps reports whether a session of the register has the bundle.
func (t *taken) keeps(bundle string) bool {
	r, err := decode(t.Register)
	return err == nil && slices.Contains(r.bundles(), bundle)
}

// errFenced reports that others have replaced a call's hold, or a register.
var errFenced = errors.New("another call has replaced the session in the store")

// maxEdits bounds how often a change is tried while others change the register.
const maxEdits = 32

// edit changes a register, again if others change it at the same time, and returns the bundles that
// no session has any more. It fails with errFenced if the register is gone or damaged.
func edit(ctx context.Context, registers store.Shared, at *store.Register, now decide.Millis,
	change func(*register) error) (over []string, err error) {
	for n := 0; ; n++ {
		r, err := decode(*at)
		switch {
		case errors.Is(err, store.ErrBroken):
			return nil, errFenced
		case err != nil:
			return nil, err
		}
		before := r.bundles()
		if err := change(r); err != nil {
			return nil, err
		}
		value, began := r.encode(now), time.Now()
		version, err := registers.Swap(ctx, at.Name, at.Version, value)
		if err == nil {
			at.Value, at.Version = value, version
			return r.without(before), nil
		}
		if !errors.Is(err, store.ErrMoved) || n >= maxEdits {
			return nil, err
		}
		ledger.BackOff(ctx, time.Since(began), n)
		read, err := store.One(registers.List(ctx, at.Name, 1))
		if errors.Is(err, store.ErrAbsent) {
			return nil, errFenced
		}
		if err != nil {
			return nil, err
		}
		*at = read
	}
}

// edit changes a taken register; change gets the numbers of the call's session and of the source.
// It fails with errFenced if the register is not the call's own any more.
func (b *Book) edit(ctx context.Context, t *taken, now decide.Millis,
	change func(r *register, number, source int64) error) error {
	over, err := edit(ctx, b.Store, &t.Register, now, func(r *register) error {
		number, source := r.own(t.Holder)
		if number == 0 {
			return errFenced
		}
		return change(r, number, source)
	})
	t.Over = append(t.Over, over...)
	return err
}

// Renew prolongs the time that others wait for the call.
func (b *Book) Renew(t *ledger.Ticket, now decide.Millis) error {
	h := holdOf(t)
	if h == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), b.Timeout)
	defer cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	return b.edit(ctx, &h.taken, h.call.Now, func(r *register, number, source int64) error {
		r.hold(h.Holder, b.Host, now, number, source)
		return nil
	})
}

// FallBack implements ledger.Book.
func (b *Book) FallBack(t *ledger.Ticket, why reason.Code) error {
	h, err := holdOf(t), b.Local.FallBack(t, why)
	if h == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), b.Timeout)
	defer cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	failed := b.edit(ctx, &h.taken, h.call.Now, func(r *register, number, source int64) error {
		for i := range r.Sessions {
			if s := &r.Sessions[i]; s.Holder == h.Holder {
				s.State, s.Holder = decide.Live, ""
			}
		}
		var anew int64
		r.change(func(c *ledger.Chain) { anew = c.FallBack(t, number, source, why) })
		if err == nil { // else the call has no session that it could give back
			r.hold(h.Holder, b.Host, h.call.Now, anew)
		}
		return nil
	})
	if err != nil || failed != nil {
		h.lost.Store(true)
	}
	if failed != nil {
		failed = fmt.Errorf("record refusal in the store: %w", failed)
	}
	return errors.Join(err, failed)
}

// resetOthers ends the sessions that roles have in the other registers of a task.
func (b *Book) resetOthers(ctx context.Context, name store.Name, roles []string) error {
	if len(roles) == 0 || name.Kind != store.Task {
		return nil
	}
	task := store.Name{Kind: name.Kind, Of: name.Of}
	registers, _, err := b.Store.List(ctx, task, maxRoles)
	if err != nil {
		return err
	}
	for _, other := range registers {
		if other.Name.ID == name.ID {
			continue
		}
		_, err := edit(ctx, b.Store, &other, 0, func(r *register) error {
			r.change(func(c *ledger.Chain) { c.ResetRoles(name.Of[1], name.Of[2], roles) })
			return nil
		})
		if err != nil && !errors.Is(err, errFenced) {
			return err
		}
	}
	return nil
}
