package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"reprise/config"
)

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "name this build",
		Long: "Prints the version and, where it is known, the commit that shims and shimctl were built from.",
		Args: noArguments,
		Run:  func(*cobra.Command, []string) { fmt.Fprintln(a.stdout, version()) },
	}
}

func version() string {
	if config.Commit == "" {
		return "reprise " + config.Version
	}
	return fmt.Sprintf("reprise %s (%s)", config.Version, config.Commit)
}
