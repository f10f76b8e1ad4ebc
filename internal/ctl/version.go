package ctl

import (
	"fmt"

	"reprise/config"
	"reprise/internal/ctl/app"

	"github.com/spf13/cobra"
)

func versionCommand(a *app.App) *cobra.Command {
	var asJSON bool
	return app.JSONFlag(&cobra.Command{
		Use: "version", Short: "print the version",
		Long: "Prints the version and, if known, the commit of this build.",
		Args: app.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.Stdout.PrintJSON(versionReport{"shimctl.version/1", config.Version,
					config.Commit})
			}
			fmt.Fprintln(a.Stdout, app.Version())
			return nil
		},
	}, &asJSON, "shimctl.version/1")
}

type versionReport struct {
	Schema  string `json:"schema" doc:"name of this schema"`
	Version string `json:"version" doc:"the version"`
	Commit  string `json:"commit,omitempty" doc:"the commit that it was built from"`
}
