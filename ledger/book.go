package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A Book stores chains: the local ledger, or a remote store. Calls on a remote store are recorded
// locally too.
type Book interface {
	// Key returns the key for digests of the chains' prompts.
	Key() prompt.Key
	// Load reads the facts for a decision.
	Load(*Call) (*Reading, error)
	// Take carries out a decision: the chain, the session with its lease, the call. It fails
	// with ErrMoved if the book has changed since the reading so that the decision can be another.
	Take(*Reading, decide.Decision, *Call) (*Ticket, error)
	// FallBack abandons a resume: the session is dead for that reason, and the call continues in a
	// new one of the same chain. A session that is only busy stays alive. A refused copy is no
	// session; the source dies only if the reason lies in it.
	FallBack(*Ticket, reason.Code) error
	// Here returns the ledger of this machine, which records all calls.
	Here() *Ledger
}

// A Reading is the facts about a call that a book has read at one time.
type Reading struct {
	decide.Facts
	State any           // the chains as another book has read them, nil for the ledger's
	Took  time.Duration // the time that another book needed: another try waits about as long
	Loan  *Loan         // the session that the call takes from another book, nil for none
}

// ErrHeld reports that another process uses the session that a call would resume.
var ErrHeld = errors.New("the session is held by another process")

// ErrMoved reports that a session has changed since the decision.
var ErrMoved = errors.New("the session is in use by now, or was")

// maxDecisions bounds how often Begin decides on a call if others take or release the session in
// between.
const maxDecisions = 4

// Begin decides on a call and records it. It reads the facts without a lock; the write checks that
// the session is still free. It first records the outcomes in the spool, since they can be the
// session's own. If the call must wait for the session, Begin returns ErrHeld and records nothing.
func Begin(b Book, c *Call) (decide.Decision, *Ticket, error) {
	l := b.Here()
	if _, err := l.settleSome(); IsLocked(err) {
		return decide.Decision{}, nil, err
		// an outcome that cannot be recorded for another reason only leaves the session unfit to
		// resume
	}
	for n := 1; ; n++ {
		of, err := b.Load(c)
		if err != nil {
			return decide.Decision{}, nil, Wrap("read chains", err)
		}
		d := decide.Decide(of.Facts)
		if c.Wait && d.Reason == reason.Leased || c.WaitForRecord && of.Unrecorded() {
			return d, nil, ErrHeld
		}
		t, err := b.Take(of, d, c)
		moved := errors.Is(err, ErrMoved)
		switch {
		case moved && c.Wait:
			return d, nil, ErrHeld
		case moved && n < maxDecisions && of.State != nil:
			BackOff(context.Background(), of.Took, n-1)
			continue
		case moved && n < maxDecisions && c.Copies:
			continue
		case moved:
			fresh := decide.Decision{Mode: rewrite.Fresh, Reason: reason.Leased, Chain: d.Chain}
			if of.State != nil {
				fresh.Reason, fresh.Chain = reason.StoreUnavailable, l.LentChain(c, d.NativeID)
			}
			d = fresh
			t, err = l.Take(&Reading{}, d, c)
		}
		if err != nil {
			return decide.Decision{}, nil, fmt.Errorf("record call: %w", err)
		}
		d.Chain = t.Chain
		return d, t, nil
	}
}

// Preview returns the decision that Begin would make now, and the chains that it would choose from.
// Other chains of the directory follow, only to show the changes. It records nothing.
func Preview(b Book, c *Call) (decide.Decision, []decide.ChainFacts, error) {
	of, err := b.Load(c)
	var others []decide.ChainFacts
	if err == nil && of.State == nil && !of.Named && !of.Never {
		others, _, err = b.Here().chains(c, ends, ofJob+" AND c.first_line <> ?"+newest,
			append(c.job(), c.FirstLine())...)
	}
	if err != nil {
		return decide.Decision{}, nil, Wrap("read chains", err)
	}
	return decide.Decide(of.Facts), append(of.Chains, others...), nil
}

// shortest is the minimum pause before a retry.
const shortest = 20 * time.Millisecond

// BackOff waits before the next try in a book that others have changed: longer each time, and never
// as long as they do. A try takes so long. It ends with the context.
func BackOff(ctx context.Context, try time.Duration, n int) {
	longest := int64(max(try, shortest)) << min(n, maxDecisions)
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(rand.Int64N(longest))):
	}
}

// Here implements Book.
func (l *Ledger) Here() *Ledger { return l }

// Load implements Book.
func (l *Ledger) Load(c *Call) (*Reading, error) {
	facts, err := l.readFacts(c)
	return &Reading{Facts: facts}, err
}

// Take implements Book.
func (l *Ledger) Take(of *Reading, d decide.Decision, c *Call) (t *Ticket, err error) {
	err = l.write(func(tx *sql.Tx) error {
		t = &Ticket{Record: c.Record, Loan: of.Loan, call: c, key: l.key}
		if of.Loan != nil {
			t.key = of.Loan.Key
		}
		return t.begin(tx, d)
	})
	return t, err
}
