package shim

import (
	"context"
	"errors"
	"time"

	"reprise/config"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/shim/git"
)

// sharedPause is added to the time between two looks at a busy session if that is in a store.
const sharedPause = 500 * time.Millisecond

// renewEvery is how often a running call tells the store that it still runs.
const renewEvery = 5 * time.Minute

// A book keeps the chains of a call: the ledger, or the store that shares the call's sessions with
// other machines. Where the store does not decide on the call, the ledger does.
type book struct {
	*found
	// why no other machine can go on with the session, although there is a store
	unshared string
	settings config.Store // zero if there is no store for the call
	remote   ledger.Remote
	call     *ledger.Call // as the store has recorded it, nil if it has not
	here     bool         // the session is of no use to others
	err      error        // why the store is not used: nothing that is shared is resumed
}

// decides reports whether the store decides on the call.
func (b *book) decides() bool { return b.remote != nil && b.err == nil && !b.here }

// keepHere keeps the call's session here if it is of no use to others. Other roles end a role's
// sessions, and find a store's sessions only by their task.
func (b *book) keepHere(r *ledger.Call) { b.here = r.Never || r.Task == "" && r.Role != "" }

// key returns the key for digests of prompts and guards.
func (b *book) key() prompt.Key {
	if b.decides() {
		return b.remote.Key()
	}
	return b.ledger.Key()
}

// own returns a fact of this machine that sessions are compared by, "" if sessions can come from
// other machines.
func (b *book) own(fact string) string {
	if b.decides() {
		return ""
	}
	return fact
}

// begin has the store decide on the call and record it, or if that fails the ledger. It fails with
// ledger.ErrHeld if the call must wait.
func (b *book) begin(r *ledger.Call) (decide.Decision, *ledger.Ticket, error) {
	if !b.decides() {
		b.goWithout(r)
		return b.beginHere(r)
	}
	b.awaitFinished(r)
	r.Unshared = ""
	d, t, err := ledger.Begin(b.remote, r)
	switch {
	case errors.Is(err, ledger.ErrHeld):
		time.Sleep(sharedPause)
	case err != nil:
		b.leave(err)
		return b.begin(r)
	default:
		b.call = r
		go b.renew(t)
	}
	return d, t, err
}

// beginHere is ledger.Begin within the ledger's time. Waits for a session do not count.
func (b *book) beginHere(r *ledger.Call) (decide.Decision, *ledger.Ticket, error) {
	type begun struct {
		decision decide.Decision
		ticket   *ledger.Ticket
	}
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

// goWithout says why the store does not decide, and has the call begin anew if the store could have
// its session.
func (b *book) goWithout(r *ledger.Call) {
	r.Unshared = b.unshared
	if b.err != nil && !b.here {
		r.Fresh = reason.StoreUnavailable
	}
}

// preview returns the decision that begin would make, and the chains it would choose from.
func (b *book) preview(r *ledger.Call) (decide.Decision, []decide.ChainFacts, error) {
	if !b.decides() {
		b.goWithout(r)
		return ledger.Preview(b.ledger, r)
	}
	d, chains, err := ledger.Preview(b.remote, r)
	if err != nil {
		b.leave(err)
		return b.preview(r)
	}
	return d, chains, nil
}

// identity returns the values that must be equal for machines to share the session, nil if none do.
func (b *book) identity(r *ledger.Call) *ledger.Identity {
	if !b.decides() {
		return nil
	}
	identity := b.remote.Identity(r)
	return &identity
}

// renew tells the store from time to time that the call still runs.
func (b *book) renew(t *ledger.Ticket) {
	for range time.Tick(renewEvery) {
		if err := b.remote.Renew(t, decide.MillisOf(b.env.Now())); err != nil {
			b.log.fault("renew the hold in the store", err)
		}
	}
}

// restore brings the files of the session that the call resumes from the store. It fails with a
// pass if the resume must be abandoned.
func (b *book) restore(t *ledger.Ticket, d decide.Decision) error {
	if b.call == nil || !d.Mode.Continues() {
		return nil
	}
	ctx, cancel := context.WithTimeout(b.signals.Ending, b.settings.UploadTimeout)
	defer cancel()
	err := b.remote.Restore(ctx, t, b.travels)
	if err != nil {
		b.log.fault("bring session from the store", err)
	}
	return err
}

// travels returns the paths, relative to the tool's home, of the files of a session that other
// machines need.
func (b *book) travels(id, file string) []string {
	files, ok := rewrite.FilesOf(b.tool, b.home, id, file)
	if !ok {
		return nil
	}
	return files.ForMachines()
}

// fallBack records that a resume is abandoned, and returns the ticket of the fresh run. In the
// ledger it does so within the ledger's time.
func (b *book) fallBack(t *ledger.Ticket, why reason.Code) (*ledger.Ticket, error) {
	if b.call != nil {
		return t, b.remote.FallBack(t, why)
	}
	fresh := *t // work that is left behind goes on with it
	err := b.ledger.do(func() error { return b.ledger.FallBack(&fresh, why) })
	if errors.Is(err, errSlow) {
		t.GiveUp(why)
		return t, err
	}
	return &fresh, err
}

// finish records the outcome, in a store with the session's files. It waits for the store for
// UploadTimeout at most, and no longer once a signal has asked for the end. Another process does
// the remaining work.
func (b *book) finish(t *ledger.Ticket, turns ...*ledger.Outcome) error {
	if b.call == nil {
		return b.ledger.Finish(t, turns...)
	}
	end := turns[len(turns)-1]
	if end.File != "" {
		end.Paths = b.travels(end.Seen.ID, end.File)
	}
	end.Tree = func() string { return git.Tree(b.cwd, b.env.Environ) }
	ctx, cancel := context.WithTimeout(b.signals.Ending, b.settings.UploadTimeout)
	defer cancel()
	left, err := b.remote.FinishWithin(ctx, t, turns...)
	if left != nil {
		err = errors.Join(err, b.detach(left))
	}
	return err
}

// close ends the connection, before this process becomes another program.
func (b *book) close() {
	if b.remote != nil {
		b.remote.Stop()
	}
}
