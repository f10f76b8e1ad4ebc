package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"reprise/config"
	"reprise/ledger"
	"reprise/rewrite"
)

// openLedger opens the ledger to be looked at; one that does not exist yet is an empty one.
func (a *app) openLedger() (*ledger.Ledger, error) {
	path, err := config.LedgerFile(a.getenv)
	if err != nil {
		return nil, err
	}
	l, err := ledger.OpenExisting(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ledger.OpenMemory()
	}
	return l, err
}

// withLedger runs look with the open ledger and the price list.
func (a *app) withLedger(look func(*ledger.Ledger, reporter) error) error {
	list, err := a.loadPrices()
	if err != nil {
		return err
	}
	l, err := a.openLedger()
	if err != nil {
		return err
	}
	defer l.Close()
	return look(l, reporter{list})
}

// listFlags gives a command that lists things --json, --limit and --tool.
func listFlags(c *cobra.Command, asJSON *bool, w *ledger.Wanted, schema string) {
	jsonFlag(c, asJSON, schema)
	c.Flags().IntVarP(&w.Limit, "limit", "n", 50, "show at most `N`, 0 for all")
	c.Flags().StringVar(&w.Tool, "tool", "", "only those of this `TOOL`")
	c.PreRunE = func(*cobra.Command, []string) error {
		if w.Limit < 0 {
			return usageError{"--limit is less than 0", "0 shows all"}
		}
		if w.Tool != "" && !slices.Contains(rewrite.Names, w.Tool) {
			return usageError{fmt.Sprintf("%q is none of the tools", w.Tool), "one of " + strings.Join(rewrite.Names, ", ")}
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

// findChain finds a chain by its number, or by the id of one of its sessions, of which
// the beginning is enough where it is unique.
func findChain(l *ledger.Ledger, name string) (ledger.ChainRow, error) {
	number, err := strconv.ParseInt(name, 10, 64)
	if err == nil && number > 0 {
		chains, err := l.Chains(ledger.Wanted{Chain: number})
		if err != nil {
			return ledger.ChainRow{}, err
		}
		if len(chains) > 0 {
			return chains[0], nil
		}
	}
	sessions, err := l.SessionsLike(name)
	if err != nil {
		return ledger.ChainRow{}, err
	}
	found := map[int64]string{}
	for _, s := range sessions {
		found[s.Chain] = s.NativeID
	}
	if len(found) > 1 {
		ids := slices.Sorted(maps.Values(found))
		return ledger.ChainRow{}, hinted{fmt.Errorf("find %q: %d chains have a session that begins like this", name, len(found)),
			"one of " + strings.Join(ids[:min(len(ids), 5)], ", ")}
	}
	for chain := range found {
		if chains, err := l.Chains(ledger.Wanted{Chain: chain}); err != nil || len(chains) > 0 {
			return append(chains, ledger.ChainRow{})[0], err
		}
	}
	return ledger.ChainRow{}, hinted{fmt.Errorf("find %q: there is neither such a chain nor such a session", name),
		"shimctl chains and shimctl sessions list them"}
}

// A hinted error says what can be done about it.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

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
