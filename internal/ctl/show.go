package ctl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/internal/ctl/why"
	"reprise/ledger"
	"reprise/ledger/history"

	"github.com/spf13/cobra"
)

func showCommand(a *app.App) *cobra.Command {
	var list *app.Listing
	c := &cobra.Command{
		Use:   "show [CALL|CHAIN|TASK|SESSION]",
		Short: "list the chains, or show one, a session or a call",
		Long: `Lists the chains, the last used first.

With the name of a chain, as c12, its task, or the start of a session's ID: its sessions and its calls, the oldest
first. With a number: everything recorded about that call.`,
		Args: func(c *cobra.Command, args []string) error {
			for _, given := range slices.Sorted(maps.Keys(list.Filter)) {
				if len(args) == 1 && *list.Filter[given] != "" {
					return app.Usage("--"+given+" filters the list: it does not go with one "+
						"chain, session or call", "usage: "+c.UseLine())
				}
			}
			return cobra.MaximumNArgs(1)(c, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return a.WithLedger(func(l *ledger.Ledger, r view.Reporter) error {
				if len(args) == 1 {
					return showNamed(a, l, r, args[0], list)
				}
				return listChains(a, l, r, list)
			})
		},
	}
	list = app.ListFlags(c,
		"shimctl.chains/1, of a chain shimctl.show/1, of a call shimctl.log/1")
	return c
}

type showReport struct {
	Schema string            `json:"schema" doc:"name of this schema"`
	Chain  view.ChainReport  `json:"chain" doc:"the chain"`
	Calls  []view.CallReport `json:"calls" doc:"its calls, the oldest first"`
}

// showNamed shows a call or a chain, or lists the chains of a task that has several. A number is a
// task only if it is no call.
func showNamed(a *app.App, l *ledger.Ledger, r view.Reporter, name string,
	list *app.Listing) error {
	i, missing := app.FindCall(l, name)
	switch {
	case missing == nil && list.AsJSON:
		return a.Stdout.PrintJSON(newCallLine(r, i))
	case missing == nil:
		why.Facts(a, r, i).Print(a.Stdout)
		return nil
	}
	chains, err := app.FindChains(l, name)
	switch {
	case err != nil && !app.IsUsage(missing):
		return missing // it was meant as a number
	case err != nil:
		return err
	case len(chains) > 1:
		*list.Filter["task"] = name
		return listChains(a, l, r, list)
	}
	return showChain(a, l, r, chains[0].ID, name, list.AsJSON)
}

func showChain(a *app.App, l *ledger.Ledger, r view.Reporter, id int64, name string,
	asJSON bool) error {
	query := history.Query{Filter: history.Filter{Chain: id}, Lasting: a.Lasting()}
	chains, err := history.Chains(l, query)
	if err == nil && len(chains) == 0 {
		err = app.NoChain(name) // all the calls were pruned
	}
	if err != nil {
		return err
	}
	calls, err := history.LatestCalls(l, query)
	if err != nil {
		return err
	}
	slices.Reverse(calls) // at a terminal the end stays on the screen
	if asJSON {
		return a.Stdout.PrintJSON(showReport{"shimctl.show/1", r.Chain(chains[0]),
			view.Mapped(calls, r.Call)})
	}
	printChain(a, r, chains[0], calls)
	return nil
}

func printChain(a *app.App, r view.Reporter, chain history.ChainRow, calls []ledger.Record) {
	title := []string{fmt.Sprintf("chain c%d", chain.ID), chain.Tool, a.Tilde(chain.Cwd)}
	for _, named := range [][2]string{{"task", chain.Task}, {"role", view.RoleName(chain.Role)},
		{"rule", chain.Last.Rule}} {
		if named[1] != "" {
			title = append(title, named[0]+" "+named[1])
		}
	}
	a.Stdout.Notice(strings.Join(title, "  "))
	t := view.NewTable("SESSION", "STATE", "TURNS", "CONTEXT", "MODEL", "COPY OF")
	for _, s := range slices.Backward(chain.Sessions) {
		t.Add(view.SessionCell(s.NativeID), view.StateCell(s), view.NumberCell(int64(s.Turns)),
			view.ContextCell(s.Context), view.TextCell(s.Model), view.SessionCell(s.Parent))
	}
	t.Print(a.Stdout)
	fmt.Fprintln(a.Stdout)
	app.CallTable(a, r, calls,
		"CALL WHEN DECISION OUTCOME COST TOOK INPUT CACHED WRITTEN OUTPUT SESSION").Print(a.Stdout)
}

type chainsReport struct {
	Schema string             `json:"schema" doc:"name of this schema"`
	Chains []view.ChainReport `json:"chains" doc:"the last used first"`
}

func listChains(a *app.App, l *ledger.Ledger, r view.Reporter, flags *app.Listing) error {
	query, err := flags.Query(a, l)
	if err != nil {
		return err
	}
	chains, err := history.Chains(l, query)
	switch {
	case err != nil:
		return err
	case flags.AsJSON:
		return a.Stdout.PrintJSON(chainsReport{"shimctl.chains/1",
			view.Mapped(chains, r.Chain)})
	case len(chains) == 0:
		a.Stderr.Notice("there is no such chain yet")
	default:
		chainTable(a, chains).Print(a.Stdout)
	}
	return nil
}

func chainTable(a *app.App, chains []history.ChainRow) *view.Table {
	t := view.NewTable("CHAIN", "TOOL", "TASK", "ROLE", "LAST", "WHEN", "STATE", "CALLS",
		"RESUMED", "CONTEXT", "DIRECTORY", "SESSION", "RULE")
	for _, c := range chains {
		s := view.Newest(c)
		t.Add(view.ChainCell(c.ID), view.TextCell(c.Tool), view.TextCell(c.Task),
			view.RoleCell(c.Role), view.DecisionCell(c.Last), a.WhenCell(c.Updated),
			view.StateCell(s), view.NumberCell(int64(c.Calls)), view.NumberCell(int64(c.Resumed)),
			view.ContextCell(s.Context), a.PathCell(c.Cwd), view.SessionCell(s.NativeID),
			view.TextCell(c.Last.Rule))
	}
	return t
}
