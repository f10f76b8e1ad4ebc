package ctl

import (
	"fmt"

	"reprise/internal/ctl/app"

	"github.com/spf13/cobra"
)

func versionCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version",
		Long: "Prints the version and, if known, the commit of this build.",
		Args: app.NoArguments,
		Run:  func(*cobra.Command, []string) { fmt.Fprintln(a.Stdout, app.Version()) },
	}
}
