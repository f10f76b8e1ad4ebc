package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"reprise/internal/ui"
	"reprise/ledger"
)

func showCommand(a *app) *cobra.Command {
	var asJSON, store bool
	c := &cobra.Command{
		Use: "show ID", Short: "show a chain with its sessions and calls",
		Long: `Shows a chain as a tree: its sessions, the newest first and each before its copies, and the calls of each
with decision, use and outcome. ID is the number of a chain, its task, or the start of the ID of one of
its sessions.`,
		Args: oneArgument("the number or the task of a chain, or the id of a session"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withCalls(a.callsOf(store, nil), func(l *ledger.Ledger, r reporter) error { return a.show(l, r, args[0], asJSON, !store) })
		},
	}
	jsonFlag(c, &asJSON, "shimctl.show/1")
	storeFlag(c, &store)
	c.ValidArgsFunction = a.completeChain
	return paged(c)
}

type showReport struct {
	Schema      string       `json:"schema" doc:"name of this schema"`
	Chain       chainReport  `json:"chain" doc:"the chain"`
	Invocations []callReport `json:"invocations" doc:"its calls, the oldest first"`
}

// show shows a chain, as a tree if the sessions are known: a store's log has calls only.
func (a *app) show(l *ledger.Ledger, r reporter, name string, asJSON, sessions bool) error {
	chain, err := chainRow(l, name)
	if err != nil {
		return err
	}
	calls, err := l.LatestInvocations(ledger.Wanted{Filter: ledger.Filter{Chain: chain.ID}})
	if err != nil {
		return err
	}
	slices.Reverse(calls) // at a terminal the end stays on the screen
	switch {
	case asJSON:
		return a.stdout.PrintJSON(showReport{"shimctl.show/1", r.chain(chain), mapped(calls, r.call)})
	case a.stdout.Terminal && sessions:
		a.showTree(r, chain, calls)
	default:
		a.callTable(r, calls).Print(a.stdout)
	}
	return nil
}

func (a *app) showTree(r reporter, chain ledger.ChainRow, calls []ledger.Invocation) {
	title := []string{fmt.Sprintf("chain %d", chain.ID), chain.Tool, a.tilde(chain.Cwd)}
	for _, named := range [][2]string{{"task", chain.Task}, {"role", chain.Role}, {"rule", chain.Last.Rule}} {
		if named[1] != "" {
			title = append(title, named[0]+" "+named[1])
		}
	}
	fmt.Fprintln(a.stdout, a.stdout.Paint(ui.Strong, ui.Printable(strings.Join(title, "  "))))
	a.showBranches(r, "", branches(chain.Sessions, ""), chain.Sessions, calls)
}

// branches holds the sessions by the one that they were copied from, 0 for none.
func branches(sessions []ledger.SessionRow, parent string) (its []ledger.SessionRow) {
	for _, s := range sessions {
		known := s.Parent != "" && slices.ContainsFunc(sessions, func(o ledger.SessionRow) bool { return o.NativeID == s.Parent })
		if parent == "" && !known || parent != "" && s.Parent == parent {
			its = append(its, s)
		}
	}
	return its
}

// showBranches prints sessions that begin at one place, each with its copies. As
// long as that is one session after the other, they stand below each other.
func (a *app) showBranches(r reporter, bar string, its, all []ledger.SessionRow, calls []ledger.Invocation) {
	for n := 0; n < len(its); n++ {
		s := its[n]
		var copies []ledger.SessionRow
		if s.NativeID != "" {
			copies = branches(all, s.NativeID)
		}
		stem, below := "├─ ", "│  "
		if n == len(its)-1 && len(copies) != 1 {
			stem, below = "└─ ", "   "
		}
		state, context := stateCell(s), contextCell(s.Context)
		fmt.Fprintf(a.stdout, "%ssession %s  %s  %s  context %s  %s%s\n", bar+stem, ui.OrDash(s.NativeID), a.stdout.Paint(state.Meaning, state.Human),
			ui.Count(int64(s.Turns), "turn"), a.stdout.Paint(context.Meaning, context.Human), ui.Printable(s.Model), forkedFrom(s))
		a.showCalls(r, bar+below, ofSession(calls, s.ID))
		if len(copies) == 1 {
			its = slices.Insert(slices.Clone(its), n+1, copies[0])
		} else {
			a.showBranches(r, bar+below, copies, all, calls)
		}
	}
}

func forkedFrom(s ledger.SessionRow) string {
	if s.Parent == "" {
		return ""
	}
	return "  forked from " + s.Parent
}

// showCalls prints the calls of a session as a table that hangs below it.
func (a *app) showCalls(r reporter, bar string, calls []ledger.Invocation) {
	t := ui.NewTable("CALL", "WHEN", "DECISION", "OUTCOME", "TOOK", "INPUT", "CACHED", "WRITTEN", "OUTPUT", "COST")
	for _, i := range calls {
		t.Add(ui.IDCell(i.ID), a.whenCell(i.Started), decisionCell(i), outcomeCell(i), ui.DurationCell(i.Duration.NullInt64),
			ui.TokensCell(i.Input.NullInt64), ui.TokensCell(i.CacheRead.NullInt64), ui.TokensCell(i.CacheWrite.NullInt64), ui.TokensCell(i.Output.NullInt64), priceCell(callCost(r.prices, i)))
	}
	var b strings.Builder
	inner := a.stdout
	inner.Writer = &b
	if inner.Width > 0 {
		inner.Width -= utf8.RuneCountInString(bar + "├─ ")
	}
	t.Print(inner)
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for n, line := range lines {
		stem := "├─ "
		switch n {
		case 0:
			stem = "   " // the header
		case len(lines) - 1:
			stem = "└─ "
		}
		fmt.Fprintln(a.stdout, bar+stem+line)
	}
}

func ofSession(calls []ledger.Invocation, session int64) (its []ledger.Invocation) {
	for _, i := range calls {
		if i.Session == session {
			its = append(its, i)
		}
	}
	return its
}
