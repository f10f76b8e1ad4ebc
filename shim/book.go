package shim

import (
	"errors"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A book keeps the chains of a call.
type book interface {
	// key returns the key for digests of prompts and guards.
	key() prompt.Key
	// own returns a fact of this machine that sessions are compared by, "" if sessions can come
	// from other machines.
	own(fact string) string
	// named says how the chain of a call is named.
	named(*ledger.Call)
	// begin decides on the call and records it. It fails with ledger.ErrHeld if the call must wait.
	begin(*ledger.Call) (decide.Decision, *ledger.Ticket, error)
	// preview returns the decision that begin would make, and the chains it would choose from.
	preview(*ledger.Call) (decide.Decision, []decide.ChainFacts, error)
	// identity returns the values that must be equal for machines to share the session, nil if none
	// do.
	identity(*ledger.Call) *ledger.Identity
	// unshared returns why no other machine can go on with the session, although there is a store.
	unshared() string
	// isEarly reports whether a conversation is recorded before its end.
	isEarly() bool
	// restore makes the files of the resumed session available. It fails with a pass if the resume
	// must be abandoned.
	restore(*ledger.Ticket, decide.Decision) error
	// fallBack records that a resume is abandoned, and returns the ticket of the fresh run.
	fallBack(*ledger.Ticket, reason.Code) (*ledger.Ticket, error)
	// finish records the outcome.
	finish(t *ledger.Ticket, o *ledger.Outcome, later ...ledger.Turn) error
	// close ends the connections, before this process becomes another program.
	close()
}

// A localBook is the ledger of this machine.
type localBook struct {
	ledger *timedLedger
	why    string // it is used although there is a store
}

func (b *localBook) key() prompt.Key { return b.ledger.Key() }

func (b *localBook) own(fact string) string { return fact }

func (b *localBook) named(*ledger.Call) {}

// begin is ledger.Begin within the ledger's time. Waits for a session do not count.
func (b *localBook) begin(r *ledger.Call) (decide.Decision, *ledger.Ticket, error) {
	type begun struct {
		decision decide.Decision
		ticket   *ledger.Ticket
	}
	r.Unshared = b.why
	before := b.ledger.spent
	got, err := inTime(b.ledger, func() (got begun, err error) {
		got.decision, got.ticket, err = ledger.Begin(b.ledger.Ledger, r)
		return got, err
	})
	if errors.Is(err, ledger.ErrHeld) {
		b.ledger.spent = before
	}
	return got.decision, got.ticket, err
}

func (b *localBook) preview(r *ledger.Call) (decide.Decision, []decide.ChainFacts, error) {
	return ledger.Preview(b.ledger, r)
}

func (b *localBook) identity(*ledger.Call) *ledger.Identity { return nil }

func (b *localBook) unshared() string { return b.why }

func (b *localBook) isEarly() bool { return true }

func (b *localBook) restore(*ledger.Ticket, decide.Decision) error { return nil }

// fallBack is FallBack within the ledger's time.
func (b *localBook) fallBack(t *ledger.Ticket, why reason.Code) (*ledger.Ticket, error) {
	fresh := *t // work that is left behind goes on with it
	err := b.ledger.do(func() error { return b.ledger.FallBack(&fresh, why) })
	if errors.Is(err, errSlow) {
		t.GiveUp(why)
		return t, err
	}
	return &fresh, err
}

func (b *localBook) finish(t *ledger.Ticket, o *ledger.Outcome, later ...ledger.Turn) error {
	return b.ledger.Finish(t, o, later...)
}

func (b *localBook) close() {}
