package remove

import (
	"context"
	"errors"
	"fmt"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/shim"

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
		Args: cobra.ExactArgs(1),
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
	records, err := inStore(a, l, chain, "reset", func(ctx context.Context,
		r ledger.Remote) (int64, error) {
		return r.Reset(ctx, chain, decide.MillisOf(a.Now))
	})
	if err != nil {
		return err
	}
	if err := l.Reset(chain.ID); err != nil {
		return fmt.Errorf("reset chain c%d: %w", chain.ID, err)
	}
	where := ""
	if records > 0 {
		where = " on all machines"
	}
	a.Stdout.Notice(fmt.Sprintf("the next call of chain c%d begins anew%s", chain.ID, where))
	return nil
}

// inStore does something to the chain in the store that machines share, if it is there, and returns
// the result of do.
func inStore(a *app.App, l *ledger.Ledger, c ledger.ChainName, what string,
	do func(context.Context, ledger.Remote) (int64, error)) (count int64, err error) {
	if shared, err := l.IsLent(c.ID); err != nil || !shared {
		return count, err
	}
	s, remote, err := app.OpenStore(a, l, c.Cwd)
	switch {
	case err != nil && s.URL != "":
		return count, onlyHere(err)
	case err != nil:
		return count, err
	case remote != nil:
		defer remote.Close()
	}
	if remote == nil || c.Task != "" && shim.ProjectName(c.Cwd, s) == "" {
		if a.Getenv("REPRISE_STORE") == "off" {
			return count, nil
		}
		return count, app.WithHint(fmt.Errorf("chain c%d is in a store that is not configured here",
			c.ID), "set REPRISE_STORE, its key and REPRISE_PROJECT as the calls have them; "+
			"REPRISE_STORE=off changes this machine only")
	}
	what += " in the store"
	ctx, cancel := context.WithTimeout(context.Background(), s.Timeout)
	defer cancel()
	switch count, err = do(ctx, remote); {
	case errors.Is(err, ledger.ErrInUse):
		err = app.WithHint(fmt.Errorf("%s: %w", what, err), "reprise-store log says where it runs")
	case err != nil:
		err = onlyHere(app.StoreFailure(what, err, s))
	}
	return count, err
}

// onlyHere returns an error of the store, with a command that works without it.
func onlyHere(failure error) error {
	return app.WithHint(failure, app.HintFor(
		failure)+"; REPRISE_STORE=off changes this machine only")
}
