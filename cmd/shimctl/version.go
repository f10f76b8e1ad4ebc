package main

import (
	"fmt"

	"reprise/config"

	"github.com/spf13/cobra"
)

func versionCommand(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "version", Short: "print the version",
		Long: "Prints the version and, if known, the commit of this build.",
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.stdout.PrintJSON(versionReport{"shimctl.version/1", config.Version, config.Commit})
			}
			fmt.Fprintln(a.stdout, version())
			return nil
		},
	}
	jsonFlag(c, &asJSON, "shimctl.version/1")
	return c
}

type versionReport struct {
	Schema  string `json:"schema" doc:"name of this schema"`
	Version string `json:"version" doc:"the version"`
	Commit  string `json:"commit,omitempty" doc:"the commit that it was built from"`
}

func version() string {
	if config.Commit == "" {
		return "reprise " + config.Version
	}
	return fmt.Sprintf("reprise %s (%s)", config.Version, config.Commit)
}
