package base

import (
	"cmp"
	"slices"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/grammar"
)

// Signs are a tool's findings in a command line beside the options.
type Signs struct {
	Command     bool   // a command of the tool that is not managed, other than the descriptor's
	Interactive bool   // the tool talks to a person
	Unmanaged   string // the option or command that makes the call unmanaged, or ""
	Bad         bool   // the tool will reject the call
	OptsOut     bool   // no session is kept
}

// Why returns why the call is not managed, or "": the first reason in an order that is the same for
// all tools. A reason that only a call can have that would be managed otherwise is the tool's own
// to check.
func Why(c *rewrite.CommandLine, d *rewrite.Descriptor, p grammar.Args, in rewrite.Input,
	s Signs) reason.Code {
	why := cmp.Or(
		When(p.StartsWith(in.Args, d.Servers), reason.AppServer),
		When(p.Has(grammar.Admin) || s.Command ||
			p.StartsWith(in.Args, d.Subcommands), reason.NotManaged),
		When(p.Has(grammar.Server), reason.AppServer),
		When(s.Interactive && (p.Unknown == "" || !slices.ContainsFunc(in.Args, asksHeadless)),
			reason.Interactive),
		When(d.IsNested(in.Env), reason.Nested),
		When(p.Has(grammar.Unmanaged), reason.UnmanagedOption),
		When(p.Unknown != "", reason.UnknownOption),
		When(s.Unmanaged != "", reason.UnmanagedOption),
		When(p.Bad || s.Bad, reason.BadUsage),
		When(p.Has(grammar.OptOut) || s.OptsOut, reason.OptedOut),
		When(p.Has(grammar.CallerOwned), reason.CallerSession))
	if why == reason.UnmanagedOption {
		c.Unmanaged = cmp.Or(p.First(grammar.Unmanaged), s.Unmanaged)
	}
	return why
}

// When returns why if it holds, or "".
func When(holds bool, why reason.Code) reason.Code {
	if holds {
		return why
	}
	return ""
}

// asksHeadless reports whether an argument asks for a headless run: an unknown option before it
// keeps it from being parsed.
func asksHeadless(arg string) bool {
	return slices.Contains([]string{"-p", "--print", "--prompt"}, arg)
}
