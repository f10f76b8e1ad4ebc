package ledger

import (
	"cmp"
	"errors"
	"slices"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// sessionFor returns the session of a call as its run begins. from is the session that the decision goes on
// with, nil for none.
func sessionFor(c *Call, d *decide.Decision, from *Session) Session {
	switch {
	case from == nil:
		return newSession(c)
	case d.Reason == reason.StartedFrom:
		return newSession(c).startedFrom(from)
	}
	s := *from
	if d.Copy {
		s = from.copied()
	}
	s.run(c)
	s.Rounds = d.Rounds
	return s
}

func newSession(c *Call) Session {
	var s Session
	s.Created, s.Fingerprints = c.Now, c.Fingerprints
	base := s.send(c.Prompt)
	s.Root = encodeDigests(append([]prompt.Digest{base.First}, base.Blocks...))
	s.run(c)
	return s
}

func (s *Session) send(p *prompt.Prompt) prompt.Footprint {
	base := p.Footprint()
	s.Base, s.BaseLines = encodeDigests(base.Blocks), encodeLines(base.Lines)
	s.BaseOpening, s.BaseBytes = int64(base.Opening), base.Bytes
	s.Shape = encodeShape(base.Shape)
	return base
}

// run gives the session to a call's run. It counts as running until the run has ended well: if the shim dies, the
// session is not resumed.
func (s *Session) run(c *Call) {
	s.State, s.LastUsed, s.Caller = decide.Running, c.Now, c.Caller
	s.Revision = c.Revision
	if c.Attempt != rewrite.NoAttempt {
		s.Attempt = new(c.Attempt)
	}
}

// copied returns the session that a copy will be. It was sent and answered the same, and has the same age.
func (s *Session) copied() Session {
	k := *s
	k.NativeID, k.ToolVersion, k.File, k.Stamp = "", "", "", ""
	k.StateWhy, k.Reset, k.CallersOwn, k.Errors = "", false, false, 0
	return k
}

// startedFrom returns a role's first session, which is a copy of another role's. The other role's prompts and
// answers are not part of it: later calls must show their own.
func (s Session) startedFrom(other *Session) Session {
	s.Created, s.Compacted = other.Created, other.Compacted
	s.ContextUsed, s.ContextLimit = other.ContextUsed, other.ContextLimit
	s.Totals, s.Turns, s.FirstModel, s.LeftFiles = other.Totals, other.Turns, other.FirstModel, other.LeftFiles
	return s
}

// unfit are the refusals with a cause that is or might be in the session itself: it would be refused again, or a
// store cannot bring it.
var unfit = map[reason.Code]bool{
	reason.SessionMoved: true, reason.SessionGone: true,
	reason.RefusedUnknown: true, reason.RefusedOtherID: true, reason.RefusedContext: true, reason.RefusedBroken: true,
	reason.RefusedSilent: true, reason.NoAnswer: true, reason.Forgotten: true,
}

// A refusal is a resume that is given up.
type refusal struct {
	why    reason.Code
	copied bool // the session is a copy
	cut    bool // it is a copy of a part only, and the tool might have refused the cut
}

func (r refusal) sourceDies() bool { return r.copied && unfit[r.why] && !r.cut }

func (r refusal) onlyBusy() bool {
	return !r.copied && (r.why == reason.RefusedBusy || r.why == reason.LateStdin)
}

// anew reports whether the chain begins anew with the fresh run.
func (r refusal) anew() bool { return r.sourceDies() || !r.copied && !r.onlyBusy() }

// refuse records the refusal with the session. source is the session of the same chain that it is a copy of,
// nil for none.
func (s *Session) refuse(r refusal, source *Session) {
	s.State, s.StateWhy = decide.Dead, r.why
	if r.onlyBusy() {
		s.State = decide.Live
	}
	s.Errors++
	if source == nil {
		return
	}
	source.Errors++
	if r.sourceDies() {
		source.State, source.StateWhy = decide.Dead, r.why
	}
}

// errDamaged reports an Ending without the digests of the session's prompt.
var errDamaged = errors.New("the record is damaged")

// finish records how a run of the session ended. source is the session of the same chain that it is a copy of,
// nil for none.
func (s *Session) finish(e *Ending, source *Session) error {
	news := &e.News
	if news.Base == nil {
		return errDamaged
	}
	o := &e.Outcome
	seen := &o.Seen
	s.State, s.StateWhy = o.sessionState()
	s.LastUsed = o.Now
	s.Turns, s.Errors = s.Turns+e.Ended, s.Errors+e.Failed
	s.NativeID, s.File, s.Stamp = seen.ID, o.File, o.Stamp
	s.ToolVersion = cmp.Or(seen.Version, s.ToolVersion)
	s.FirstModel = cmp.Or(s.FirstModel, seen.Model)
	s.Base, s.BaseOpening, s.BaseBytes = news.Base, news.BaseOpening, news.BaseBytes
	s.BaseLines, s.Shape = news.BaseLines, news.Shape
	things := slices.Concat(news.Things, s.Things) // the newest are kept
	s.Things = things[:min(len(things), prompt.MaxThings*markSize)]
	s.Answers, s.Said = slices.Concat(s.Answers, news.Answers), slices.Concat(s.Said, news.Said)
	s.Transcript, s.Compacted = s.Transcript || news.Transcript, s.Compacted || seen.Compacted
	s.ContextUsed, s.ContextLimit, s.Totals = seen.ContextUse.Used, seen.ContextUse.Limit, seen.Totals
	s.Revision, s.LeftFiles = o.Revision, o.Left
	if s.State == decide.Live || source == nil {
		return nil
	}
	// It is continued again, though not forever.
	source.Errors++
	if against := o.against(); against != "" && source.State == decide.Live {
		source.StateWhy = against
	}
	return nil
}

// take makes a call's session the chain's newest. The chain begins anew with it only if no two of its calls have ever
// run at once; crowded says that another one runs. Where a session is continued, the chain is still found by the line
// that it began with.
func (c *Chain) take(session int64, call *Call, crowded, anew, continued bool) {
	c.Concurrent = c.Concurrent || crowded
	if anew && !c.Concurrent {
		c.Since = session
	}
	c.Since, c.Newest = cmp.Or(c.Since, c.Newest), session
	if !continued {
		c.FirstLine = call.FirstLine()
	}
	c.Updated = max(c.Updated, call.Now)
}

// joins says how a decision joins a call's session to its chain. from is the session that it goes on with, nil
// for none. If the job begins anew, earlier sessions are over; otherwise they remain as other ends of the
// chain.
func joins(d *decide.Decision, from *Session) (anew, continued bool) {
	if from != nil {
		return d.Reason == reason.StartedFrom, d.Reason != reason.StartedFrom
	}
	return d.Mode.Continues() || d.Reason != reason.Ambiguous && d.Detail != reason.Unrelated, false
}

// NewChain returns a chain of a call's name, without sessions.
func NewChain(c *Call) Chain {
	return Chain{Tool: c.Tool, Cwd: c.Cwd, Home: c.Home, Rule: c.Scope, Task: c.Task, Role: c.Role, Created: c.Now,
		Updated: c.Now}
}

// IsOf reports whether the chain has the name of a call.
func (c *Chain) IsOf(call *Call) bool {
	return c.Tool == call.Tool && c.Cwd == call.Cwd && c.Home == call.Home && c.Rule == call.Scope &&
		c.Task == call.Task && c.Role == call.Role
}

// Begin carries out a decision in the chain, for a call of the name. from is the session that the
// decision goes on with, 0 for none. Begin returns the call's session, and the source of a copy.
func (c *Chain) Begin(call *Call, d decide.Decision, from int64) (number, source int64) {
	crowded := c.crowded || slices.ContainsFunc(c.Sessions, func(s Session) bool { return s.InUse })
	goneOn := c.at(from)
	anew, continued := joins(&d, goneOn)
	s := sessionFor(call, &d, goneOn)
	if goneOn != nil && !d.Copy {
		*goneOn, number = s, from
	} else {
		s.Parent, source = from, from
		number = c.add(s)
	}
	c.take(number, call, crowded, anew, continued)
	return number, source
}

func (c *Chain) add(s Session) (number int64) {
	s.ID = c.last
	for i := range c.Sessions {
		s.ID = max(s.ID, c.Sessions[i].ID)
	}
	s.ID++
	c.Sessions = append(c.Sessions, s)
	return s.ID
}

// FallBack gives up the resume of a session, which is a copy of source unless that is 0. t is the call's ticket
// in the ledger of this machine. FallBack returns the call's new session.
func (c *Chain) FallBack(t *Ticket, session, source int64, why reason.Code) (number int64) {
	r := refusal{why, source != 0, t.cut}
	c.at(session).refuse(r, c.at(source))
	number = c.add(newSession(t.call))
	c.take(number, t.call, false, r.anew(), false)
	return number
}

// Finish records how the run of a session ended.
func (c *Chain) Finish(session int64, e *Ending) error {
	c.ResetRoles(e.Cwd, e.Task, e.Resets)
	c.Updated = max(c.Updated, e.Outcome.Now)
	s := c.at(session)
	return s.finish(e, c.at(s.Parent))
}

// at returns the session with a number, nil for none.
func (c *Chain) at(number int64) *Session {
	if i := slices.IndexFunc(c.Sessions, func(s Session) bool { return s.ID == number }); i >= 0 {
		return &c.Sessions[i]
	}
	if c.other != nil && c.other.ID == number {
		return c.other
	}
	return nil
}

// ResetRoles ends the chain's sessions if it has one of these roles in a task.
func (c *Chain) ResetRoles(cwd, task string, roles []string) {
	if c.hasRole(cwd, task, roles) {
		for i := range c.Sessions {
			c.Sessions[i].Reset = true
		}
	}
}

func (c *Chain) hasRole(cwd, task string, roles []string) bool {
	return c.Cwd == cwd && c.Task == task && slices.ContainsFunc(roles,
		func(role string) bool { return prompt.IsRole(c.Role, role) })
}
