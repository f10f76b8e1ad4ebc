package rewrite

import (
	"strings"

	"reprise/rewrite/reason"
)

// base is what most tools have in common. A tool defines anew what is otherwise with it.
type base struct{}

// HelpArgs returns --help: the tool has one mode.
func (base) HelpArgs() []string { return []string{"--help"} }

// ForkPoint returns "": the tool copies whole sessions, if at all.
func (base) ForkPoint([]byte) string { return "" }

// ValidID accepts lower-case UUIDs. What else a tool may accept, such as the first characters of an ID or a name, is the
// caller's.
func (base) ValidID(id string) bool { return isUUID(id) }

// IsOrphanFile returns false: the tool leaves no files that endanger a session.
func (base) IsOrphanFile(string, []byte) bool { return false }

// refusals are what a tool's messages contain when it does not continue a session, and why.
type refusals []struct {
	text   string
	reason reason.Code
}

// in returns why a message refuses a session, "" if it does not. Limits, logins, network errors and anything unknown do
// not concern the session.
func (r refusals) in(message string) reason.Code { return r.find(message, strings.Contains) }

func (r refusals) find(message string, matches func(message, text string) bool) reason.Code {
	for _, known := range r {
		if matches(message, known.text) {
			return known.reason
		}
	}
	return ""
}

// signs are what a tool finds in a command line beside its options.
type signs struct {
	command     bool   // a command of the tool that is not managed
	interactive bool   // the tool talks to a person
	unmanaged   string // what makes the call unmanaged, "" if nothing does
	bad         bool   // the tool will reject the call
	optsOut     bool   // no session is kept
}

// why returns why the call is not managed, or "": the first reason in an order that is the same for all tools. What
// holds only for calls that would be managed otherwise is the tool's own to ask.
func (c *Call) why(d *Descriptor, p parsedArgs, in Invocation, s signs) reason.Code {
	switch {
	case p.has(admin) || s.command:
		return reason.Admin
	case p.has(server):
		return reason.AppServer
	case s.interactive:
		return reason.Interactive
	case d.nested(in.Env):
		return reason.Nested
	case p.has(unmanaged):
		c.Unmanaged = p.first(unmanaged)
		return reason.UnmanagedOption
	case p.unknown != "":
		return reason.UnknownOption
	case s.unmanaged != "":
		c.Unmanaged = s.unmanaged
		return reason.UnmanagedOption
	case p.bad || s.bad:
		return reason.BadUsage
	case p.has(optOut) || s.optsOut:
		return reason.OptedOut
	case p.has(callerOwned):
		return reason.CallerSession
	}
	return ""
}

// newCall returns a call of the tool that is passed through so far.
func (d *Descriptor) newCall(in Invocation) Call {
	return Call{Tool: d.Name, Mode: Passthrough, Args: in.Args, Format: Text, promptArg: -1}
}
