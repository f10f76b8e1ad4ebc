package decide

import (
	"cmp"
	"slices"

	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A Decision is the handling of a call: the mode, and the chain it belongs to.
type Decision struct {
	Mode    rewrite.Mode
	Reason  reason.Code
	Detail  reason.Code // more on the reason: why a session is dead
	Changed []string    // names of changes, if Reason says that there are some
	Chain   int64       // 0 to begin a new chain
	Session int64       // the session to continue if Mode is Resume or Fork
	// NativeID and Continuity identify the session to continue and its prompts.
	NativeID   string
	Copy       bool   // continue in a copy of it
	ForkAt     string // the last message that the copy keeps if Mode is Fork
	Continuity prompt.Continuity
	// that the call continues it; with no_evidence the evidence that did not suffice
	Evidence Evidence
	Whole    reason.Code // why to send the whole prompt, never a delta; "" for no such reason
	Rounds   Rounds      // of the session, with this one
	// Prices are the figures behind the reason dearer.
	Prices Prices
	Of     SessionRecord // the chain's session
	// the chain's newest session, and whether two of its calls have run at once
	Newest     int64
	Concurrent bool
}

// Decide decides whether a call is resumed. It is a pure function: equal facts yield equal
// decisions, and time counts only through Limits. A call that is not provably a continuation is
// fresh.
func Decide(f Facts) Decision {
	if f.Never {
		return Decision{Mode: rewrite.Fresh, Reason: reason.Never}
	}
	chain, why := choose(f)
	if chain == nil {
		return unchosen(f, why)
	}
	d := Decision{Mode: rewrite.Fresh, Reason: why}
	d.Chain, d.Of = chain.Chain, chain.SessionRecord
	d.Newest, d.Concurrent = chain.Newest, chain.Concurrent
	if d.Reason == reason.BaseChanged && chain.Continuity.Relation == reason.Unrelated {
		d.Detail = reason.Unrelated
	}
	if d.Reason != "" {
		return d
	}
	if d.Reason, d.Detail, d.Changed = resumeBlocker(f, chain); d.Reason != "" {
		return d
	}
	if d.Prices, d.Reason = dearer(f, chain); d.Reason != "" {
		return d
	}
	if chain.Share < f.Limits.HoldOut { // late: only calls that would be resumed are compared
		d.Reason = reason.HeldOut
		return d
	}
	if chain.Held { // after all other blockers: those would remain after waiting
		d.Reason = reason.Leased
		if f.forks() {
			d.Detail = reason.NothingToFork
		}
		return d
	}
	if d.Reason = f.unproven(chain); d.Reason != "" {
		return d
	}
	rounds, stuck := f.rounds(chain)
	if stuck && chain.StateWhy != reason.TurnLimit {
		d.Reason = reason.NoProgress
		return d
	}
	d.goOn(f, chain)
	d.Rounds = rounds
	return d
}

// unchosen decides a call for which no session was chosen, for that reason.
func unchosen(f Facts, why reason.Code) Decision {
	d := Decision{Mode: rewrite.Fresh, Reason: why}
	switch {
	case why == reason.FirstCall && len(f.Start) > 0:
		return start(f)
	case why == reason.NoEvidence:
		nearest, _ := repeated(continuable(f), f.GoesOn)
		d.Evidence = nearest.Shown()
	}
	return d
}

// goOn makes it the decision to go on with the chain's session.
func (d *Decision) goOn(f Facts, chain *ChainFacts) {
	d.Mode, d.Session, d.NativeID, d.Copy = rewrite.Resume, chain.Session, chain.NativeID, f.Copies
	if chain.Stored == StoredChanged {
		d.Mode, d.ForkAt = rewrite.Fork, chain.forkAt
	}
	d.Reason, d.Continuity, d.Evidence = chain.Continuity.Relation, chain.Continuity, chain.Shown()
	switch {
	case f.Limits.WholePrompt:
		d.Whole = reason.DeltaOff
	case chain.Compacted:
		d.Whole = reason.Compacted
	}
}

// start decides whether a role's first call begins as a copy of another role's session, as the rule
// asks. The prompt need not show anything, and is sent whole. Everything that keeps that role's own
// next call fresh keeps this one fresh too.
func start(f Facts) Decision {
	source := &f.Start[0]
	f.Past, f.ForkPoint = nil, nil // the other role's runs say nothing, nor is its session cut
	why, detail, _ := resumeBlocker(f, source)
	switch {
	case len(f.Start) > 1 || source.Concurrent:
		why, detail = reason.Ambiguous, ""
	case !f.Copies:
		why, detail = reason.NotCopied, ""
	case why != "":
	case source.Held, source.Stored == StoredChanged:
		why = reason.Leased
	case f.Limits.HoldOut > 0: // the chain's side of the comparison is not known yet
		why = reason.HeldOut
	default:
		if _, why = dearer(f, source); why == "" {
			why = f.unproven(source)
		}
	}
	if why != "" {
		return Decision{Mode: rewrite.Fresh, Reason: reason.FirstCall, Detail: cmp.Or(detail, why)}
	}
	return Decision{Mode: rewrite.Resume, Reason: reason.StartedFrom, Session: source.Session,
		NativeID: source.NativeID, Copy: true, Whole: reason.StartedFrom, Of: source.SessionRecord}
}

// beginsAnew are the reasons of a call that seems to continue nothing.
var beginsAnew = map[reason.Code]bool{reason.FirstCall: true, reason.NewJob: true,
	reason.NewRole:     true,
	reason.BaseChanged: true, reason.HistoryEdited: true}

// choose returns the call's session, and with it the chain; nil means a new chain. A reason
// returned with a session says why the call is fresh all the same.
func choose(f Facts) (*ChainFacts, reason.Code) {
	all := f.Chains
	f.Chains = continuable(f)
	var chain *ChainFacts
	var why reason.Code
	if f.Named {
		chain, why = chooseNamed(f, all)
	} else {
		chain, why = chooseUnnamed(f)
	}
	if chain == nil && f.Unseen != "" && beginsAnew[why] {
		why = f.Unseen
	}
	switch {
	case f.Fresh != "":
		why = f.Fresh
	case chain == nil:
	case chain.Reset:
		why = reason.ContextReset
	case f.Attempt != rewrite.NoAttempt && slices.ContainsFunc(all, func(c ChainFacts) bool {
		return c.Chain == chain.Chain && c.Attempt != nil && *c.Attempt > f.Attempt
	}):
		why = reason.AttemptReset
	}
	return chain, why
}

// Unrecorded reports whether the caller can know the answer of a run while its session is still in
// use: the prompt shows more than that session was sent.
func (f *Facts) Unrecorded() bool {
	if f.Never || f.NoResume || f.HookSet || f.Fresh != "" {
		return false
	}
	return slices.ContainsFunc(f.Chains, func(c ChainFacts) bool {
		switch {
		case !c.Held:
			return false
		case f.Named:
			return c.Continuity.Relation != reason.Identical
		}
		return c.Continuity.ShowsMore() || c.Continuity.Relation == reason.Extends && f.GoesOn(&c)
	})
}

// continuable removes sessions that ended badly if their chain has another one to continue, and
// copies in progress if the call does not wait for them: their sources represent them. It marks
// preambles among the others.
func continuable(f Facts) []ChainFacts {
	return markPreambles(slices.DeleteFunc(slices.Clone(f.Chains), func(c ChainFacts) bool {
		if c.State == Live || c.Held && !(f.forks() && c.Parent != 0) {
			return false
		}
		return slices.ContainsFunc(f.Chains, func(o ChainFacts) bool {
			return o.Chain == c.Chain && o.State == Live
		})
	}))
}

// chooseNamed chooses if the task is known to be the same. As long as the name leads to one
// session, a prompt that goes on with the text continues it, except a prompt that is repeated,
// shows another history or only removes text. Otherwise, and for these, the prompt itself must show
// which session it continues. all are the sessions that the name leads to; some of them cannot be
// continued.
func chooseNamed(f Facts, all []ChainFacts) (*ChainFacts, reason.Code) {
	switch {
	case len(f.Chains) == 0 && f.Others:
		return nil, reason.NewRole
	case len(f.Chains) == 0:
		return nil, reason.FirstCall
	}
	newest := &f.Chains[0]
	if f.Chains = slices.DeleteFunc(slices.Clone(f.Chains), f.otherTemplate); len(f.Chains) == 0 {
		return newest, reason.BaseChanged
	}
	end, why := byName(f, slices.ContainsFunc(all, func(c ChainFacts) bool {
		return c.Held && !f.otherTemplate(c)
	}))
	c, several := repeated(f.Chains, (*ChainFacts).singledOut)
	same := c != nil && c.Continuity.Relation == reason.Identical && !f.Limits.ResumeSame
	switch {
	case same:
		return c, reason.Identical
	case why == "":
		return end, f.ended(end)
	case several:
		return end, reason.Ambiguous
	case c == nil:
		return end, why
	}
	return c, f.ended(c)
}

// otherTemplate reports whether a prompt has nothing to do with the session's prompts or answers,
// so that a name alone does not lead there.
func (f *Facts) otherTemplate(c ChainFacts) bool {
	if f.Limits.Unrelated {
		return false
	}
	return c.Continuity.Replaced && !f.proven(&c) ||
		c.Continuity.Relation == reason.Unrelated && !c.QuotesLong() && !f.quotesOwn(&c)
}

// quotesOwn reports whether the prompt shows the newest answer as the session's own, and the same
// caller goes on with work that stands.
func (f *Facts) quotesOwn(c *ChainFacts) bool {
	e, p := &c.Continuity.Evidence, &c.Evidence
	return e.Own && p.Answer && p.Work && p.Caller != ""
}

// singledOut reports whether the prompt itself shows that the session can be meant, of several of a
// name.
func (c *ChainFacts) singledOut() bool {
	return c.Continuity.Relation == reason.Extends ||
		c.HasFirstPrompt() && c.Continuity.Evidence.Answer > 0 || c.QuotesLong()
}

// ended returns why a named call does not continue a session, "" if it does: the prompt ends the
// conversation, or shows an answer as the session's that is not.
func (f *Facts) ended(c *ChainFacts) reason.Code {
	e := &c.Continuity.Evidence
	switch {
	case f.Limits.Unrelated:
		return ""
	case c.Continuity.Relation == reason.Identical, e.Transcript:
		return ""
	case e.Shown != "" && e.Answer == 0:
		return reason.HistoryEdited
	}
	if f.Strong {
		return c.against(endingNames...)
	}
	return f.objection(c)
}

// byName returns the session that a name leads to, or why the name alone does not suffice: there
// are, or were, several that the name does not distinguish.
func byName(f Facts, busy bool) (*ChainFacts, reason.Code) {
	end, ends := &f.Chains[0], 0
	for i := range f.Chains {
		if c := &f.Chains[i]; !c.Reset && !slices.ContainsFunc(f.Chains,
			func(o ChainFacts) bool { return o.Parent == c.Session }) {
			if ends++; ends == 1 {
				end = c
			}
		}
	}
	switch r := end.Continuity.Relation; {
	case busy && (ends != 1 || !end.Held):
		return end, reason.Leased
	case ends > 1, end.Concurrent && end.State == Live:
		return end, reason.Ambiguous
	case r == reason.Identical && f.Limits.ResumeSame:
	case r == reason.Identical, r == reason.HistoryEdited, r == reason.BaseChanged:
		return end, r
	}
	return end, ""
}

// chooseUnnamed finds the session by continuity alone: the one for which this prompt repeats
// everything it was sent, and continues the work.
func chooseUnnamed(f Facts) (*ChainFacts, reason.Code) {
	switch c, several := repeated(f.Chains, f.GoesOn); {
	case several:
		return nil, reason.Ambiguous
	case c == nil:
	case c.Continuity.Relation == reason.Identical:
		return chooseIdentical(f, c)
	case f.Limits.Unnamed == rewrite.UnnamedOff:
		return nil, reason.UnnamedOff
	case f.More:
		return nil, reason.Ambiguous
	case c.BaseBytes < f.Limits.LeastBase():
		return nil, reason.BaseTooSmall
	default:
		if code := f.verdict(c); code != "" {
			return nil, code
		}
		return c, ""
	}
	switch {
	case slices.ContainsFunc(f.Chains, func(c ChainFacts) bool {
		return c.Continuity.Relation == reason.HistoryEdited
	}):
		return nil, reason.HistoryEdited
	case len(f.Chains) > 0:
		return nil, reason.BaseChanged
	case f.Others:
		return nil, reason.NewJob
	}
	return nil, reason.FirstCall
}

// LeastBase returns how long, in bytes, the prompt of a job that nothing names must be for a call
// to continue it.
func (l Limits) LeastBase() int {
	if l.Unnamed == rewrite.UnnamedExtends {
		return l.MinBase
	}
	return l.MinEvident
}

// GoesOn reports whether the call continues the session's work as far as the prompt and the events
// show.
func (f *Facts) GoesOn(c *ChainFacts) bool {
	return (f.extends(c) || f.proven(c)) && f.verdict(c) == ""
}

// repeated returns the session with the prompt that this one repeats. Preferred in this order: a
// continued session with an answer that the prompt shows; the continued session with the longest
// prompt; the newest session with the same prompt; the newest that the prompt extends. several
// reports that more than one can be meant.
func repeated(sessions []ChainFacts, goesOn func(*ChainFacts) bool) (c *ChainFacts, several bool) {
	var going []*ChainFacts
	var identical, extended *ChainFacts
	for i := range sessions {
		switch s := &sessions[i]; {
		case s.Continuity.Relation == reason.Identical:
			identical = cmp.Or(identical, s)
		case goesOn(s):
			going = append(going, s)
		case s.Continuity.Relation == reason.Extends:
			extended = cmp.Or(extended, s)
		}
	}
	if identical != nil { // the same prompt again continues nothing that led there
		going = slices.DeleteFunc(going, func(s *ChainFacts) bool {
			return s.within(identical, sessions)
		})
	}
	if len(going) == 0 {
		return cmp.Or(identical, extended), false
	}
	going = prefer(going, func(s *ChainFacts) bool { return s.Continuity.BeginsAlike })
	going = prefer(going, func(s *ChainFacts) bool { return s.Continuity.Evidence.Answer > 0 })
	if c = mostSent(going, sessions); c == nil {
		return nil, true
	}
	if othersMeant(c, sessions) {
		return nil, true
	}
	return c, false
}

// othersMeant reports whether the prompt can mean another session as well as c. Another one with
// the answer can be meant too. If the prompt does not repeat that session's, the answer is news for
// a session with work that stands; a session that only talked can be an item of a batch.
func othersMeant(c *ChainFacts, sessions []ChainFacts) bool {
	for i := range sessions {
		s := &sessions[i]
		if (s.twin(c) || s.supersedes(c)) && !c.Evidence.Answer && !c.Evidence.Transcript {
			return true
		}
		if s != c && s.Continuity.Evidence.Newest &&
			s.Continuity.BeginsAlike == c.Continuity.BeginsAlike &&
			(s.HasFirstPrompt() || !c.Evidence.Work) && !s.within(c, sessions) &&
			!(s.Chain == c.Chain && c.within(s, sessions)) {
			return true
		}
	}
	return false
}

// twin reports whether the same caller began another chain with the session's first prompt, which
// has ended and was sent all that the session was. Its traces, such as work of commands, need not
// be known.
func (c *ChainFacts) twin(o *ChainFacts) bool {
	return c.Chain != o.Chain && c.State == Live &&
		(c.Evidence.Caller != "" || c.Evidence.Terminal) &&
		slices.Equal(c.Continuity.Root, o.Continuity.Root) && Contains(c.Base, o.Base)
}

// supersedes reports whether the session began later than o, and with the prompt's first line,
// where the prompt replaces a few places of o's prompt. Of such rounds only the newest is gone on
// with.
func (c *ChainFacts) supersedes(o *ChainFacts) bool {
	return o.Continuity.Replaced && c.Session > o.Session && c.Continuity.BeginsAlike
}

// prefer returns the better ones of some sessions, all if none is better.
func prefer(some []*ChainFacts, better func(*ChainFacts) bool) []*ChainFacts {
	if chosen := slices.DeleteFunc(slices.Clone(some), func(s *ChainFacts) bool {
		return !better(s)
	}); len(chosen) > 0 {
		return chosen
	}
	return some
}

// mostSent returns the session that was sent everything the others were, nil if there is none.
func mostSent(some []*ChainFacts, sessions []ChainFacts) *ChainFacts {
	for _, c := range some {
		if !slices.ContainsFunc(some, func(o *ChainFacts) bool {
			return o != c && !o.within(c, sessions)
		}) {
			return c
		}
	}
	return nil
}

// within reports whether another session was sent everything that this one was, and more, or is
// derived from it.
func (c *ChainFacts) within(o *ChainFacts, sessions []ChainFacts) bool {
	if len(c.Base) < len(o.Base) && Contains(o.Base, c.Base) {
		return true
	}
	for at := o; ; {
		i := slices.IndexFunc(sessions, func(s ChainFacts) bool { return s.Session == at.Parent })
		if i < 0 {
			return false
		}
		if at = &sessions[i]; at.Session == c.Session {
			return true
		}
	}
}

// markPreambles marks the sessions with a first prompt that later prompts have continued in two
// different ways: such a text begins many jobs, and is none.
func markPreambles(sessions []ChainFacts) []ChainFacts {
	for i := range sessions {
		c := &sessions[i]
		root := c.Continuity.Root
		var later [][]prompt.Digest
		for k := 0; k < len(sessions) && len(later) < 2; k++ {
			o := &sessions[k]
			text := o.Base
			if o.Chain != c.Chain {
				text = o.Continuity.Root
			} else if o != c {
				continue // the rounds of one job
			}
			if len(text) > len(root) && Contains(text, root) &&
				!slices.ContainsFunc(later, func(l []prompt.Digest) bool {
					return Contains(l, text) || Contains(text, l)
				}) {
				later = append(later, text)
			}
		}
		c.Preamble = len(later) > 1
	}
	return sessions
}

// Contains reports whether part occurs in whole, in order.
func Contains(whole, part []prompt.Digest) bool {
	at := 0
	for _, d := range whole {
		if at < len(part) && d == part[at] {
			at++
		}
	}
	return at == len(part)
}

// chooseIdentical handles a repeated prompt. It is a loop or a sample and gets a separate chain,
// unless the earlier run left nothing to continue: then it is a retry and replaces that run.
func chooseIdentical(f Facts, c *ChainFacts) (*ChainFacts, reason.Code) {
	switch {
	case f.Fresh != "", (c.State != Live || c.StateWhy == reason.TurnLimit) && !c.Held:
		return c, reason.Identical
	case f.Limits.ResumeSame && c.BaseBytes >= f.Limits.MinBase:
		return c, ""
	}
	return nil, reason.Identical
}

// GoesBack reports whether a call can go on where a session stood before it was continued and that
// has ended: only if the prompt shows the answer.
func (l Limits) GoesBack(c *ChainFacts) bool {
	e := &c.Continuity.Evidence
	return l.Unnamed == rewrite.UnnamedExtends || c.Continuity.Relation == reason.Identical ||
		e.Answer > 0 || e.Transcript
}
