package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"reprise/fleet/store"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite/reason"
)

// heldFor is how long a call that does not renew its hold is waited for.
const heldFor decide.Millis = 15 * 60_000

// RenewEvery is how often a call that runs must renew its hold.
const RenewEvery = 5 * time.Minute

// A hold is what a call has taken in a store.
type hold struct {
	name     store.Name
	holder   string // a random name of the run, "" for one that holds nothing
	value    []byte // of the register as this call has last written it
	version  string
	over     []string // bundles that no session of the register has any more
	call     *ledger.Call
	decision decide.Decision
	from     session // that the call resumes, as it was
	// fellBack is why a resume was abandoned.
	fellBack reason.Code
	lost     bool       // another call has it now, or that is not known: there is nothing to record in the store
	mu       sync.Mutex // of lost, and of what edit changes
}

// holdOf returns what a call holds, nil if it has nothing to do with a store.
func holdOf(t *ledger.Ticket) *hold {
	if loan := t.Loan(); loan != nil {
		return loan.Hold.(*hold)
	}
	return nil
}

func (h *hold) isLost() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost
}

func (h *hold) lose() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = true
}

// errFenced reports that another call has replaced the session that this one held.
var errFenced = errors.New("another call has replaced the session in the store")

// maxEdits bounds how often a call tries to record what it holds while others change the register.
const maxEdits = 32

// edit changes the register of what a call holds. It fails with errFenced if the call holds it no more.
func (b *Book) edit(ctx context.Context, h *hold, now decide.Millis, change func(*register) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n := 0; ; n++ {
		value, over, err := h.changed(now, change)
		if err != nil {
			return err
		}
		began := time.Now()
		version, err := b.Registers.Swap(ctx, h.name, h.version, value)
		if err == nil {
			h.value, h.version, h.over = value, version, append(h.over, over...)
			return nil
		}
		if !errors.Is(err, store.ErrMoved) || n >= maxEdits {
			return err
		}
		ledger.Pause(time.Since(began), n)
		r, err := b.Registers.Read(ctx, h.name)
		if errors.Is(err, store.ErrAbsent) || r.Damaged {
			return errFenced
		}
		if err != nil {
			return err
		}
		h.value, h.version = r.Value, r.Version
	}
}

// changed returns the register's value with the change, and the bundles that are needed no more.
func (h *hold) changed(now decide.Millis, change func(*register) error) (value []byte, over []string, err error) {
	r, err := decode(store.Register{Name: h.name, Value: h.value, Version: h.version})
	if errors.Is(err, store.ErrBroken) {
		return nil, nil, errFenced
	}
	if err != nil {
		return nil, nil, err
	}
	if number, _ := r.own(h.holder); number == 0 && h.holder != "" {
		return nil, nil, errFenced
	}
	before := r.bundles()
	if err := change(r); err != nil {
		return nil, nil, err
	}
	value = r.encode(now)
	return value, r.without(before), nil
}

// Renew prolongs the time for which others wait for the call.
func (b *Book) Renew(t *ledger.Ticket, now decide.Millis) error {
	h := holdOf(t)
	if h == nil || h.isLost() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), b.Upload)
	defer cancel()
	return b.edit(ctx, h, h.call.Now, func(r *register) error {
		number, source := r.own(h.holder)
		r.hold(number, h.holder, b.Host, now)
		r.hold(source, h.holder, b.Host, now)
		return nil
	})
}

// FallBack implements ledger.Book.
func (b *Book) FallBack(t *ledger.Ticket, why reason.Code) error {
	h := holdOf(t)
	if h == nil || h.isLost() {
		return b.Local.FallBack(t, why)
	}
	err := b.Local.FallBackLent(t, why)
	h.fellBack = why
	ctx, cancel := context.WithTimeout(context.Background(), b.Upload)
	defer cancel()
	failed := b.edit(ctx, h, h.call.Now, func(r *register) error {
		number, source := r.own(h.holder)
		for i := range r.Sessions {
			if s := &r.Sessions[i]; s.Holder == h.holder {
				s.State, s.Holder = decide.Live, ""
			}
		}
		var anew int64
		err := r.onPage(b.Local, h.call.Now, func(p *ledger.Page) (err error) {
			anew, err = p.FallBack(t, number, source, why)
			return err
		})
		if err == nil {
			r.hold(anew, h.holder, b.Host, h.call.Now)
		}
		return err
	})
	if failed != nil {
		h.lose()
		failed = fmt.Errorf("record refusal in the store: %w", failed)
	}
	return errors.Join(err, failed)
}

// resetOthers ends the sessions that roles have in the other registers of a task.
func (b *Book) resetOthers(ctx context.Context, name store.Name, roles []string) error {
	if len(roles) == 0 || name.Kind != store.Task {
		return nil
	}
	registers, _, err := b.Registers.List(ctx, name, maxRoles)
	if err != nil {
		return err
	}
	for _, other := range registers {
		if other.Damaged || other.Name.ID == name.ID {
			continue
		}
		h := &hold{name: other.Name, value: other.Value, version: other.Version}
		err := b.edit(ctx, h, 0, func(r *register) error {
			return r.onPage(b.Local, 0, func(p *ledger.Page) error { return p.ResetRoles(name.Of[1], name.Of[2], roles) })
		})
		if err != nil && !errors.Is(err, errFenced) {
			return err
		}
	}
	return nil
}
