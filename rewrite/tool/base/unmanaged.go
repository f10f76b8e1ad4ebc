package base

import (
	"slices"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/grammar"
)

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
	case s.Interactive && (p.Unknown == "" || !slices.ContainsFunc(in.Args, asksHeadless)):
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

// asksHeadless reports whether an argument asks for a headless run: an unknown option before it keeps it from being parsed.
func asksHeadless(arg string) bool {
	return slices.Contains([]string{"-p", "--print", "--prompt"}, arg)
}
