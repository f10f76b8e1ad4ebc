package shim

import (
	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/front"
	"reprise/shim/supervise"

	"github.com/mattn/go-isatty"
)

// parse reads the configuration and the command line. It returns a reason if the call is not
// to be managed.
func (c *call) parse() reason.Code {
	if reason := c.configure(); reason != "" {
		return reason
	}
	var managed bool
	if c.tool, managed = rewrite.Lookup(c.name); !managed {
		return reason.NotManaged
	}
	c.parsed = c.parseAs(c.invocation())
	if c.parsed.Mode == rewrite.Passthrough {
		return c.parsed.Reason
	}
	// A tool can fail at the first write if nobody reads it (codex 0.169.0: exit code 101).
	// Behind the shim's pipe it would not.
	if front.Closed(c.env.Stdout.Fd()) || supervise.HungUp(int(c.env.Stdout.Fd())) {
		return reason.StdoutGone
	}
	return ""
}

// parseAs parses a command line, if an option is not known by the binary's --help.
func (c *call) parseAs(in rewrite.Invocation) rewrite.Call {
	parsed := c.tool.Parse(in)
	if parsed.Reason == reason.UnknownOption {
		in.Learned = c.learn()
		parsed = c.tool.Parse(in)
	}
	return parsed
}

// invocation returns the command line and the facts needed to parse it.
func (c *call) invocation() rewrite.Invocation {
	return rewrite.Invocation{
		Args: c.env.Args[min(1, len(c.env.Args)):], Env: c.env.Get,
		StdinTTY:  isatty.IsTerminal(c.env.Stdin.Fd()),
		StdoutTTY: isatty.IsTerminal(c.env.Stdout.Fd()),
	}
}
