package ledger

import (
	"fmt"

	"reprise/rewrite"
)

// A Proof is what shows that a call continues a session, as far as it is known. It holds no text.
type Proof struct {
	Transcript bool   `json:"transcript,omitempty"` // the prompt shows every answer, unchanged, and a new turn
	Answer     bool   `json:"answer,omitempty"`     // it shows the session's newest answer
	Flow       int64  `json:"flow,omitempty"`       // the call, whose answer since then the prompt shows, 0 for none
	Trace      bool   `json:"trace,omitempty"`      // it names what the session touched or said first
	Past       bool   `json:"past,omitempty"`       // it says how the session's last run turned out
	Caller     string `json:"caller,omitempty"`     // the program of which one run made both calls, "" if none is known
}

// Sentences returns the facts of a proof, one a sentence.
func (p Proof) Sentences() (facts []string) {
	add := func(known bool, sentence string) {
		if known {
			facts = append(facts, sentence)
		}
	}
	add(p.Transcript, "the prompt shows the whole conversation, unchanged")
	add(p.Answer && !p.Transcript, "the session's own answer stands in the prompt")
	add(p.Flow != 0, fmt.Sprintf("the answer of call %d stands in the prompt", p.Flow))
	add(p.Trace, "the prompt names what the session touched or said first")
	add(p.Past, "the prompt says how the session's last run turned out")
	add(p.Caller != "", "the same run of "+p.Caller+" made both calls")
	return facts
}

// proof returns what shows that the call continues a session.
func (f *Facts) proof(c *ChainFacts) Proof {
	e := &c.Continuity.Evidence
	p := Proof{Transcript: e.Transcript, Answer: e.Answer > 0 && e.Own, Flow: c.Flow, Trace: len(e.Trace) > 0, Past: e.Past() != ""}
	if name, same := f.Caller.sameAs(c.Caller, f.Now-c.LastUsed); same && f.Now >= c.LastUsed {
		p.Caller = name
	}
	return p
}

// Against returns what in the prompt speaks against continuing the session. The lines that are another's
// answer do not: the caller only passes them on.
func (c *ChainFacts) Against() []rewrite.Finding {
	return c.Continuity.Evidence.Against(func(text string) bool { return c.quoted[text] })
}

// verdict returns why a call without a name does not continue a session, "" if it does. Whatever the
// evidence, the prompt must hold what the session was sent, or at least its whole answer.
func (f *Facts) verdict(c *ChainFacts) rewrite.Reason {
	e, relation := &c.Continuity.Evidence, c.Continuity.Relation
	if relation == rewrite.Extends && f.Limits.Unnamed == UnnamedExtends && c.StateWhy != rewrite.TurnLimit {
		if e.Shown != "" && e.Answer == 0 {
			return rewrite.HistoryEdited
		}
		return ""
	}
	p := f.proof(c)
	stopped := c.StateWhy == rewrite.TurnLimit // it gave no answer: only words can refer to it
	enough := false
	switch relation {
	case rewrite.Extends:
		enough = !stopped && (p.Transcript || p.Answer || p.Caller != "" && (p.Flow != 0 || p.Trace)) || p.Caller != "" && p.Past
	case rewrite.Revises:
		enough = p.Caller != "" && !stopped && (p.Answer || p.Flow != 0 || p.Trace || p.Past)
	case rewrite.Unrelated:
		enough = p.Caller != "" && !stopped && p.Answer && e.Answer >= rewrite.LongAnswer && f.PromptBytes < 2*e.Answer+shortPrompt
	case rewrite.HistoryEdited:
		return rewrite.HistoryEdited
	default:
		return rewrite.BaseChanged
	}
	if reason := rewrite.ReasonAgainst(c.Against()); reason != "" && (enough || relation == rewrite.Extends) {
		return reason
	}
	if !enough && relation != rewrite.Extends {
		return rewrite.BaseChanged
	}
	switch {
	case !enough:
		return rewrite.NoEvidence
	case c.AnswerShared && p.Answer && !p.Transcript:
		return rewrite.Ambiguous
	}
	return ""
}

// shortPrompt is how long, in bytes, a prompt may be beside the answer that it quotes if it repeats nothing
// that the session was sent.
const shortPrompt = 1 << 10
