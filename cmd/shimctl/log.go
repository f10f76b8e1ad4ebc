package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"reprise/ledger"
	"reprise/rewrite"
)

func logCommand(a *app) *cobra.Command {
	var asJSON bool
	var wanted ledger.Wanted
	c := &cobra.Command{
		Use: "log [CALL]", Short: "list the last calls, or show one",
		Long: `Lists the last calls with their decisions and reasons, the latest last. With the number of a call: everything
recorded about that call, and what its reasons mean.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Sprintf("%s takes one call, not %q as well", c.CommandPath(), args[1]), "usage: " + c.UseLine()}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withLedger(func(l *ledger.Ledger, r reporter) error {
				if len(args) == 1 {
					return a.logOne(l, r, args[0], asJSON)
				}
				return a.log(l, r, wanted, asJSON)
			})
		},
	}
	listFlags(c, &asJSON, &wanted, "shimctl.log/1")
	return c
}

type logReport struct {
	Schema      string             `json:"schema" doc:"name of this schema"`
	Invocations []invocationReport `json:"invocations" doc:"the calls, the latest last"`
}

func (a *app) log(l *ledger.Ledger, r reporter, wanted ledger.Wanted, asJSON bool) error {
	calls, err := slowResult(a, "listing the calls", func() ([]ledger.InvocationRow, error) { return l.InvocationRows(wanted) })
	if err != nil {
		return err
	}
	slices.Reverse(calls) // at a terminal one looks at the end
	if asJSON {
		return a.printJSON(logReport{"shimctl.log/1", mapped(calls, r.invocation)})
	}
	if len(calls) == 0 {
		a.nothing("no such call has been made yet")
		return nil
	}
	a.callTable(r, calls).print(a.stdout)
	return nil
}

func (a *app) callTable(r reporter, calls []ledger.InvocationRow) *table {
	t := newTable("CALL", "WHEN", "TOOL", "CHAIN", "DECISION", "OUTCOME", "TOOK", "INPUT", "CACHED", "WRITTEN", "OUTPUT", "COST",
		"SESSION", "RULE", "DIRECTORY")
	for _, i := range calls {
		t.add(a.callRow(r, i)...)
	}
	return t
}

func (a *app) callRow(r reporter, i ledger.InvocationRow) []cell {
	return []cell{idCell(i.ID), a.whenCell(i.Started), textCell(i.Tool), idCell(i.Chain), decisionCell(i), outcomeCell(i), tookCell(i.Duration),
		tokensCell(i.Input), tokensCell(i.CacheRead), tokensCell(i.CacheWrite), tokensCell(i.Output), priceCell(callCost(r.prices, i)),
		sessionCell(i.NativeID), textCell(i.Rule), a.pathCell(i.Cwd)}
}

// logOne tells all about one call.
func (a *app) logOne(l *ledger.Ledger, r reporter, name string, asJSON bool) error {
	i, err := findInvocation(l, name)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(logReport{"shimctl.log/1", []invocationReport{r.invocation(i)}})
	}
	t := newFoldedTable("FIELD", "VALUE")
	add := func(name string, c cell) {
		c.right = false
		if c.raw != "" {
			t.add(textCell(name).as(dim), c)
		}
	}
	add("call", idCell(i.ID))
	add("tool", textCell(i.Tool))
	add("directory", a.pathCell(i.Cwd))
	add("began", a.whenCell(i.Started))
	add("decision", decisionCell(i))
	for _, reason := range []rewrite.Reason{i.Reason, i.Detail, i.FellBack} {
		if reason != "" {
			add(string(reason), textCell(meaningOf(reason)))
		}
	}
	add("changed", textCell(strings.Join(i.Changed(), ", ")))
	add("rule", textCell(i.Rule))
	add("chain", idCell(i.Chain))
	if i.Mode == rewrite.Fork {
		add("forked from", wholeID(i.ResumedFrom))
	} else {
		add("resumed from", wholeID(i.ResumedFrom))
	}
	add("session", wholeID(i.NativeID))
	add("format", textCell(string(i.Format)))
	add("model", textCell(i.Model))
	add("outcome", outcomeCell(i))
	add("took", tookCell(i.Duration))
	add("prompt", cell{human: size(i.PromptBytes), raw: fmt.Sprint(i.PromptBytes)})
	add("sent", cell{human: size(i.SentBytes), raw: fmt.Sprint(i.SentBytes)})
	add("input", tokensCell(i.Input))
	add("cached", tokensCell(i.CacheRead))
	add("written", tokensCell(i.CacheWrite))
	add("output", tokensCell(i.Output))
	add("cost", priceCell(callCost(r.prices, i)))
	t.print(a.stdout)
	return nil
}

func wholeID(id string) cell { return cell{human: orDash(id), raw: id} }

// meaningOf says in a sentence what a reason means.
func meaningOf(r rewrite.Reason) string {
	if sentence, ok := meanings[r]; ok {
		return sentence
	}
	return "a reason that this shimctl does not know: " + strings.ReplaceAll(string(r), "_", " ")
}
