package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"reprise/config"
	"reprise/ledger"

	"github.com/spf13/cobra"
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
	return a.withCalls(a.openOrEmpty, look)
}

// withCalls calls look with a ledger and the price list.
func (a *app) withCalls(open func() (*ledger.Ledger, error), look func(*ledger.Ledger, reporter) error) error {
	list, err := a.loadPrices()
	if err != nil {
		return err
	}
	l, err := open()
	if err != nil {
		return err
	}
	defer l.Close()
	return look(l, reporter{list})
}

// A listing is what the flags of a command that lists things say.
type listing struct {
	asJSON bool
	filter *filterFlags
	*columnsFlag
	wanted ledger.Wanted // without the filter
}

// listFlags adds --json, --limit, --columns and the filter to a command that lists things in tables with
// these headers.
func (a *app) listFlags(c *cobra.Command, schema string, headers ...[]string) *listing {
	var list listing
	jsonFlag(c, &list.asJSON, schema)
	c.Flags().IntVarP(&list.wanted.Limit, "limit", "n", 50, "show at most `N`, 0 for all")
	c.PreRunE = func(*cobra.Command, []string) error {
		if list.wanted.Limit < 0 {
			return usageError{"--limit is less than 0", "0 shows all"}
		}
		return nil
	}
	list.filter = a.filterFlag(c)
	list.columnsFlag = addColumns(c, headers...)
	return &list
}

// read returns what the flags select.
func (l *listing) read(a *app, from *ledger.Ledger) (wanted ledger.Wanted, err error) {
	wanted = l.wanted
	wanted.Filter, err = a.filter(from, l.filter)
	return wanted, err
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
