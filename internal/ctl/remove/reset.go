package remove

import (
	"fmt"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"

	"github.com/spf13/cobra"
)

// ResetCommand returns `shimctl reset`.
func ResetCommand(a *app.App) *cobra.Command {
	var agreed app.Consent
	c := &cobra.Command{
		Use: "reset CHAIN", Short: "end a chain's session, so that its next call is fresh",
		Long: `Ends the chain's session: the next call of the chain is fresh. Nothing is deleted, and running calls
continue. CHAIN is a name such as c12, a task with all its chains, or the start of a session's ID. A chain that
machines share ends on all of them.`,
		Args: app.OneArgument(
			"the name or the task of a chain, or the id of a session"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.WithLedger(func(l *ledger.Ledger, _ view.Reporter) error {
				return runReset(a, l, args[0], agreed)
			})
		},
	}
	agreed.AddFlags(c)
	return c
}

func runReset(a *app.App, l *ledger.Ledger, name string, agreed app.Consent) error {
	chains, err := app.FindChains(l, name)
	if err != nil {
		return err
	}
	if ok, err := a.Agreed("end the session of "+app.ChainWords(chains), agreed); !ok {
		return err
	}
	for _, chain := range chains {
		if err := resetChain(a, l, chain); err != nil {
			return err
		}
	}
	return nil
}

func resetChain(a *app.App, l *ledger.Ledger, chain ledger.ChainName) error {
	stored, err := openStored(a, l, chain)
	if err != nil {
		return err
	}
	defer stored.close()
	kept, err := stored.reset()
	if err != nil {
		return err
	}
	if err := l.Reset(chain.ID); err != nil {
		return fmt.Errorf("reset chain c%d: %w", chain.ID, err)
	}
	where := ""
	if kept.Chains > 0 {
		where = " on all machines"
	}
	a.Stdout.Notice(fmt.Sprintf("the next call of chain c%d begins anew%s", chain.ID, where))
	return nil
}
