package ctl

import (
	"cmp"
	"fmt"
	"strings"

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
		RunE:                  func(c *cobra.Command, _ []string) error { return c.Help() },
		CompletionOptions:     cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.Version = app.Version()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { printHelp(a.Stdout, c) })
	root.PersistentFlags().BoolP("help", "h", false, "show this help")
	root.Flags().BoolP("version", "V", false, "print the version, as shimctl version does")
	for _, make := range commands {
		root.AddCommand(make(a))
	}
	failHelp(root)
	return root
}

// failHelp has `shimctl help` fail if there is no such command, which cobra's own does not.
func failHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"}) // it was just added
	help.Args = func(_ *cobra.Command, args []string) error {
		found, rest, err := root.Find(args)
		return cmp.Or(err, cobra.NoArgs(found, rest))
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

func versionCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version",
		Long: "Prints the version and, if known, the commit of this build.",
		Args: cobra.NoArgs,
		Run:  func(*cobra.Command, []string) { fmt.Fprintln(a.Stdout, app.Version()) },
	}
}
