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
	About *rewrite.Descriptor
	Reads Reads
	// Formats are the output formats by their names in the tool, nil if these are the usual ones.
	Formats  map[string]rewrite.Format
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

// Home returns the function that finds a tool's directory: below the directory that a variable
// names, or else below one in the home directory.
func Home(variable, inHome, below string) func(env func(string) string) string {
	return func(env func(string) string) string {
		return cmp.Or(env(variable), env("HOME")+inHome) + below
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

// usualFormats are the formats by the names that most tools have for them.
var usualFormats = map[string]rewrite.Format{
	"text": rewrite.Text, "json": rewrite.JSON, "stream-json": rewrite.StreamJSON,
}

// Read returns a call that is passed through so far, with the model, the format, "" for an unknown
// one, and the settings. A setting's values are separated by NUL.
func (b Base) Read(p grammar.Args, in rewrite.Input) rewrite.CommandLine {
	c := rewrite.CommandLine{
		Mode: rewrite.Passthrough, Args: in.Args, Format: rewrite.Text, Home: b.About.Home(in.Env),
		SessionID: p.Session(), Unknown: p.Unknown, AddAt: p.Front(),
	}
	for _, name := range b.About.Variables.Model {
		c.Model = cmp.Or(c.Model, in.Env(name))
	}
	formats := b.Formats
	if formats == nil {
		formats = usualFormats
	}
	for _, o := range p.Options {
		switch o.Kind {
		case grammar.Model:
			c.Model = o.Value()
		case grammar.Format:
			c.Format, c.FormatArg = formats[o.Value()], o.Span
		case grammar.Setting, grammar.FileSetting:
			setting := rewrite.Setting{Name: o.Names[0], Value: strings.Join(o.Values, "\x00"),
				File: o.Kind == grammar.FileSetting}
			c.Settings = append(c.Settings, setting)
		}
	}
	return c
}

// Stdin returns the use of stdin in a call that can have the prompt in argv. With a prompt there,
// the tool's own use of stdin counts: beside.
func Stdin(in rewrite.Input, prompt bool, beside rewrite.StdinUse) rewrite.StdinUse {
	switch {
	case in.StdinTTY:
		return rewrite.StdinUnused
	case prompt:
		return beside
	}
	return rewrite.StdinPrompt
}

// Own returns the tool's own part of a call.
func Own[T any](c rewrite.CommandLine) T {
	own, _ := c.Own.(T)
	return own
}

// Signs are a tool's findings in a command line beside the options.
type Signs struct {
	First       reason.Code // why the call is not managed, whatever else is found
	Command     bool        // a command that is not managed, other than the descriptor's
	Interactive bool        // the tool talks to a person
	Unmanaged   string      // the option or command that makes the call unmanaged, or ""
	Bad         bool        // the tool will reject the call
	OptsOut     bool        // no session is kept
	Last        reason.Code // why a call is not managed that would be otherwise
	Nameless    bool        // the output lacks the session's ID, though it is no text
}

// Complete sets how a call is handled, and why. If it is managed, it gets the files that the tool
// reads. If the caller manages the session and the output has the session's ID, it is observed.
func (b Base) Complete(c *rewrite.CommandLine, p grammar.Args, in rewrite.Input, s Signs) {
	slices.SortStableFunc(c.Settings, func(a, b rewrite.Setting) int {
		return strings.Compare(a.Name, b.Name)
	})
	c.Reason = b.why(c, p, in, s)
	switch {
	case c.Reason == "":
		c.Mode = rewrite.Fresh
		b.Reads.Into(c, in.Env, func(option string) []string {
			values := p.Values(option)
			if b.Yargs && len(values) > 0 { // commas separate them too
				values = strings.Split(strings.Join(values, ","), ",")
			}
			return values
		})
	case c.Reason == reason.UnmanagedOption:
		c.Unmanaged = cmp.Or(p.First(grammar.Unmanaged), s.Unmanaged)
	case c.Reason == reason.CallerSession && c.Format != rewrite.Text && !s.Nameless:
		c.Mode = rewrite.Observe
	}
}

// why returns why the call is not managed, or "": the first reason in an order that is the same for
// all tools.
func (b Base) why(c *rewrite.CommandLine, p grammar.Args, in rewrite.Input, s Signs) reason.Code {
	return cmp.Or(
		s.First,
		When(p.StartsWith(in.Args, b.About.Servers), reason.AppServer),
		When(p.Has(grammar.Admin) || s.Command ||
			p.StartsWith(in.Args, b.About.Subcommands), reason.NotManaged),
		When(p.Has(grammar.Server), reason.AppServer),
		When(s.Interactive && (p.Unknown == "" || !slices.ContainsFunc(in.Args, asksHeadless)),
			reason.Interactive),
		When(b.About.IsNested(in.Env), reason.Nested),
		When(p.Has(grammar.Unmanaged), reason.UnmanagedOption),
		When(p.Unknown != "", reason.UnknownOption),
		When(s.Unmanaged != "", reason.UnmanagedOption),
		When(p.Bad || s.Bad || c.Format == "", reason.BadUsage),
		When(p.Has(grammar.OptOut) || s.OptsOut, reason.OptedOut),
		When(p.Has(grammar.CallerOwned), reason.CallerSession),
		s.Last)
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
