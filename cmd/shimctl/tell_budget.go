package main

import (
	"reprise/shim"

	"github.com/spf13/cobra"
)

// tellBudgetCommand is started by the shims. Nobody reads what it prints.
func tellBudgetCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: shim.TellCommand, Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			env := shim.OSEnv()
			env.Environ, env.AccountHome = a.environ, a.accountHome
			return shim.TellBudget(env)
		},
	}
}
