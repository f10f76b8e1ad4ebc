package decide

import (
	"cmp"

	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// verdict returns why a call without a name does not continue a session, "" if it does. Whatever
// happened, the prompt must repeat the session's prompt, or at least show the whole answer.
func (f *Facts) verdict(c *ChainFacts) reason.Code {
	e, relation := &c.Continuity.Evidence, c.Continuity.Relation
	switch {
	case f.extends(c):
		if e.Shown != "" && e.Answer == 0 {
			return reason.HistoryEdited
		}
		return ""
	case relation == reason.HistoryEdited:
		return reason.HistoryEdited
	case f.proven(c):
		if c.AnswerShared && c.Evidence.Answer && !c.Evidence.Transcript {
			return cmp.Or(f.objection(c), reason.Ambiguous)
		}
		return f.objection(c)
	case relation == reason.Extends:
		return cmp.Or(f.objection(c), reason.NoEvidence)
	}
	return reason.BaseChanged
}

// extends reports whether the prompt extends the session's, and that suffices.
func (f *Facts) extends(c *ChainFacts) bool {
	return c.Continuity.Relation == reason.Extends && f.Limits.Unnamed == rewrite.UnnamedExtends &&
		c.Continuity.BeginsAlike
}

// proven reports whether the facts suffice for the relation of the prompt to the session.
func (f *Facts) proven(c *ChainFacts) bool {
	p, e := &c.Evidence, &c.Continuity.Evidence
	// below other lines the history is compared less strictly
	conversation := c.Continuity.Transcript && c.Continuity.BeginsAlike
	caller := p.Caller != "" || p.Terminal && (p.Answer || c.Shown().Failure)
	new := p.Flow != 0 || p.Trace
	if c.StateWhy == reason.TurnLimit { // it gave no answer, so that others can refer to none
		new = false
	}
	switch c.Continuity.Relation {
	case reason.Extends:
		return f.SameTask || p.Transcript || caller && (p.Work || new || c.Shown().Rejected) ||
			p.Answer && (p.Work || new || e.Log || conversation ||
				caller && (e.Own || c.Shown().Failure))
	case reason.Revises:
		if c.Continuity.Replaced {
			return f.quotesOwn(c) ||
				caller && p.Work && p.Trace && !c.Preamble && (f.Strong || !c.Continuity.Reassigned)
		}
		return caller && p.Work && (p.Answer || !c.Preamble && (new || e.Log || c.Shown().Failure))
	case reason.Unrelated:
		short := f.PromptBytes < 2*e.Answer+shortPrompt
		return caller && short && c.QuotesLong() && (p.Work || e.Log)
	}
	return false
}

// The kinds of words that speak against a resume although the session's work stands and the same
// caller goes on with it, and the kinds that end a conversation although a rule names task and
// role.
var (
	besideWork  = []string{"item", "role", "judge", "clean", "arm", "base", "apart"}
	endingNames = []string{"role", "clean", "apart"}
)

// objection returns the reason of the words that speak against a resume, "" if there are none.
func (f *Facts) objection(c *ChainFacts) reason.Code {
	if c.Evidence.Work && c.Evidence.Caller != "" {
		return c.against(besideWork...)
	}
	return c.against()
}

// against returns the reason of the first objection of some kinds, of any kind if none is given.
func (c *ChainFacts) against(kinds ...string) reason.Code {
	if c.Against == nil {
		return ""
	}
	return prompt.ReasonAgainst(c.Against(), kinds...)
}

// shortPrompt is the greatest length in bytes of a prompt beside the answer that it shows, if it
// repeats nothing else of the session.
const shortPrompt = 1 << 10
