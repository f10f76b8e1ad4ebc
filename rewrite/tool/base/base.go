// Package base is what the tools have in common.
package base

import (
	"errors"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/grammar"
)

// Base is what most tools have in common. A tool defines anew what is otherwise with it.
type Base struct{}

// HelpArgs returns --help: the tool has one mode.
func (Base) HelpArgs() []string { return []string{"--help"} }

// ForkPoint returns "": the tool copies whole sessions, if at all.
func (Base) ForkPoint([]byte) string { return "" }

// CopySession fails: the tool makes its copies itself, if at all.
func (Base) CopySession(_, _, _ string, _ []byte) (string, []byte, error) {
	return "", nil, errors.ErrUnsupported
}

// ValidID accepts lower-case UUIDs. What else a tool may accept, such as the first characters of an ID or a name, is
// the caller's.
func (Base) ValidID(id string) bool { return IsUUID(id) }

// IsOrphanFile returns false: the tool leaves no files that endanger a session.
func (Base) IsOrphanFile(string, []byte) bool { return false }

// Refusals are what a tool's messages contain when it does not continue a session, and why.
type Refusals []struct {
	Text   string
	Reason reason.Code
}

// In returns why a message refuses a session, "" if it does not. Limits, logins, network errors and anything unknown do
// not concern the session.
func (r Refusals) In(message string) reason.Code { return r.Find(message, strings.Contains) }

// After does the same for the stderr of a run, which has refused nothing if it ended well.
func (r Refusals) After(stderr string, exit int) reason.Code {
	if exit == 0 {
		return ""
	}
	return r.In(stderr)
}

// Find is In with another way to look for a text.
func (r Refusals) Find(message string, matches func(message, text string) bool) reason.Code {
	for _, known := range r {
		if matches(message, known.Text) {
			return known.Reason
		}
	}
	return ""
}

// Signs are what a tool finds in a command line beside its options.
type Signs struct {
	Command     bool   // a command of the tool that is not managed
	Interactive bool   // the tool talks to a person
	Unmanaged   string // what makes the call unmanaged, "" if nothing does
	Bad         bool   // the tool will reject the call
	OptsOut     bool   // no session is kept
}

// Why returns why the call is not managed, or "": the first reason in an order that is the same for all tools. What
// holds only for calls that would be managed otherwise is the tool's own to ask.
func Why(c *rewrite.Call, d *rewrite.Descriptor, p grammar.Args, in rewrite.Invocation, s Signs) reason.Code {
	switch {
	case p.Has(grammar.Admin) || s.Command:
		return reason.Admin
	case p.Has(grammar.Server):
		return reason.AppServer
	case s.Interactive:
		return reason.Interactive
	case d.IsNested(in.Env):
		return reason.Nested
	case p.Has(grammar.Unmanaged):
		c.Unmanaged = p.First(grammar.Unmanaged)
		return reason.UnmanagedOption
	case p.Unknown != "":
		return reason.UnknownOption
	case s.Unmanaged != "":
		c.Unmanaged = s.Unmanaged
		return reason.UnmanagedOption
	case p.Bad || s.Bad:
		return reason.BadUsage
	case p.Has(grammar.OptOut) || s.OptsOut:
		return reason.OptedOut
	case p.Has(grammar.CallerOwned):
		return reason.CallerSession
	}
	return ""
}

// Settle completes a call: how it is handled, and why. If its caller manages the session and the output has the
// session's ID, the call is observed.
func Settle(c *rewrite.Call, why reason.Code, showsID bool) {
	slices.SortStableFunc(c.Settings, func(a, b rewrite.Setting) int { return strings.Compare(a.Name, b.Name) })
	c.Reason = why
	switch {
	case why == "":
		c.Mode = rewrite.Fresh
	case why == reason.CallerSession && showsID:
		c.Mode = rewrite.Observe
	}
}

// Own returns what a call has of its tool's own.
func Own[T any](c rewrite.Call) T {
	own, _ := c.Own.(T)
	return own
}

// NewCall returns a call of the tool that is passed through so far.
func NewCall(d *rewrite.Descriptor, in rewrite.Invocation) rewrite.Call {
	return rewrite.Call{Tool: d.Name, Mode: rewrite.Passthrough, Args: in.Args, Format: rewrite.Text, PromptArg: -1}
}
