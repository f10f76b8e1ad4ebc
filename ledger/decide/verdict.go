package decide

import (
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// verdict returns why a call without a name does not continue a session, "" if it does. Whatever the
// evidence, the prompt must hold what the session was sent, or at least its whole answer.
func (f *Facts) verdict(c *ChainFacts) reason.Code {
	e, relation := &c.Continuity.Evidence, c.Continuity.Relation
	if relation == reason.Extends && f.Limits.Unnamed == UnnamedExtends && c.Continuity.BeginsAlike {
		if e.Shown != "" && e.Answer == 0 {
			return reason.HistoryEdited
		}
		return ""
	}
	p := &c.Proof
	stopped := c.StateWhy == reason.TurnLimit // it gave no answer: only words can refer to it
	flow, enough := p.Flow != 0 || p.Report != 0, false
	switch relation {
	case reason.Extends:
		enough = f.SameTask || !stopped && (p.Transcript || p.Answer || p.Caller != "" && (flow || p.Trace)) || p.Caller != "" && p.Past
	case reason.Revises:
		enough = p.Caller != "" && !stopped && (p.Answer || flow || p.Trace || p.Past)
	case reason.Unrelated:
		enough = p.Caller != "" && !stopped && c.QuotesLong() && f.PromptBytes < 2*e.Answer+shortPrompt
	}
	why := prompt.ReasonAgainst(c.Against)
	switch {
	case relation == reason.HistoryEdited:
		return reason.HistoryEdited
	case !enough && relation != reason.Extends:
		return reason.BaseChanged
	case why != "":
		return why
	case !enough:
		return reason.NoEvidence
	case c.AnswerShared && p.Answer && !p.Transcript:
		return reason.Ambiguous
	}
	return ""
}

// shortPrompt is how long, in bytes, a prompt may be beside the answer that it quotes if it repeats nothing
// that the session was sent.
const shortPrompt = 1 << 10
