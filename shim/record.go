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
)

// startPrune starts shimctl prune once a day: of all old sessions if the configuration asks for it, else of those that
// copies have continued.
func (c *call) startPrune() {
	auto, now := c.config.Prune.Auto, c.env.Now()
	what, args := ledger.PruneAll, []string{"prune", "--yes"}
	switch auto {
	case config.PruneOff:
		return
	case config.PruneCopies:
		what, args = ledger.PruneSuperseded, []string{"prune", "--yes", "--superseded"}
	}
	due, err := c.ledger.ClaimDaily(what, decide.MillisOf(now))
	if due && err == nil && auto == config.PruneCopies {
		due, err = c.ledger.HasSuperseded(decide.MillisOf(now.Add(-config.KeepSuperseded)))
	}
	if err != nil {
		c.log.fault("see whether to prune", err)
	}
	if !due {
		return
	}
	if err := startShimctl(c.env.Environ, args...); err != nil {
		c.log.fault("start prune", err)
	}
}

// pinPause is the time between two attempts to write to a locked ledger.
const pinPause = 50 * time.Millisecond

// pin records the session's ID and the tool's process while the tool runs. It writes in a
// goroutine, so that the ledger does not delay the tool's output.
func (c *call) pin(id string, pid int) {
	session := c.ticket.Session
	if session == 0 {
		return // an observed call: the caller manages the session
	}
	go func() {
		err := c.ledger.Pin(session, id, pid)
		for ; errors.Is(err, ledger.ErrLocked); err = c.ledger.Pin(session, id, pid) {
			time.Sleep(pinPause)
		}
		if err != nil {
			c.log.fault("record session id", err)
		}
		if err := c.ledger.Fold(); err != nil {
			c.log.fault("tidy up ledger", err)
		}
	}()
}

// finish records how the run ended.
func (c *call) finish(a *supervise.Attempt, st supervise.Status) {
	turns := a.Input.Talk != nil && c.ticket.Session != 0
	file, stamp := "", decide.Stamp("")
	if !turns {
		file, stamp = c.storedSession(a)
	}
	seen := *a.Stream.Seen()
	seen.Failed = seen.Failed || a.Broken || a.Prompted // the session's input is not known
	if a.Undelivered() != nil {                         // the session has an answer that the caller has not
		seen.Failed, seen.TurnLimit, seen.Outside = true, false, reason.Interrupted
	}
	if a.Stopped != 0 {
		seen.Outside = reason.Interrupted
	}
	// No event ends a text. gemini 0.61.0, told to end while a tool runs, exits with 0 and leaves what looks like an answer.
	seen.Failed = seen.Failed || a.Stopped != 0 && c.record.Format == rewrite.Text
	if a.Stopped != 0 && st != (supervise.Status{}) {
		seen.Answer, seen.Texts = "", nil // the answer is cut short, and digests of it would take time
	}
	c.noteProof(a, &seen)
	c.spoke = a.Spoke
	var o ledger.Outcome
	var err error
	if turns {
		o, err = c.finishTurns(a, st, seen)
	} else {
		o = c.outcome(seen, st, a.Plan)
		o.Place = c.place(c.record.Cwd)
		o.File, o.Stamp, o.Left = file, stamp, c.leftFiles(&o, seen.Files)
		err = c.book().finish(&o)
	}
	if err != nil {
		c.log.fault("record outcome", err)
	}
	c.noteUnread(&o)
	c.log.done(c.decision, c.record.Rule, &o)
	a.Close()
}

// noteUnread records whether the output of a run that ended well was understood, if that is news about the binary.
func (c *call) noteUnread(o *ledger.Outcome) {
	if unread := o.Unread(); unread != c.known.Unread && (unread || o.Good()) {
		c.learnBinary(c.real.Fingerprint(), func(b *ledger.Binary) { b.Unread, b.Version = unread, cmp.Or(b.Version, o.Seen.Version) })
	}
}

// outcome returns the outcome of a run or turn, without the state of the session.
func (c *call) outcome(seen rewrite.StreamState, st supervise.Status, plan rewrite.Plan) ledger.Outcome {
	o := ledger.Outcome{
		Plain: c.record.Format == rewrite.Text && c.parsed.Format != rewrite.Text, Printed: c.spoke,
		Now: decide.MillisOf(c.env.Now()), Exit: st.Exit, Signal: int(st.Signal), Seen: seen, IDFormat: rewrite.StreamJSON, Sent: len(plan.Prompt), WhyWhole: plan.WhyWhole,
	}
	if c.rule.Rule != nil {
		o.Resets = c.rule.ResetBy(seen.Answer)
	}
	return o
}

// countPassed counts a headless call that is passed through, for status, also from within a run. It never
// waits; if it cannot write, the call is not counted.
func (c *call) countPassed(why reason.Code) reason.Code {
	tool, known := rewrite.Lookup(c.name)
	if !known || c.slow {
		return ""
	}
	in := c.invocation()
	chosen := why == reason.Nested || why == reason.SwitchedOff || why == reason.Disabled
	if !chosen && !rewrite.Missed(tool, in, why) {
		return ""
	}
	if c.tool == nil { // nothing is known of the call yet: the configuration cannot be read, or the call is switched off
		c.parsed = tool.Parse(in)
		if c.parsed.Mode == rewrite.Passthrough && !rewrite.Missed(tool, in, c.parsed.Reason) {
			return ""
		}
	}
	if _, err := c.target(); err != nil {
		return "" // nothing will run
	}
	path, err := config.LedgerFile(c.env.Own)
	if err != nil {
		return ""
	}
	if cwd, err := workingDir(c.parsed.Dir); err == nil {
		passed := ledger.Passed{Tool: c.name, Cwd: cwd, Reason: why, When: decide.MillisOf(c.started), Detail: c.failure()}
		_, _ = inTime(c, func() (none struct{}, err error) { return none, ledger.NotePassed(path, passed) })
	}
	return ""
}

// failure says where the user's configuration has the first mistake, or names another failure, "" for none. It holds no value
// of the configuration.
func (c *call) failure() string {
	var mistakes config.Mistakes
	switch {
	case c.failed == nil:
		return ""
	case errors.As(c.failed, &mistakes):
		return mistakes[0].Place()
	}
	return c.failed.Error()
}

// mostForgotten is how many resumes in a row a binary has not made when it counts as one that does not resume.
const mostForgotten = 2

// noteNoResume records that a binary does not know the resume option, or has not loaded the session.
func (c *call) noteNoResume(why reason.Code) {
	switch why {
	case reason.RefusedNoResume:
		c.learnBinary(c.runtime(), func(b *ledger.Binary) { b.NoResume = true })
	case reason.Forgotten:
		c.learnBinary(c.runtime(), func(b *ledger.Binary) {
			b.Forgot++
			b.NoResume = b.NoResume || b.Forgot >= mostForgotten
		})
	}
}

// noteProof records of a resumed run that was shown whether it had the session, where that was not known before.
func (c *call) noteProof(a *supervise.Attempt, seen *rewrite.StreamState) {
	switch {
	case a.Plan.Least == 0 || !seen.First.Known:
	case a.Forgotten():
		seen.Refusal = reason.Forgotten
		c.noteNoResume(reason.Forgotten)
	case c.known.Forgot > 0:
		c.learnBinary(c.runtime(), func(b *ledger.Binary) { b.Forgot = 0 })
	}
}
