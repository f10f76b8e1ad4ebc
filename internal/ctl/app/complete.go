package app

import (
	"strconv"
	"strings"

	"reprise/internal/ctl/view"
	"reprise/ledger"

	"github.com/spf13/cobra"
)

// CompleteChain completes what FindChain takes: the numbers of chains, and the tasks.
func (a *App) CompleteChain(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return completeFrom(a, args, func(l *ledger.Ledger) (list []string, err error) {
		chains, err := l.Chains(ledger.Wanted{Limit: maxCompletions})
		for _, c := range chains {
			about := strings.Join(strings.Fields(c.Tool+" "+c.Task+" "+c.Role), " ") + " in " + a.Tilde(c.Cwd)
			list = append(list, cobra.CompletionWithDesc(strconv.FormatInt(c.ID, 10), about))
			if c.Task != "" {
				list = append(list, cobra.CompletionWithDesc(c.Task, "task of chain "+strconv.FormatInt(c.ID, 10)))
			}
		}
		return list, err
	})
}

// CompleteCall completes the number of a call.
func (a *App) CompleteCall(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return completeFrom(a, args, func(l *ledger.Ledger) (list []string, err error) {
		calls, err := l.LatestInvocations(ledger.Wanted{Limit: maxCompletions})
		for _, i := range calls {
			list = append(list, cobra.CompletionWithDesc(strconv.FormatInt(i.ID, 10), i.Tool+", "+view.Decision(i)))
		}
		return list, err
	})
}

const maxCompletions = 50

// completeFrom completes the only argument of a command from the ledger. Nothing is offered
// where that cannot be read.
func completeFrom(a *App, args []string, list func(*ledger.Ledger) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	var found []string
	if len(args) == 0 {
		_ = a.WithLedger(func(l *ledger.Ledger, _ view.Reporter) (err error) {
			found, err = list(l)
			return err
		})
	}
	for i, text := range found {
		value, about, _ := strings.Cut(text, "\t")
		found[i] = cobra.CompletionWithDesc(view.Printable(value), view.Printable(about))
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
