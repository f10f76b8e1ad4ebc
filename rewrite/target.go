package rewrite

import (
	"slices"

	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A Target is the session that a call goes to and the prompt for it. Only ToFresh, ToResume,
// ToFork and ToCopy make one, so a delta never goes to a fresh session.
type Target struct {
	plan   Plan   // as far as it does not depend on the tool and the command line
	ForkAt string // the last message that a copy of the session keeps, "" for all
	// NewID is the ID for the session that the call begins: a fresh one, or a copy. A tool that
	// chooses the IDs of the sessions itself ignores it.
	NewID string
}

// ToFresh sends the whole prompt to a new session.
func ToFresh(prompt string) Target { return Target{plan: Plan{Prompt: prompt, Whole: true}} }

// ToResume sends the prompt, or the new part, to session id. With a reason to do so it sends the
// whole prompt.
func ToResume(id string, p *prompt.Prompt, c prompt.Continuity, why reason.Code) Target {
	delta := ""
	if why == "" {
		delta, why = p.Delta(c)
	}
	t := Target{plan: Plan{Resume: id, Prompt: p.Text, Whole: true, WholeReason: why}}
	if why == "" {
		t.plan.Prompt, t.plan.Whole, t.plan.Asked = delta, false, p.Text
	}
	return t
}

// ToFork sends the prompt, or the new part, to a copy of session id that ends with message. Without
// a message the copy would include the unfinished turn of another process, so the call needs a
// fresh session.
func ToFork(id, message string, p *prompt.Prompt, c prompt.Continuity, why reason.Code) Target {
	if message == "" {
		return ToFresh(p.Text)
	}
	t := ToCopy(id, p, c, why)
	t.ForkAt = message
	return t
}

// ToCopy sends the prompt, or the new part, to a copy of session id, which itself stays unchanged.
func ToCopy(id string, p *prompt.Prompt, c prompt.Continuity, why reason.Code) Target {
	t := ToResume(id, p, c, why)
	t.plan.Copy = true
	return t
}

// Beginning returns the target with an ID for the session that the call begins.
func (t Target) Beginning(id string) Target {
	t.NewID = id
	return t
}

// Plan returns the plan of a call to the target, with the caller's own command line.
func (t Target) Plan(c CommandLine) Plan {
	plan := t.plan
	plan.Args = slices.Clone(c.Args)
	return plan
}
