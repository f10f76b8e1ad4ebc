package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

// A consent says whether a command may do what cannot be undone.
type consent struct{ dry, yes bool }

func (c *consent) addFlags(command *cobra.Command) {
	command.Flags().BoolVarP(&c.dry, "dry-run", "n", false, "change nothing, say what would be done")
	command.Flags().BoolVarP(&c.yes, "yes", "y", false, "do not ask")
}

var errDeclined = errors.New("nothing was changed")

// canAsk reports whether a person is there to ask.
func (a *app) canAsk() bool { return isatty.IsTerminal(a.stdin.Fd()) && a.stderr.Terminal }

// ask asks the user at a terminal. Without one only --yes is a consent.
func (a *app) ask(question string, c consent) error {
	if c.yes {
		return nil
	}
	if !a.canAsk() {
		return usageError{"nobody can be asked here, and --yes is not given", "--yes does it unasked, --dry-run says what would be done"}
	}
	fmt.Fprint(a.stderr, question+" [y/N] ")
	answer, err := bufio.NewReader(a.stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	if err != nil {
		fmt.Fprintln(a.stderr)
	}
	return errDeclined
}
