package app

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"reprise/internal/ctl/view"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

// JSONFlag adds --json, which prints the named schemas, to a command.
func JSONFlag(c *cobra.Command, asJSON *bool, schema string) {
	c.Flags().BoolVar(asJSON, "json", false, "print the schema "+schema)
}

// CompleteFlag lets the shell complete a flag's values.
func CompleteFlag(c *cobra.Command, flag string, values []string) {
	if err := c.RegisterFlagCompletionFunc(flag,
		cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // there is no such flag
	}
}

// A Consent is a permission to write. With JSON nobody is asked.
type Consent struct{ Dry, Yes, JSON bool }

// AddFlags adds --dry-run and --yes to a command.
func (c *Consent) AddFlags(command *cobra.Command) *cobra.Command {
	command.Flags().BoolVarP(&c.Dry, "dry-run", "n", false, "change nothing")
	command.Flags().BoolVarP(&c.Yes, "yes", "y", false, "do not ask")
	return command
}

// CanAsk reports whether a person is there to ask.
func (a *App) CanAsk() bool { return isatty.IsTerminal(a.Stdin.Fd()) && a.Stderr.Terminal }

// Agreed reports whether a command can go on with the action in does. It asks at a terminal;
// elsewhere only --yes is a consent. With --dry-run it prints the action.
func (a *App) Agreed(does string, c Consent) (bool, error) {
	switch {
	case c.Dry:
		if !c.JSON {
			a.Stdout.Notice("would " + does)
		}
		return false, nil
	case c.Yes:
		return true, nil
	case c.JSON || !a.CanAsk():
		return false, Usage("nobody can be asked here, and --yes is not given",
			"--yes does it unasked, --dry-run shows the changes")
	}
	fmt.Fprint(a.Stderr, a.Stderr.Indented(view.Printable(does)+"? [y/N]", 0)+" ")
	answer, err := bufio.NewReader(a.Stdin).ReadString('\n')
	if err != nil {
		fmt.Fprintln(a.Stderr)
	}
	if slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))) {
		return true, nil
	}
	return false, errDeclined
}
