package main

import (
	"fmt"
	"slices"
	"strings"

	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/rewrite"
	"reprise/rewrite/reason"

	"github.com/spf13/cobra"
)

func logCommand(a *app) *cobra.Command {
	var list *listing
	var store, follow bool
	c := &cobra.Command{
		Use: "log", Short: "list the last calls, or follow them",
		Long: `Lists the last calls with their decisions and reasons, the latest last. With --follow: the last 10 calls, then
each call when it starts and when it ends, until you interrupt it.`,
		Args: func(c *cobra.Command, args []string) error {
			if follow && (store || list.names != nil) {
				return usageError{"--follow goes neither with --store nor with --columns", "usage: " + c.UseLine()}
			}
			return atMostOneCall(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 1:
				a.stderr.Notice("shimctl log CALL is now shimctl show --call CALL")
				return a.withCalls(a.callsOf(store, nil), func(l *ledger.Ledger, r reporter) error { return a.showCall(l, r, args[0], list.asJSON) })
			case follow:
				if !c.Flags().Changed("limit") {
					list.wanted.Limit = followedAtFirst
				}
				return a.follow(list)
			}
			return a.withCalls(a.callsOf(store, list.filter), func(l *ledger.Ledger, r reporter) error { return a.log(l, r, list) })
		},
	}
	list = a.listFlags(c, "shimctl.log/1", callColumns, []string{machineColumn})
	c.Flags().Lookup("json").Usage += ", with --follow shimctl.tail/1, one object a line"
	c.Flags().Lookup("limit").Usage += "; with --follow the calls before the first new one, 0 for none"
	c.Flags().BoolVarP(&follow, "follow", "f", false, "show calls as they happen")
	storeFlag(c, &store)
	return paged(c, "follow")
}

type logReport struct {
	Schema      string       `json:"schema" doc:"name of this schema"`
	Invocations []callReport `json:"invocations" doc:"the calls, the latest last"`
}

func (a *app) log(l *ledger.Ledger, r reporter, list *listing) error {
	wanted, err := list.read(a, l)
	if err != nil {
		return err
	}
	calls, err := ui.WithProgress(a.stderr, "listing the calls", func() ([]ledger.Invocation, error) { return l.LatestInvocations(wanted) })
	if err != nil {
		return err
	}
	slices.Reverse(calls) // at a terminal the end stays on the screen
	if list.asJSON {
		return a.stdout.PrintJSON(logReport{"shimctl.log/1", mapped(calls, r.call)})
	}
	if len(calls) == 0 {
		a.stderr.Notice("no such call has been made yet")
		return nil
	}
	a.callTable(r, calls).Choose(list.names).Print(a.stdout)
	return nil
}

var callColumns = []string{"CALL", "WHEN", "TOOL", "CHAIN", "DECISION", "OUTCOME", "TOOK", "INPUT", "CACHED", "WRITTEN", "OUTPUT", "COST",
	"SESSION", "RULE", "DIRECTORY", "TASK", "ROLE"}

// machineColumn is a column of calls in a store.
const machineColumn = "MACHINE"

func (a *app) callTable(r reporter, calls []ledger.Invocation) *ui.Table {
	columns := slices.Clone(callColumns)
	ofMachines := slices.ContainsFunc(calls, func(i ledger.Invocation) bool { return i.Machine != "" })
	if ofMachines {
		columns = append(columns, machineColumn)
	}
	t := ui.NewTable(columns...).
		Spare("RULE", "SESSION", "WRITTEN", "OUTPUT", "CACHED", "INPUT", "DIRECTORY", "TOOK", "COST", "ROLE", "TASK", "CHAIN", "TOOL")
	for _, i := range calls {
		row := a.callRow(r, i)
		if ofMachines {
			row = append(row, ui.TextCell(i.Machine))
		}
		t.Add(row...)
	}
	return t
}

func (a *app) callRow(r reporter, i ledger.Invocation) []ui.Cell {
	return []ui.Cell{ui.IDCell(i.ID), a.whenCell(i.Started), ui.TextCell(i.Tool), ui.IDCell(i.Chain),
		decisionCell(i), outcomeCell(i), ui.DurationCell(i.Duration.NullInt64),
		ui.TokensCell(i.Input.NullInt64), ui.TokensCell(i.CacheRead.NullInt64), ui.TokensCell(i.CacheWrite.NullInt64), ui.TokensCell(i.Output.NullInt64), priceCell(callCost(r.prices, i)),
		ui.SessionCell(i.NativeID), ui.TextCell(i.Rule), a.pathCell(i.Cwd),
		ui.TextCell(i.Task), ui.TextCell(i.Role)}
}

// showCall prints everything about one call.
func (a *app) showCall(l *ledger.Ledger, r reporter, name string, asJSON bool) error {
	i, err := findInvocation(l, name)
	if err != nil {
		return err
	}
	if asJSON {
		return a.stdout.PrintJSON(logReport{"shimctl.log/1", []callReport{r.call(i)}})
	}
	t := ui.NewFoldedTable("FIELD", "VALUE")
	for _, f := range a.callFields(r, i) {
		t.Add(ui.TextCell(f.name).As(ui.Dim), f.cell)
	}
	t.Print(a.stdout)
	return nil
}

// lostWords say why a session is not in the store.
var lostWords = map[ledger.Lost]string{
	ledger.LostFenced: "another call had replaced it", ledger.LostUnknown: "it is not known whether it arrived",
	ledger.LostTooLarge: "it is larger than is shared", ledger.LostFailed: "the store failed",
}

// A field is one of the things that are recorded about a call.
type field struct {
	name string
	cell ui.Cell
}

// callFields returns everything known about a call.
func (a *app) callFields(r reporter, i ledger.Invocation) (fields []field) {
	add := func(name string, c ui.Cell) {
		c.Right = false
		if c.Raw != "" {
			fields = append(fields, field{name, c})
		}
	}
	add("call", ui.IDCell(i.ID))
	add("tool", ui.TextCell(i.Tool))
	add("directory", a.pathCell(i.Cwd))
	add("machine", ui.TextCell(i.Machine))
	add("began", a.whenCell(i.Started))
	add("decision", decisionCell(i))
	for _, reason := range []reason.Code{i.Reason, i.Detail, i.FellBack} {
		if reason != "" {
			add(string(reason), ui.TextCell(meaning(reason)))
		}
	}
	add("changed", ui.TextCell(strings.Join(i.Changed, ", ")))
	add("rule", ui.TextCell(i.Rule))
	add("task", ui.TextCell(i.Task))
	add("role", ui.TextCell(i.Role))
	add("chain", ui.IDCell(i.Chain))
	if i.Mode == rewrite.Fork {
		add("forked from", wholeID(i.ResumedFrom))
	} else {
		add("resumed from", wholeID(i.ResumedFrom))
	}
	add("used before on", ui.TextCell(i.From))
	add("session", wholeID(i.NativeID))
	add("not in the store", ui.TextCell(lostWords[i.Lost]))
	add("format", ui.TextCell(string(i.Format)))
	add("model", ui.TextCell(i.Model))
	add("outcome", outcomeCell(i))
	add("exit status", exitCell(i))
	add("signal", signalCell(i))
	add("took", ui.DurationCell(i.Duration.NullInt64))
	add("prompt", ui.Cell{Human: ui.Size(i.PromptBytes), Raw: fmt.Sprint(i.PromptBytes)})
	add("sent", ui.Cell{Human: ui.Size(i.SentBytes), Raw: fmt.Sprint(i.SentBytes)})
	add("input", ui.TokensCell(i.Input.NullInt64))
	add("cached", ui.TokensCell(i.CacheRead.NullInt64))
	add("written", ui.TokensCell(i.CacheWrite.NullInt64))
	add("output", ui.TokensCell(i.Output.NullInt64))
	cost := callCost(r.prices, i)
	add("cost", priceCell(cost))
	if !cost.known && i.Input.Valid && i.Model != "" {
		add("price", ui.TextCell(a.missingPrice(i.Model)))
	}
	return fields
}

func wholeID(id string) ui.Cell { return ui.Cell{Human: ui.OrDash(id), Raw: id} }
