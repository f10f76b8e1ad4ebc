package app

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

// A Consent says whether a command may do what cannot be undone.
type Consent struct{ Dry, Yes bool }

func (c *Consent) AddFlags(command *cobra.Command) {
	command.Flags().BoolVarP(&c.Dry, "dry-run", "n", false, "change nothing, say what would be done")
	command.Flags().BoolVarP(&c.Yes, "yes", "y", false, "do not ask")
}

var errDeclined = errors.New("nothing was changed")

// CanAsk reports whether a person is there to ask.
func (a *App) CanAsk() bool { return isatty.IsTerminal(a.Stdin.Fd()) && a.Stderr.Terminal }

// Ask asks the user at a terminal. Without one only --yes is a consent.
func (a *App) Ask(question string, c Consent) error {
	if c.Yes {
		return nil
	}
	if !a.CanAsk() {
		return Usage("nobody can be asked here, and --yes is not given", "--yes does it unasked, --dry-run says what would be done")
	}
	fmt.Fprint(a.Stderr, question+" [y/N] ")
	answer, err := bufio.NewReader(a.Stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	if err != nil {
		fmt.Fprintln(a.Stderr)
	}
	return errDeclined
}
