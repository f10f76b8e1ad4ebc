package ledger

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A Book stores chains: the local ledger, or a remote store. Calls on a remote store are recorded locally too.
type Book interface {
	// Key returns the key for digests of the chains' prompts.
	Key() prompt.Key
	// Facts reads the facts for a decision, and marks the state of the book.
	Facts(*Call) (decide.Facts, Mark, error)
	// Preview returns the decision that Begin would make now and the chains it would choose from. It
	// records nothing.
	Preview(*Call) (decide.Decision, []decide.ChainFacts, error)
	// Take carries out a decision: the chain, the session with its lease, the call. It fails
	// with ErrMoved if the state has changed since the mark so that the decision can be another.
	Take(Mark, decide.Decision, *Call) (*Ticket, error)
	// FallBack abandons a resume: the session is dead for that reason, and the call continues in a
	// new one of the same chain. A session that is only busy stays alive. A refused copy is no
	// session; the source dies only if the reason lies in it.
	FallBack(*Ticket, reason.Code) error
	// Finish records how the run ended and releases the lease. The call's prompt is then all that
	// the session was sent. Finish records each later turn as an observed call of the same session.
	Finish(t *Ticket, o *Outcome, later ...Turn) error

	// Here returns the ledger of this machine, which records all calls.
	Here() *Ledger
	// ChainHere returns the number that the chain of a decision on a call has there, 0 for none.
	ChainHere(*Call, decide.Decision) int64
}

// A Mark is the state of a book at the time of reading facts.
type Mark struct {
	Facts decide.Facts
	State any           // the chains that another book has read, nil for the ledger's
	Took  time.Duration // how long another book took to read: another try waits about as long
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
func Begin(b Book, c *Call) (d decide.Decision, t *Ticket, err error) {
	l := b.Here()
	if _, err := l.settleSome(); IsLocked(err) {
		return decide.Decision{}, nil, err
	} // an outcome that cannot be recorded for another reason only leaves the session unfit to resume
	for n := range maxDecisions {
		var mark Mark
		if d, mark, err = decideOn(b, c); err != nil {
			return d, nil, err
		}
		t, err = b.Take(mark, d, c)
		switch {
		case !errors.Is(err, ErrMoved):
		case c.Wait:
			return d, nil, ErrHeld
		case n == maxDecisions-1 || !c.Copies && mark.State == nil:
			why := reason.Leased
			if mark.State != nil {
				why = reason.StoreUnavailable
			}
			d = decide.Decision{Mode: rewrite.Fresh, Reason: why, Chain: b.ChainHere(c, d)}
			t, err = l.Take(Mark{}, d, c) // it does not go on with anything
		default:
			if mark.State != nil {
				Pause(mark.Took, n)
			}
			continue
		}
		break
	}
	if err != nil {
		return decide.Decision{}, nil, fmt.Errorf("record call: %w", err)
	}
	d.Chain = t.Chain
	return d, t, nil
}

// decideOn reads the facts and decides. It returns ErrHeld with the decision if the call must wait.
func decideOn(b Book, c *Call) (decide.Decision, Mark, error) {
	facts, mark, err := b.Facts(c)
	if err != nil {
		return decide.Decision{}, mark, fmt.Errorf("read chains: %w", err)
	}
	d := c.Decide(facts)
	if c.Wait && d.Reason == reason.Leased || c.WaitForRecord && facts.Unrecorded() {
		err = ErrHeld
	}
	return d, mark, err
}

// shortest is the minimum pause before a retry.
const shortest = 20 * time.Millisecond

// Pause waits before the next try in a book that others have changed: longer each time, and never as long as they do.
// A try takes so long.
func Pause(try time.Duration, n int) {
	time.Sleep(time.Duration(rand.Int64N(int64(max(try, shortest)) << min(n, maxDecisions))))
}

// Here implements Book.
func (l *Ledger) Here() *Ledger { return l }

// ChainHere implements Book.
func (l *Ledger) ChainHere(_ *Call, d decide.Decision) int64 { return d.Chain }

// Preview implements Book. The chains are followed by other chains of the directory, to show the changes.
func (l *Ledger) Preview(c *Call) (decide.Decision, []decide.ChainFacts, error) {
	facts, err := l.readFacts(c, true)
	chains := facts.Chains
	if err == nil && !facts.Named && !facts.Never {
		var others []decide.ChainFacts
		others, _, err = l.chains(c, true, ends, ofJob+" AND c.first_line <> ?"+newest, append(c.job(), c.FirstLine())...)
		chains = append(chains, others...)
	}
	if err != nil {
		return decide.Decision{}, nil, fmt.Errorf("read chains: %w", err)
	}
	return c.Decide(facts), chains, nil
}

// Facts implements Book.
func (l *Ledger) Facts(c *Call) (decide.Facts, Mark, error) {
	facts, err := l.readFacts(c, false)
	return facts, Mark{Facts: facts}, err
}

// Take implements Book.
func (l *Ledger) Take(m Mark, d decide.Decision, c *Call) (*Ticket, error) {
	var of *decide.ChainFacts
	if d.Mode.Continues() {
		of = m.Facts.Session(d.Session)
	}
	return l.begin(c, d, of, nil)
}

// Decide decides on a call, and asks for each fact that the decision turns on.
func (c *Call) Decide(f decide.Facts) decide.Decision {
	for {
		d := decide.Decide(f)
		lack := f.Lacks(d)
		if lack == "" {
			return d
		}
		c.ask(f.Session(d.Session), lack)
	}
}

// givenSize is how many bytes of a digest ChainFacts.Given has.
const givenSize = 8

// ask adds a fact about a session.
func (c *Call) ask(s *decide.ChainFacts, lack decide.Lack) {
	s.Asked = append(s.Asked, lack)
	switch lack {
	case decide.LacksHistory:
		s.History = c.History(s.Place.Head)
	case decide.LacksCheckout:
		s.CheckoutDiffers = c.Checkout != nil && !c.Checkout(s.Tree, s.Directory)
	case decide.LacksWork:
		s.WorkGone = c.WorkGone != nil && c.WorkGone(s.Left, s.Place.Head)
	case decide.LacksInput:
		if c.Tree != nil {
			given := c.Prompt.Given(s.Continuity)
			s.Given = hex.EncodeToString(given[:givenSize])
		}
	case decide.LacksTree:
		s.TreeNow = c.Tree()
	}
}
