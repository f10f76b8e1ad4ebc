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
	// own returns a fact of this machine that sessions are compared by, "" if sessions can come from other machines.
	own(fact string) string
	// begin decides on the call and records it. It fails with ledger.ErrHeld if the call must wait.
	begin() error
	// preview returns the decision that begin would make, and the chains it would choose from.
	preview() (decide.Decision, []decide.ChainFacts, error)
	// identity returns what must be equal for machines to share the session, nil if none do.
	identity() *ledger.Identity
	// isEarly reports whether a conversation is recorded before its end.
	isEarly() bool
	// restore makes the files of the resumed session available. It returns why the resume must be abandoned, "" if it
	// need not be.
	restore() reason.Code
	// fallBack records that a resume is abandoned.
	fallBack(reason.Code) error
	// finish records the outcome.
	finish(o *ledger.Outcome, later ...ledger.Turn) error
	// close ends the connections, before this process becomes another program.
	close()
}

// A localBook is the ledger of this machine.
type localBook struct{ *call }

func (c localBook) key() prompt.Key { return c.ledger.Key() }

func (c localBook) own(fact string) string { return fact }

// begin is ledger.Begin within the ledger's time. Waits for a session do not count.
func (c localBook) begin() error {
	type begun struct {
		decision decide.Decision
		ticket   *ledger.Ticket
	}
	c.record.Unshared = c.unshared
	before := c.ledgerTime
	b, err := inTime(c.call, func() (b begun, err error) {
		b.decision, b.ticket, err = ledger.Begin(c.ledger, c.record)
		return b, err
	})
	if errors.Is(err, ledger.ErrHeld) {
		c.ledgerTime = before
	}
	c.decision, c.ticket = b.decision, b.ticket
	return err
}

func (c localBook) preview() (decide.Decision, []decide.ChainFacts, error) {
	return c.ledger.Preview(c.record)
}

func (c localBook) identity() *ledger.Identity { return nil }

func (c localBook) isEarly() bool { return true }

func (c localBook) restore() reason.Code { return "" }

// fallBack is FallBack within the ledger's time.
func (c localBook) fallBack(why reason.Code) error {
	ticket := *c.ticket // work that is left behind goes on with it
	_, err := inTime(c.call, func() (none struct{}, err error) { return none, c.ledger.FallBack(&ticket, why) })
	if errors.Is(err, errSlow) {
		c.ticket.GiveUp(why)
	} else {
		c.ticket = &ticket
	}
	return err
}

func (c localBook) finish(o *ledger.Outcome, later ...ledger.Turn) error {
	return c.ledger.Finish(c.ticket, o, later...)
}

func (c localBook) close() {}
