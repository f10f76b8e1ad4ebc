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

// sessionFor returns the session of a call as its run begins. from is the session that the decision
// goes on with, nil for none.
func sessionFor(c *Call, d *decide.Decision, from *Session) Session {
	switch {
	case from == nil:
		return newSession(c)
	case d.Reason == reason.StartedFrom:
		// It is a role's first, a copy of another role's. The other role's prompts and answers are
		// not part of it: later calls must show their own.
		s := newSession(c)
		s.Created, s.Compacted = from.Created, from.Compacted
		s.ContextUsed, s.ContextLimit = from.ContextUsed, from.ContextLimit
		s.Totals, s.Turns, s.FirstModel, s.LeftFiles = from.Totals, from.Turns, from.FirstModel,
			from.LeftFiles
		return s
	}
	s := *from
	if d.Copy { // it was sent and answered the same, and has the same age
		s.NativeID, s.ToolVersion, s.File, s.Stamp = "", "", "", ""
		s.StateWhy, s.Reset, s.CallersOwn, s.Errors = "", false, false, 0
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
	s.Base, s.BaseLines = encodeDigests(base.Blocks), appendNumbers(nil, base.Lines...)
	s.BaseOpening, s.BaseBytes = int64(base.Opening), base.Bytes
	s.Shape = encodeShape(base.Shape)
	return base
}

// run gives the session to a call's run. It counts as running until the run has ended well: if the
// shim dies, the session is not resumed.
func (s *Session) run(c *Call) {
	s.State, s.LastUsed, s.Caller = decide.Running, c.Now, c.Caller
	s.Revision = c.Revision
	if c.Attempt != rewrite.NoAttempt {
		s.Attempt = new(c.Attempt)
	}
}

// unfit are the refusals with a cause that is or might be in the session itself: it would be
// refused again, or a store cannot bring it.
var unfit = map[reason.Code]bool{
	reason.SessionMoved: true, reason.SessionGone: true,
	reason.RefusedUnknown: true, reason.RefusedOtherID: true, reason.RefusedContext: true,
	reason.RefusedBroken: true,
	reason.RefusedSilent: true, reason.NoAnswer: true, reason.Forgotten: true,
}

// errDamaged reports an Ending without the digests of the session's prompt.
var errDamaged = errors.New("the record is damaged")

// take makes a call's session the chain's newest. The chain begins anew with it only if no two of
// its calls have ever run at once; crowded says that another one runs. Where a session is
// continued, the chain is still found by the line that it began with.
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

// NewChain returns a chain of a call's name, without sessions.
func NewChain(c *Call) Chain {
	return Chain{Tool: c.Tool, Cwd: c.Cwd, Home: c.Home, Rule: c.Scope, Task: c.Task, Role: c.Role,
		Created: c.Now,
		Updated: c.Now}
}

// Begin carries out a decision in the chain, for a call of the name. from is the session that the
// decision goes on with, nil for none; a copy can be of another chain's. Begin returns the call's
// session, and the source of a copy.
func (c *Chain) Begin(call *Call, d decide.Decision, from *Session) (number, source int64) {
	crowded := c.crowded || slices.ContainsFunc(c.Sessions, func(s Session) bool { return s.InUse })
	// If the job begins anew, earlier sessions are over; otherwise they remain as other ends.
	started := d.Reason == reason.StartedFrom
	anew := started || from == nil &&
		(d.Mode.Continues() || d.Reason != reason.Ambiguous && d.Detail != reason.Unrelated)
	s := sessionFor(call, &d, from)
	if from != nil && !d.Copy {
		*from, number = s, s.ID
	} else {
		if from != nil {
			source = from.ID
		}
		s.Parent = source
		number = c.add(s)
	}
	c.take(number, call, crowded, anew, from != nil && !started)
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

// FallBack gives up the resume of a session, which is a copy of source unless that is 0. t is the
// call's ticket in the ledger of this machine. FallBack returns the call's new session.
func (c *Chain) FallBack(t *Ticket, session, source int64, why reason.Code) (number int64) {
	copied := source != 0
	sourceDies := copied && unfit[why] && !t.cut // a tool might have refused the cut alone
	onlyBusy := !copied && (why == reason.RefusedBusy || why == reason.LateStdin)
	s := c.at(session)
	s.State, s.StateWhy = decide.Dead, why
	if onlyBusy {
		s.State = decide.Live
	}
	s.Errors++
	if from := c.at(source); from != nil { // a session of the same chain
		from.Errors++
		if sourceDies {
			from.State, from.StateWhy = decide.Dead, why
		}
	}
	number = c.add(newSession(t.call))
	c.take(number, t.call, false, sourceDies || !copied && !onlyBusy, false)
	return number
}

// Finish records how the run of a session ended.
func (c *Chain) Finish(session int64, e *Ending) error {
	news, o, seen := &e.News, &e.Outcome, &e.Outcome.Seen
	if news.Base == nil {
		return errDamaged
	}
	c.ResetRoles(e.Cwd, e.Task, e.Resets)
	c.Updated = max(c.Updated, o.Now)
	s := c.at(session)
	s.State, s.StateWhy, _ = o.State()
	s.LastUsed = o.Now
	s.Turns, s.Errors = s.Turns+e.Ended, s.Errors+e.Failed
	s.NativeID, s.File, s.Stamp = seen.ID, o.File, o.Stamp
	s.ToolVersion = cmp.Or(seen.Version, s.ToolVersion)
	s.FirstModel = cmp.Or(s.FirstModel, seen.Model)
	s.Base, s.BaseOpening, s.BaseBytes = news.Base, news.BaseOpening, news.BaseBytes
	s.BaseLines, s.Shape = news.BaseLines, news.Shape
	things := slices.Concat(news.Things, s.Things) // the newest are kept
	s.Things = things[:min(len(things), prompt.MaxThings*markSize)]
	s.Answers = slices.Concat(s.Answers, news.Answers)
	s.Said = slices.Concat(s.Said, news.Said)
	s.Transcript = s.Transcript || news.Transcript
	s.Compacted = s.Compacted || seen.Compacted
	s.ContextUsed, s.ContextLimit = seen.ContextUse.Used, seen.ContextUse.Limit
	s.Totals, s.Revision, s.LeftFiles = seen.Totals, o.Revision, o.Left
	source := c.at(s.Parent) // if it is a copy of one of the chain
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

// at returns the session with a number, nil for none.
func (c *Chain) at(number int64) *Session {
	if i := slices.IndexFunc(c.Sessions, func(s Session) bool { return s.ID == number }); i >= 0 {
		return &c.Sessions[i]
	}
	return nil
}

// ResetRoles ends the chain's sessions if it has one of these roles in a task.
func (c *Chain) ResetRoles(cwd, task string, roles []string) {
	isOurs := func(role string) bool { return prompt.IsRole(c.Role, role) }
	if c.Cwd == cwd && c.Task == task && slices.ContainsFunc(roles, isOurs) {
		for i := range c.Sessions {
			c.Sessions[i].Reset = true
		}
	}
}
