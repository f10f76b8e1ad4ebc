package ctl

import (
	"reprise/internal/ctl/app"
	"reprise/shim"

	"github.com/spf13/cobra"
)

// tellBudgetCommand is started by the shims. Nobody reads what it prints.
func tellBudgetCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: shim.TellCommand, Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			env := shim.OSEnv()
			env.Environ, env.AccountHome = a.Environ, a.AccountHome
			return shim.TellBudget(env)
		},
	}
}
