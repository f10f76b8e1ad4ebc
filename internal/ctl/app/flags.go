package app

import (
	"fmt"

	"reprise/config"

	"github.com/spf13/cobra"
)

// MakeGroup makes c a command that has subcommands and does nothing else.
func MakeGroup(c *cobra.Command) {
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return UnknownCommand(c, args[0])
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
}

func UnknownCommand(c *cobra.Command, name string) error {
	hint := c.CommandPath() + " --help lists the commands"
	var known []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			known = append(known, sub.Name())
		}
	}
	if near := config.Nearest(name, known); near != "" {
		hint = fmt.Sprintf("did you mean %q", near)
	} else if begin := c.SuggestionsFor(name); len(begin) > 0 { // with what was typed
		hint = fmt.Sprintf("did you mean %q", begin[0])
	}
	return Usage(fmt.Sprintf("there is no command %q", name), hint)
}

// NoArguments is for commands that take flags only.
func NoArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usage(fmt.Sprintf("%s takes no argument %q", c.CommandPath(), args[0]), c.CommandPath()+" --help shows what it takes")
	}
	return nil
}

// JSONFlag adds --json, which prints the named schema, to a command.
func JSONFlag(c *cobra.Command, asJSON *bool, schema string) {
	c.Flags().BoolVar(asJSON, "json", false, "print the schema "+schema)
}

// CompleteFlag lets the shell complete a flag's values.
func CompleteFlag(c *cobra.Command, flag string, values []string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // there is no such flag
	}
}

// AtMostOneCall is for commands that take a call, or none.
func AtMostOneCall(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return Usage(fmt.Sprintf("%s takes one call, not %q as well", c.CommandPath(), args[1]), "usage: "+c.UseLine())
	}
	return nil
}

// OneArgument is for commands that take exactly one; what names it.
func OneArgument(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return Usage(fmt.Sprintf("%s takes %s", c.CommandPath(), what), "usage: "+c.UseLine())
		}
		return nil
	}
}
