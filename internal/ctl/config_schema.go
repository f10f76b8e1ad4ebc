package ctl

import (
	"reprise/config"
	"reprise/internal/ctl/app"

	"github.com/spf13/cobra"
)

// schemaFile is the name of the schema beside the configuration, whose first line names it for editors.
const schemaFile = "config.schema.json"

func configSchemaCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "print a JSON Schema of the configuration, for editors",
		Long: "Prints a JSON Schema of the configuration file, for editors with taplo (Even Better TOML).",
		Args: app.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			text, err := config.Schema()
			if err == nil {
				_, err = a.Stdout.Write(text)
			}
			return err
		},
	}
}
