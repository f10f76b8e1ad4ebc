package shim

import (
	"cmp"
	"errors"
	"time"

	"reprise/config"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/supervise"
	"reprise/shim/work"
)

// startPrune starts shimctl prune once a day: of all old sessions if the configuration asks for it,
// else of the sessions that copies have continued.
func (f *found) startPrune() {
	auto, now := f.config.Prune.Auto, f.env.Now()
	what, args := ledger.PruneAll, []string{"prune", "--yes"}
	switch auto {
	case config.PruneOff:
		return
	case config.PruneCopies:
		what, args = ledger.PruneSuperseded, []string{"prune", "--yes", "--superseded"}
	}
	due, err := f.ledger.ClaimDaily(what, decide.MillisOf(now))
	if due && err == nil && auto == config.PruneCopies {
		due, err = f.ledger.HasSuperseded(decide.MillisOf(now.Add(-config.KeepSuperseded)))
	}
	if err != nil {
		f.log.fault("see whether to prune", err)
	}
	if !due {
		return
	}
	if err := startShimctl(f.env.Environ, args...); err != nil {
		f.log.fault("start prune", err)
	}
}

// pinPause is the time between two attempts to write to a locked ledger.
const pinPause = 50 * time.Millisecond

// pin records the session's ID and the tool's process while the tool runs. It writes in a
// goroutine, so that the ledger does not delay the tool's output.
func (r *ran) pin(id string, pid int) {
	session := r.ticket.Session
	if session == 0 {
		return // an observed call: the caller manages the session
	}
	go func() {
		err := r.ledger.Pin(session, id, pid)
		for ; errors.Is(err, ledger.ErrLocked); err = r.ledger.Pin(session, id, pid) {
			time.Sleep(pinPause)
		}
		if err != nil {
			r.log.fault("record session id", err)
		}
		if err := r.ledger.Fold(); err != nil {
			r.log.fault("tidy up ledger", err)
		}
	}()
}

// finish records how the run ended, and releases the session's lease. It records a conversation's
// turns up to the last, except those that are recorded early. Once a day it starts a prune.
func (r *ran) finish() {
	defer r.Close()
	if r.ticket == nil {
		return // the caller has sent a scout no message
	}
	r.recording.Wait()
	id := r.Stream.Seen().ID
	file, stamp, err := r.sessions().Find(id)
	if err != nil && id != "" {
		r.log.fault("find session file", err)
	}
	// the session is a row, which the stream reads
	if err == nil && r.tool.Descriptor().SessionQuery != "" {
		r.Unbroken(func() { r.Stream.File(file, []byte(stamp)) })
	}
	r.noteProof()
	turns := r.turns()
	outcomes := r.outcomes(turns, r.status, r.Plan)
	own, end := outcomes[0], outcomes[len(outcomes)-1]
	end.File, end.Stamp, end.Revision = file, stamp, r.revision()
	end.Left = r.leftFiles(end, filesOf(turns))
	if r.ticket.Recorded == 0 {
		r.record.Prompt = r.sentIn(turns)
	}
	// A conversation that failed after the last turn keeps the end of that: a copy is cut there.
	if r.ticket.Recorded < len(turns) || r.status == (supervise.Status{}) {
		if err := r.book.finish(r.ticket, outcomes...); err != nil {
			r.log.fault("record outcome", err)
		}
	}
	r.noteUnread(own)
	r.log.done(r.decision, r.record.Rule, own)
	if r.decision.Mode != rewrite.Observe {
		r.startPrune()
	}
}

// seen returns the facts that the run's output has shown.
func (r *ran) seen() rewrite.StreamState {
	seen := *r.Stream.Seen()
	seen.Failed = seen.Failed || r.Broken || r.Prompted // the session's input is not known
	// the session has an answer that the caller has not
	if r.Undelivered() != nil {
		seen.Failed, seen.TurnLimit, seen.Outside = true, false, reason.Interrupted
	}
	if r.Stopped != 0 {
		seen.Outside = reason.Interrupted
	}
	// No event ends a text. gemini 0.61.0, told to end while a tool runs, exits with 0 and leaves
	// half an answer.
	seen.Failed = seen.Failed || r.Stopped != 0 && r.record.Format == rewrite.Text
	if r.Stopped != 0 && r.status != (supervise.Status{}) {
		// the answer is cut short, and digests of it would take time
		seen.Answer, seen.Texts = "", nil
	}
	if r.Forgotten() {
		seen.Refusal = reason.Forgotten
	}
	return seen
}

// leftFiles returns the files that the session's runs have changed, "" if it will not be continued
// after such an outcome.
func (r *ran) leftFiles(o *ledger.Outcome, given []string) string {
	if r.ticket.Session == 0 || !o.Good() && !o.Stopped() {
		return ""
	}
	run := work.Run{Started: r.started, Given: given, Shell: o.Seen.Shell, Answer: o.Seen.Answer}
	return r.project().Left(run, r.ticket.Left)
}

// noteUnread records whether the output of a run that ended well was understood, if that is news
// about the binary.
func (d *decided) noteUnread(o *ledger.Outcome) {
	if unread := o.Unread(); unread != d.known.Unread && (unread || o.Good()) {
		d.learnBinary(d.real.Fingerprint(), func(b *ledger.Binary) {
			b.Unread, b.Version = unread, cmp.Or(b.Version, o.Seen.Version)
		})
	}
}

// mostForgotten is the number of resumes in a row without the session's history after which a
// binary counts as unable to resume.
const mostForgotten = 2

// noteNoResume records that a binary does not know the resume option, or has not loaded the
// session.
func (d *decided) noteNoResume(why reason.Code) {
	switch why {
	case reason.RefusedNoResume:
		d.learnBinary(d.runtime(), func(b *ledger.Binary) { b.NoResume = true })
	case reason.Forgotten:
		d.learnBinary(d.runtime(), func(b *ledger.Binary) {
			b.Forgot++
			b.NoResume = b.NoResume || b.Forgot >= mostForgotten
		})
	}
}

// noteProof records whether a run that was resumed and shown had the session, if that is news about
// the binary.
func (r *ran) noteProof() {
	switch {
	case r.Forgotten():
		r.noteNoResume(reason.Forgotten)
	case r.known.Forgot > 0 && r.Plan.Least != 0 && r.Stream.Seen().First.Known:
		r.learnBinary(r.runtime(), func(b *ledger.Binary) { b.Forgot = 0 })
	}
}
