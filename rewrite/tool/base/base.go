// Package base is the common part of the tools: answers that are the same for most of them, why a
// call is not managed, which failures say nothing against a session, and the common part of their
// streams. Which words refuse a session, and where a tool says the IDs and usage, stand in each
// tool's package.
//
// It never asks which tool it serves: a difference is a parameter, or the tool's own method.
// Invariant: in doubt a call is unmanaged, and a failure counts against the session.
package base

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/grammar"
)

// Base is the common part of most tools. A tool overrides the methods that differ.
type Base struct {
	About    *rewrite.Descriptor
	Refusals Causes // of the stderr
	// Help are options: a help text with the first is about the headless mode, and a help text with
	// the others too is from a version that can resume. Yargs says that yargs prints it.
	Help  []string
	Yargs bool
}

func (b Base) Descriptor() *rewrite.Descriptor { return b.About }

func (b Base) Options(help string) rewrite.Probe {
	return grammar.ReadProbe(help, b.Yargs, b.Help...)
}

// Refused ignores limits, logins, network errors and anything unknown: they do not concern the
// session.
func (b Base) Refused(stderr string, exit int) reason.Code {
	if exit == 0 {
		return ""
	}
	return b.Refusals.In(stderr)
}

// Home returns the function that finds a tool's directory: the value of a variable, or else a name
// in the home directory.
func Home(variable, name string) func(env func(string) string) string {
	return func(env func(string) string) string {
		return cmp.Or(env(variable), env("HOME")+"/"+name)
	}
}

// HomeIn is Home for a variable that replaces the home directory.
func HomeIn(variable, name string) func(env func(string) string) string {
	return func(env func(string) string) string {
		return cmp.Or(env(variable), env("HOME")) + "/" + name
	}
}

// EffectivePrompt returns PROMPT, a newline and DATA where the tool reads both
// (recordings/claude/stdin-and-arg-text).
func (Base) EffectivePrompt(c rewrite.CommandLine, stdin string) string {
	switch {
	case c.Stdin == rewrite.StdinPrompt:
		return stdin
	case c.Stdin == rewrite.StdinUnused, stdin == "":
		return c.Prompt
	}
	return c.Prompt + "\n" + stdin
}

// ActsOn reports file mentions: "@" after anything but a backslash.
func (Base) ActsOn(text string) bool { return Mentions(text, '@', true) }

// ForkPoint returns "": the tool copies whole sessions, if at all.
func (Base) ForkPoint([]byte) string { return "" }

// CopySession fails: the tool makes the copies itself, if at all.
func (Base) CopySession(_, _, _ string, _ []byte) (string, []byte, error) {
	return "", nil, errors.ErrUnsupported
}

// ValidID accepts lower-case UUIDs. The other forms that a tool can accept, such as a name or the
// first characters of an ID, are the caller's.
func (Base) ValidID(id string) bool { return IsUUID(id) }

// IsOrphanFile returns false: the tool leaves no files that endanger a session.
func (Base) IsOrphanFile(string, []byte) bool { return false }

// Read copies into the call the options for the model, the format and the settings. A setting's
// values are separated by NUL. Formats has the formats with another name in the tool, nil if there
// are none.
func Read(c *rewrite.CommandLine, p grammar.Args, formats map[string]rewrite.Format) {
	c.Unknown, c.AddAt = p.Unknown, p.Front()
	for _, o := range p.Options {
		switch o.Kind {
		case grammar.Model:
			c.Model = o.Value()
		case grammar.Format:
			c.Format, c.FormatArg = rewrite.Format(o.Value()), o.Span
			if formats != nil {
				c.Format = formats[o.Value()]
			}
		case grammar.Setting, grammar.FileSetting:
			setting := rewrite.Setting{Name: o.Names[0], Value: strings.Join(o.Values, "\x00"),
				File: o.Kind == grammar.FileSetting}
			c.Settings = append(c.Settings, setting)
		}
	}
}

// Stdin returns the use of stdin in a call that can have the prompt in argv.
func Stdin(in rewrite.Input, prompt bool) rewrite.StdinUse {
	switch {
	case in.StdinTTY:
		return rewrite.StdinUnused
	case prompt:
		return rewrite.StdinAppended
	}
	return rewrite.StdinPrompt
}

// Complete sets how a call is handled, and why. If the caller manages the session and the
// output has the session's ID, the call is observed.
func Complete(c *rewrite.CommandLine, why reason.Code, showsID bool) {
	slices.SortStableFunc(c.Settings, func(a, b rewrite.Setting) int {
		return strings.Compare(a.Name, b.Name)
	})
	c.Reason = why
	switch {
	case why == "":
		c.Mode = rewrite.Fresh
	case why == reason.CallerSession && showsID:
		c.Mode = rewrite.Observe
	}
}

// Own returns the tool's own part of a call.
func Own[T any](c rewrite.CommandLine) T {
	own, _ := c.Own.(T)
	return own
}

// NewCall returns a call of the tool that is passed through so far.
func (b Base) NewCall(in rewrite.Input) rewrite.CommandLine {
	return rewrite.CommandLine{
		Mode: rewrite.Passthrough, Args: in.Args, Format: rewrite.Text, Home: b.About.Home(in.Env),
	}
}

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
