package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"reprise/ledger"
)

func resetCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "reset CHAIN", Short: "end a chain's session, so that its next call is fresh",
		Long: `Ends the chain's session: the next call of the chain is fresh. Nothing is deleted, and running calls
continue. CHAIN is its number, its task, or the start of the ID of one of its sessions.`,
		DisableFlagsInUseLine: true, ValidArgsFunction: a.completeChain,
		Args: oneArgument("the number or the task of a chain, or the id of a session"),
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
