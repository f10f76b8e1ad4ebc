package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"reprise/config"
	"reprise/ledger"
	"reprise/rewrite"
)

// openOrEmpty opens the ledger. If there is none it returns an empty one.
func (a *app) openOrEmpty() (*ledger.Ledger, error) {
	l, err := a.openLedger()
	if errors.Is(err, fs.ErrNotExist) {
		return a.openEmpty()
	}
	return l, err
}

// openEmpty returns a ledger in memory for one that does not exist. It fails if none can be made,
// since then every call is passed through.
func (a *app) openEmpty() (*ledger.Ledger, error) {
	path, err := config.LedgerFile(a.own)
	if err != nil {
		return nil, err
	}
	if err := ledger.CheckCreatable(path); err != nil {
		return nil, hinted{err, "make " + a.tilde(filepath.Dir(path)) + " writable; until then every call is passed through"}
	}
	l, err := ledger.OpenMemory()
	if err != nil {
		return nil, err
	}
	return l, l.AddPassed(ledger.ReadPassed(path))
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

// atMostOneCall is for commands that take a call, or none.
func atMostOneCall(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usageError{fmt.Sprintf("%s takes one call, not %q as well", c.CommandPath(), args[1]), "usage: " + c.UseLine()}
	}
	return nil
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
