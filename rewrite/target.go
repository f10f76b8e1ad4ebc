package rewrite

import (
	"slices"

	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A Target is the session that a call goes to and the prompt for it. Only ToFresh, ToResume,
// ToFork and ToCopy make one, so a delta never goes to a fresh session.
type Target struct {
	id     string
	copied bool   // the call goes to a copy of the session
	forkAt string // the last message that the copy keeps, "" for all
	prompt string
	whole  bool
	why    reason.Code // why a resume sends the whole prompt
	asked  string      // the caller's prompt if prompt is only a part of it
	newID  string      // of the session that the call begins
}

// ToFresh sends the whole prompt to a new session.
func ToFresh(prompt string) Target { return Target{prompt: prompt, whole: true} }

// ToResume sends the prompt, or the new part, to session id. With a reason to do so it sends the
// whole prompt.
func ToResume(id string, p *prompt.Prompt, c prompt.Continuity, why reason.Code) Target {
	delta := ""
	if why == "" {
		delta, why = p.Delta(c)
	}
	t := Target{id: id, prompt: p.Text, whole: true, why: why}
	if why != "" {
		return t
	}
	t.prompt, t.whole, t.asked = delta, false, p.Text
	return t
}

// ToFork sends the prompt, or the new part, to a copy of session id that ends with message. Without
// a message the copy would include what another process is doing there, so the call needs a fresh
// session.
func ToFork(id, message string, p *prompt.Prompt, c prompt.Continuity, why reason.Code) Target {
	if message == "" {
		return ToFresh(p.Text)
	}
	t := ToResume(id, p, c, why)
	t.copied, t.forkAt = true, message
	return t
}

// ToCopy sends the prompt, or the new part, to a copy of session id, which itself stays unchanged.
func ToCopy(id string, p *prompt.Prompt, c prompt.Continuity, why reason.Code) Target {
	t := ToResume(id, p, c, why)
	t.copied = true
	return t
}

// Beginning returns the target with an ID for the session that the call begins: a fresh one, or a
// copy. A tool that chooses the IDs of the sessions itself ignores it.
func (t Target) Beginning(id string) Target {
	t.newID = id
	return t
}

// NewID returns the ID for the session that the call begins.
func (t Target) NewID() string { return t.newID }

// Session returns the session to resume or to copy, "" for a fresh one.
func (t Target) Session() string { return t.id }

// ForkAt returns the message that a copy of the session ends with, "" for a complete copy.
func (t Target) ForkAt() string { return t.forkAt }

// Prompt returns the prompt for the model and whether it is whole.
func (t Target) Prompt() (text string, whole bool) { return t.prompt, t.whole }

// Why returns why a resume sends the whole prompt; "" for a delta or a fresh session.
func (t Target) Why() reason.Code { return t.why }

// Plan returns the plan of a call to the target, with the caller's own command line. A tool that
// copies sessions sets Copy.
func (t Target) Plan(c CommandLine) Plan {
	return Plan{Args: slices.Clone(c.Args), Resume: t.id, Prompt: t.prompt, Whole: t.whole,
		Asked: t.asked}
}

// Copied reports whether the call goes to a copy of the session.
func (t Target) Copied() bool { return t.copied }

// FromArgv reports whether the caller's whole prompt was in argv. Only then can a part of it be
// there: argv ends at a NUL, and every user of the machine can read it.
func (t Target) FromArgv(c CommandLine) bool {
	all := t.asked
	if t.whole {
		all = t.prompt
	}
	return all == c.Prompt
}
