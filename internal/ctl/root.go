package ctl

import (
	"errors"
	"fmt"
	"strings"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/rewrite"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newRoot(a *app.App) *cobra.Command {
	root := &cobra.Command{
		Use: "shimctl COMMAND", Short: "show what the shims did, and why",
		Long: "Shows what the shims of " + strings.Join(rewrite.Names, ", ") +
			" did, and why.",
		DisableFlagsInUseLine: true,
		CompletionOptions:     cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	app.MakeGroup(root)
	root.Version = app.Version()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { printHelp(a.Stdout, c) })
	root.SetHelpCommand(helpCommand())
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().BoolP("help", "h", false, "show this help")
	root.Flags().BoolP("version", "V", false, "print the version, as shimctl version does")
	for _, make := range commands {
		root.AddCommand(make(a))
	}
	return root
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "show what a command does",
		Long: "Shows what a command does and which flags it takes, like --help " +
			"after the command.",
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return app.UnknownCommand(found, rest[0])
			}
			return found.Help()
		},
	}
}

func printHelp(s view.Screen, c *cobra.Command) {
	fmt.Fprintf(s, "usage: %s\n\n%s\n", c.UseLine(), s.Paragraphs(c.Long))
	if c.HasAvailableSubCommands() {
		fmt.Fprint(s, "\ncommands:\n")
		padding := c.Commands()[0].NamePadding()
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(s, "  %-*s  %s\n", padding, sub.Name(),
					s.Indented(sub.Short, padding+4))
			}
		}
		fmt.Fprintf(s, "\n%s --help says more.\n", strings.TrimSpace(c.CommandPath()+" COMMAND"))
	}
	own, filters := pflag.NewFlagSet("", pflag.ContinueOnError),
		pflag.NewFlagSet("", pflag.ContinueOnError)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if app.IsFilter(f) {
			filters.AddFlag(f)
		} else {
			own.AddFlag(f)
		}
	})
	printFlags(s, "flags", own)
	printFlags(s, "filters", filters)
	printFlags(s, "flags of every command", c.InheritedFlags())
}

func printFlags(s view.Screen, title string, flags *pflag.FlagSet) {
	if flags.HasAvailableFlags() {
		fmt.Fprintf(s, "\n%s:\n%s\n", title, strings.TrimRight(flags.FlagUsagesWrapped(s.Width),
			"\n"))
	}
}

// flagError names the known flag that is most like a mistyped one.
func flagError(c *cobra.Command, err error) error {
	hint := c.CommandPath() + " --help lists the flags"
	if lacking, is := errors.AsType[*pflag.ValueRequiredError](err); is {
		return app.Usage(fmt.Sprintf("--%s lacks its value", lacking.GetFlag().Name), hint)
	}
	if invalid, is := errors.AsType[*pflag.InvalidValueError](err); is {
		f := invalid.GetFlag()
		switch f.Value.Type() {
		case "int":
			hint = "write a whole number, as 20"
		case "bool":
			hint = "write true or false, or the flag alone"
		default:
			hint = errors.Unwrap(invalid).Error()
		}
		return app.Usage(fmt.Sprintf("--%s cannot be %q", f.Name, invalid.GetValue()), hint)
	}
	unknown, is := errors.AsType[*pflag.NotExistError](err)
	if !is {
		return app.Usage(err.Error(), hint)
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
	return app.Usage(fmt.Sprintf("%s has no flag %s%s", c.CommandPath(), dashes, name), hint)
}

func versionCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version",
		Long: "Prints the version and, if known, the commit of this build.",
		Args: app.NoArguments,
		Run:  func(*cobra.Command, []string) { fmt.Fprintln(a.Stdout, app.Version()) },
	}
}
