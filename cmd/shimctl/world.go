package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"reprise/ledger"
	"reprise/rewrite"
)

// openOrEmpty opens the ledger; a missing one counts as empty.
func (a *app) openOrEmpty() (*ledger.Ledger, error) {
	l, err := a.openLedger()
	if errors.Is(err, fs.ErrNotExist) {
		return ledger.OpenMemory()
	}
	return l, err
}

// withLedger calls look with the open ledger and the price list.
func (a *app) withLedger(look func(*ledger.Ledger, reporter) error) error {
	list, err := a.loadPrices()
	if err != nil {
		return err
	}
	l, err := a.openOrEmpty()
	if err != nil {
		return err
	}
	defer l.Close()
	return look(l, reporter{list})
}

// listFlags adds --json, --limit and --tool to a command that lists things.
func listFlags(c *cobra.Command, asJSON *bool, w *ledger.Wanted, schema string) {
	jsonFlag(c, asJSON, schema)
	c.Flags().IntVarP(&w.Limit, "limit", "n", 50, "show at most `N`, 0 for all")
	c.Flags().StringVar(&w.Tool, "tool", "", "only those of this `TOOL`")
	c.PreRunE = func(*cobra.Command, []string) error {
		if w.Limit < 0 {
			return usageError{"--limit is less than 0", "0 shows all"}
		}
		if w.Tool != "" && !slices.Contains(rewrite.Names, w.Tool) {
			return usageError{fmt.Sprintf("%q is not a tool", w.Tool), "one of " + strings.Join(rewrite.Names, ", ")}
		}
		return nil
	}
	completeFlag(c, "tool", rewrite.Names)
}

// oneArgument is for commands that take exactly one; what names it.
func oneArgument(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{fmt.Sprintf("%s takes %s", c.CommandPath(), what), "usage: " + c.UseLine()}
		}
		return nil
	}
}

// chainRow finds a chain, as findChain does.
func chainRow(l *ledger.Ledger, name string) (ledger.ChainRow, error) {
	found, err := findChain(l, name)
	if err != nil {
		return ledger.ChainRow{}, err
	}
	chains, err := l.Chains(ledger.Wanted{Chain: found.ID})
	if err == nil && len(chains) == 0 {
		err = noChain(name) // all of its calls were pruned
	}
	if err != nil {
		return ledger.ChainRow{}, err
	}
	return chains[0], nil
}

// findInvocation finds a call by its number.
func findInvocation(l *ledger.Ledger, name string) (ledger.InvocationRow, error) {
	number, err := strconv.ParseInt(strings.TrimPrefix(name, "#"), 10, 64)
	if err != nil {
		return ledger.InvocationRow{}, usageError{fmt.Sprintf("%q is not the number of a call", name), "shimctl log lists the calls"}
	}
	i, err := l.FindInvocation(number)
	if errors.Is(err, sql.ErrNoRows) {
		err = hinted{fmt.Errorf("find call %d: there is none", number), "shimctl log lists the calls"}
	}
	return i, err
}
