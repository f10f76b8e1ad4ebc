package ctl

import (
	"slices"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/internal/ctl/why"
	"reprise/ledger"

	"github.com/spf13/cobra"
)

func logCommand(a *app.App) *cobra.Command {
	var list *app.Listing
	var store, follow bool
	c := &cobra.Command{
		Use: "log", Short: "list the last calls, or follow them",
		Long: `Lists the last calls with their decisions and reasons, the latest last. With --follow: the last 10 calls, then
each call when it starts and when it ends, until you interrupt it.`,
		Args: func(c *cobra.Command, args []string) error {
			if follow && (store || list.Names != nil) {
				return app.Usage("--follow goes neither with --store nor with --columns", "usage: "+c.UseLine())
			}
			return app.AtMostOneCall(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 1:
				a.Stderr.Notice("shimctl log CALL is now shimctl show --call CALL")
				return a.WithCalls(app.CallsOf(a, store, nil), func(l *ledger.Ledger, r view.Reporter) error { return showCall(a, l, r, args[0], list.AsJSON) })
			case follow:
				if !c.Flags().Changed("limit") {
					list.Wanted.Limit = followedAtFirst
				}
				return runFollow(a, list)
			}
			return a.WithCalls(app.CallsOf(a, store, list.Filter), func(l *ledger.Ledger, r view.Reporter) error { return listCalls(a, l, r, list) })
		},
	}
	list = app.ListFlags(a, c, "shimctl.log/1", callColumns, []string{machineColumn})
	c.Flags().Lookup("json").Usage += ", with --follow shimctl.tail/1, one object a line"
	c.Flags().Lookup("limit").Usage += "; with --follow the calls before the first new one, 0 for none"
	c.Flags().BoolVarP(&follow, "follow", "f", false, "show calls as they happen")
	app.StoreFlag(c, &store)
	return view.Paged(c, "follow")
}

type logReport struct {
	Schema      string            `json:"schema" doc:"name of this schema"`
	Invocations []view.CallReport `json:"invocations" doc:"the calls, the latest last"`
}

func listCalls(a *app.App, l *ledger.Ledger, r view.Reporter, list *app.Listing) error {
	wanted, err := list.Read(a, l)
	if err != nil {
		return err
	}
	calls, err := view.WithProgress(a.Stderr, "listing the calls", func() ([]ledger.Invocation, error) { return l.LatestInvocations(wanted) })
	if err != nil {
		return err
	}
	slices.Reverse(calls) // at a terminal the end stays on the screen
	if list.AsJSON {
		return a.Stdout.PrintJSON(logReport{"shimctl.log/1", view.Mapped(calls, r.Call)})
	}
	if len(calls) == 0 {
		a.Stderr.Notice("no such call has been made yet")
		return nil
	}
	callTable(a, r, calls).Choose(list.Names).Print(a.Stdout)
	return nil
}

var callColumns = []string{"CALL", "WHEN", "TOOL", "CHAIN", "DECISION", "OUTCOME", "TOOK", "INPUT", "CACHED", "WRITTEN", "OUTPUT", "COST",
	"SESSION", "RULE", "DIRECTORY", "TASK", "ROLE"}

// machineColumn is a column of calls in a store.
const machineColumn = "MACHINE"

func callTable(a *app.App, r view.Reporter, calls []ledger.Invocation) *view.Table {
	columns := slices.Clone(callColumns)
	ofMachines := slices.ContainsFunc(calls, func(i ledger.Invocation) bool { return i.Machine != "" })
	if ofMachines {
		columns = append(columns, machineColumn)
	}
	t := view.NewTable(columns...).
		Spare("RULE", "SESSION", "WRITTEN", "OUTPUT", "CACHED", "INPUT", "DIRECTORY", "TOOK", "COST", "ROLE", "TASK", "CHAIN", "TOOL")
	for _, i := range calls {
		row := callRow(a, r, i)
		if ofMachines {
			row = append(row, view.TextCell(i.Machine))
		}
		t.Add(row...)
	}
	return t
}

func callRow(a *app.App, r view.Reporter, i ledger.Invocation) []view.Cell {
	return []view.Cell{view.IDCell(i.ID), a.WhenCell(i.Started), view.TextCell(i.Tool), view.IDCell(i.Chain),
		view.DecisionCell(i), view.OutcomeCell(i), view.DurationCell(i.Duration.NullInt64),
		view.TokensCell(i.Input.NullInt64), view.TokensCell(i.CacheRead.NullInt64), view.TokensCell(i.CacheWrite.NullInt64), view.TokensCell(i.Output.NullInt64), view.PriceCell(view.CallCost(r.Prices, i)),
		view.SessionCell(i.NativeID), view.TextCell(i.Rule), a.PathCell(i.Cwd),
		view.TextCell(i.Task), view.TextCell(i.Role)}
}

// showCall prints everything about one call.
func showCall(a *app.App, l *ledger.Ledger, r view.Reporter, name string, asJSON bool) error {
	i, err := app.FindInvocation(l, name)
	if err != nil {
		return err
	}
	if asJSON {
		return a.Stdout.PrintJSON(logReport{"shimctl.log/1", []view.CallReport{r.Call(i)}})
	}
	t := view.NewFoldedTable("FIELD", "VALUE")
	for _, f := range why.Fields(a, r, i) {
		t.Add(view.TextCell(f.Name).As(view.Dim), f.Cell)
	}
	t.Print(a.Stdout)
	return nil
}
