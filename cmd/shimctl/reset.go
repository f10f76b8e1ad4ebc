package main

import (
	"fmt"

	"reprise/internal/ui"
	"reprise/ledger"

	"github.com/spf13/cobra"
)

func resetCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "reset CHAIN", Short: "end a chain's session, so that its next call is fresh",
		Long: `Ends the chain's session: the next call of the chain is fresh. Nothing is deleted, and running calls
continue. CHAIN is its number, its task, or the start of the ID of one of its sessions. A chain that machines
share ends on all of them; its task may also be one that only other machines know.`,
		DisableFlagsInUseLine: true, ValidArgsFunction: a.completeChain,
		Args: oneArgument("the number or the task of a chain, or the id of a session"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withLedger(func(l *ledger.Ledger, _ reporter) error { return a.reset(l, args[0]) })
		},
	}
}

func (a *app) reset(l *ledger.Ledger, name string) error {
	chain, err := findChain(l, name)
	if err != nil {
		return a.unlessStored(l, name, err, func(s *storedChains) (bool, error) {
			kept, err := s.reset()
			if kept.Chains > 0 {
				fmt.Fprintf(a.stdout, "the next call of task %s begins anew on all machines (%s)\n", ui.Printable(name), ui.Count(kept.Chains, "chain"))
			}
			return kept.Chains > 0, err
		})
	}
	stored, err := a.storedChain(l, chain)
	if err != nil {
		return err
	}
	defer stored.close()
	kept, err := stored.reset()
	if err != nil {
		return err
	}
	if err := l.Reset(chain.ID); err != nil {
		return fmt.Errorf("reset chain %d: %w", chain.ID, err)
	}
	where := ""
	if kept.Chains > 0 {
		where = " on all machines"
	}
	fmt.Fprintf(a.stdout, "the next call of chain %d begins anew%s\n", chain.ID, where)
	return nil
}
