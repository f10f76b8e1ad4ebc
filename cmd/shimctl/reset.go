package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"reprise/ledger"
)

func resetCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "reset CHAIN", Short: "have the next call of a chain begin anew",
		Long: `Ends the chain's session: the next call of the chain begins a fresh one. Nothing is deleted, and a
call that runs now is not disturbed. CHAIN is its number, its task, or the id of one of its sessions,
of which the beginning is enough.`,
		DisableFlagsInUseLine: true,
		Args:                  oneArgument("the number or the task of a chain, or the id of a session"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withLedger(func(l *ledger.Ledger, _ reporter) error {
				chain, err := findChain(l, args[0])
				if err != nil {
					return err
				}
				if err := l.Reset(chain.ID); err != nil {
					return fmt.Errorf("reset chain %d: %w", chain.ID, err)
				}
				fmt.Fprintf(a.stdout, "the next call of chain %d begins anew\n", chain.ID)
				return nil
			})
		},
	}
}
