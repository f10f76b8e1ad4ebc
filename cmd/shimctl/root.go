package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"reprise/config"
	"reprise/internal/ui"
	"reprise/rewrite"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "shimctl COMMAND", Short: "show what the shims did, and why",
		Long:          "Shows what the shims of " + strings.Join(rewrite.Names, ", ") + " did, and why.",
		SilenceErrors: true, SilenceUsage: true, DisableFlagsInUseLine: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	makeGroup(root)
	var printVersion bool
	root.RunE = func(c *cobra.Command, _ []string) error {
		if printVersion {
			fmt.Fprintln(a.stdout, version())
			return nil
		}
		return c.Help()
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { printHelp(c.OutOrStdout(), c) })
	root.SetHelpCommand(helpCommand())
	root.SetFlagErrorFunc(flagError)
	colour := ui.ColorChoice("auto")
	root.PersistentFlags().Var(&colour, "color", "auto, always or never; NO_COLOR is respected")
	completeFlag(root, "color", []string{"auto", "always", "never"})
	var noPager bool
	root.PersistentFlags().BoolVar(&noPager, "no-pager", false, "do not show long output in a pager")
	root.PersistentPreRun = func(c *cobra.Command, _ []string) {
		a.stdout.SetColors(colour, a.getenv)
		a.leavePager = a.startPager(c, noPager)
	}
	root.PersistentFlags().BoolP("help", "h", false, "show this help")
	root.Flags().BoolVarP(&printVersion, "version", "V", false, "print the version, as shimctl version does")
	for _, make := range commands {
		root.AddCommand(make(a))
	}
	a.addRenamed(root)
	return root
}

// makeGroup makes c a command that has subcommands and does nothing else.
func makeGroup(c *cobra.Command) {
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(c, args[0])
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "show what a command does",
		Long:                  "Shows what a command does and which flags it takes, like --help after the command.",
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return unknownCommand(found, rest[0])
			}
			return found.Help()
		},
	}
}

func printHelp(w io.Writer, c *cobra.Command) {
	fmt.Fprintf(w, "usage: %s\n\n%s\n", c.UseLine(), c.Long)
	if c.HasAvailableSubCommands() {
		fmt.Fprint(w, "\ncommands:\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-*s  %s\n", c.Commands()[0].NamePadding(), sub.Name(), sub.Short)
			}
		}
		fmt.Fprintf(w, "\n%s --help says more.\n", strings.TrimSpace(c.CommandPath()+" COMMAND"))
	}
	own, filters := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if isFilter(f) {
			filters.AddFlag(f)
		} else {
			own.AddFlag(f)
		}
	})
	printFlags(w, "flags", own)
	printFlags(w, "filters", filters)
	printFlags(w, "flags of every command", c.InheritedFlags())
}

func printFlags(w io.Writer, title string, flags *pflag.FlagSet) {
	if flags.HasAvailableFlags() {
		fmt.Fprintf(w, "\n%s:\n%s\n", title, strings.TrimRight(flags.FlagUsages(), "\n"))
	}
}

func unknownCommand(c *cobra.Command, name string) error {
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
	return usageError{fmt.Sprintf("there is no command %q", name), hint}
}

// flagError names the known flag that is most like a mistyped one.
func flagError(c *cobra.Command, err error) error {
	hint := c.CommandPath() + " --help lists the flags"
	var lacking *pflag.ValueRequiredError
	if errors.As(err, &lacking) {
		return usageError{fmt.Sprintf("--%s lacks its value", lacking.GetFlag().Name), hint}
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f := invalid.GetFlag()
		switch f.Value.Type() {
		case "int":
			hint = "write a whole number, as 20"
		case "uint16":
			hint = "write a whole number from 0 to 65535"
		case "duration":
			hint = durationHint
		case "bool":
			hint = "write true or false, or the flag alone"
		default:
			hint = errors.Unwrap(invalid).Error()
		}
		return usageError{fmt.Sprintf("--%s cannot be %q", f.Name, invalid.GetValue()), hint}
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usageError{err.Error(), hint}
	}
	name := unknown.GetSpecifiedName()
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if near := config.Nearest(name, known); near != "" {
		hint = "did you mean --" + near
	}
	dashes := "--"
	if unknown.GetSpecifiedShortnames() != "" {
		dashes = "-"
	}
	return usageError{fmt.Sprintf("%s has no flag %s%s", c.CommandPath(), dashes, name), hint}
}

// noArguments is for commands that take flags only.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Sprintf("%s takes no argument %q", c.CommandPath(), args[0]), c.CommandPath() + " --help shows what it takes"}
	}
	return nil
}

// jsonFlag adds --json, which prints the named schema, to a command.
func jsonFlag(c *cobra.Command, asJSON *bool, schema string) {
	c.Flags().BoolVar(asJSON, "json", false, "print the schema "+schema)
}

// completeFlag lets the shell complete a flag's values.
func completeFlag(c *cobra.Command, flag string, values []string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // there is no such flag
	}
}
