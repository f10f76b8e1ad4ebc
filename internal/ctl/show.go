package ctl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

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

With the name of a chain, as c12, its task, or the start of a session's ID: the chain as a tree of its sessions, each
before its copies, and their calls. With a number: everything recorded about that call.`,
		Args: func(c *cobra.Command, args []string) error {
			if given := list.Filter.Given(); len(args) == 1 && given != "" {
				return app.Usage("--"+given+" filters the list: it does not go with one "+
					"chain, session or call", "usage: "+c.UseLine())
			}
			return app.AtMostOne("call, chain or session")(c, args)
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
	list = app.ListFlags(a, c, "shimctl.chains/1")
	c.Flags().Lookup("json").Usage += ", of a chain shimctl.show/1, of a call shimctl.log/1"
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
	if chains, err := app.FindChains(l, name); err == nil && len(chains) > 1 {
		*list.Filter["task"] = name
		return listChains(a, l, r, list)
	}
	err := showChain(a, l, r, name, list.AsJSON)
	if unknown := app.UnknownChain(""); errors.As(err, &unknown) && !app.IsUsage(missing) {
		return missing // it was meant as a number
	}
	return err
}

// showChain shows a chain.
func showChain(a *app.App, l *ledger.Ledger, r view.Reporter, name string, asJSON bool) error {
	chain, err := a.ChainRow(l, name)
	if err != nil {
		return err
	}
	calls, err := history.LatestCalls(l, history.Query{Filter: history.Filter{Chain: chain.ID}})
	if err != nil {
		return err
	}
	slices.Reverse(calls) // at a terminal the end stays on the screen
	switch {
	case asJSON:
		return a.Stdout.PrintJSON(showReport{"shimctl.show/1", r.Chain(chain),
			view.Mapped(calls, r.Call)})
	case a.Stdout.Terminal:
		showTree(a, r, chain, calls)
	default:
		callTable(a, r, calls).Print(a.Stdout)
	}
	return nil
}

func showTree(a *app.App, r view.Reporter, chain history.ChainRow, calls []ledger.Record) {
	title := []string{fmt.Sprintf("chain c%d", chain.ID), chain.Tool, a.Tilde(chain.Cwd)}
	for _, named := range [][2]string{{"task", chain.Task}, {"role", view.RoleName(chain.Role)},
		{"rule", chain.Last.Rule}} {
		if named[1] != "" {
			title = append(title, named[0]+" "+named[1])
		}
	}
	a.Stdout.Sentences("", view.Strong, strings.Join(title, "  "))
	first := history.Branches(chain.Sessions, "")
	lines := newCallLines(a, r, calls, 1+history.Depth(first, chain.Sessions))
	showBranches(a, "", first, chain.Sessions, lines)
	if lines.hidden != "" {
		fmt.Fprintln(a.Stdout, lines.hidden)
	}
}

// showBranches prints sessions that begin at one place, each with its copies. As
// long as that is one session after the other, they stand below each other.
func showBranches(a *app.App, bar string, its, all []history.SessionRow, calls *callLines) {
	for n := 0; n < len(its); n++ {
		s := its[n]
		copies := history.CopiesOf(s, all)
		stem, below := "├─ ", "│  "
		if n == len(its)-1 && len(copies) != 1 {
			stem, below = "└─ ", "   "
		}
		state, context := view.StateCell(s), view.ContextCell(s.Context)
		facts := []string{"session " + view.OrDash(s.NativeID), state.Human,
			view.Count(int64(s.Turns), "turn"), "context " + context.Human, view.Printable(s.Model)}
		if s.Parent != "" {
			facts = append(facts, "copy of "+view.SessionCell(s.Parent).Human)
		}
		for i := range facts {
			facts[i] = strings.ReplaceAll(facts[i], " ", view.Glue)
		}
		title := strings.Join(facts, "  ")
		for i, line := range strings.Split(
			a.Stdout.Indented(title, utf8.RuneCountInString(bar+stem)), "\n") {
			if i > 0 {
				stem = below
			}
			fmt.Fprintln(a.Stdout, bar+stem+a.Stdout.Paint(state.Meaning, strings.TrimSpace(line)))
		}
		calls.print(a, bar+below, s.ID)
		if len(copies) == 1 {
			its = slices.Insert(slices.Clone(its), n+1, copies[0])
		} else {
			showBranches(a, bar+below, copies, all, calls)
		}
	}
}

// callLines are the lines of a table of calls, which hang below their sessions.
type callLines struct {
	header string // until it is printed
	of     map[int64][]string
	hidden string // the columns that there is no room for
}

// newCallLines draws a table of calls, narrower than the screen by the width of a depth.
func newCallLines(a *app.App, r view.Reporter, calls []ledger.Record, depth int) *callLines {
	t := view.NewTable("CALL", "WHEN", "DECISION", "OUTCOME", "COST", "TOOK", "INPUT", "CACHED",
		"WRITTEN", "OUTPUT")
	for _, i := range calls {
		t.Add(view.IDCell(i.ID), a.WhenCell(i.Started), view.DecisionCell(i), view.OutcomeCell(i),
			view.PriceCell(view.CallCost(r.Prices, i)), view.DurationCell(i.Duration.NullInt64),
			view.TokensCell(i.Input.NullInt64), view.TokensCell(i.CacheRead.NullInt64),
			view.TokensCell(i.CacheWrite.NullInt64), view.TokensCell(i.Output.NullInt64))
	}
	inner := *a
	if inner.Stdout.Width > 0 {
		inner.Stdout.Width = max(1, inner.Stdout.Width-(1+depth)*utf8.RuneCountInString("├─ "))
	}
	lines := inner.Stdout.Drawn(t.Print)
	c := &callLines{header: lines[0], of: map[int64][]string{},
		hidden: strings.Join(lines[1+len(calls):], "\n")}
	for n, i := range calls {
		c.of[i.Session] = append(c.of[i.Session], lines[n+1])
	}
	return c
}

// print prints the calls of a session, and above the first ones the header.
func (c *callLines) print(a *app.App, bar string, session int64) {
	lines := c.of[session]
	if len(lines) > 0 && c.header != "" {
		fmt.Fprintln(a.Stdout, bar+"   "+c.header)
		c.header = ""
	}
	for n, line := range lines {
		stem := "├─ "
		if n == len(lines)-1 {
			stem = "└─ "
		}
		fmt.Fprintln(a.Stdout, bar+stem+line)
	}
}

type chainsReport struct {
	Schema string             `json:"schema" doc:"name of this schema"`
	Chains []view.ChainReport `json:"chains" doc:"the last used first"`
}

func listChains(a *app.App, l *ledger.Ledger, r view.Reporter, flags *app.Listing) error {
	return app.Lister[history.ChainRow]{
		None: "there is no such chain yet", Read: history.Chains,
		JSON: func(chains []history.ChainRow) error {
			return a.Stdout.PrintJSON(chainsReport{"shimctl.chains/1",
				view.Mapped(chains, r.Chain)})
		},
		Table: func(chains []history.ChainRow) *view.Table { return chainTable(a, chains) },
	}.Print(a, l, flags)
}

var chainColumns = []string{"CHAIN", "TOOL", "TASK", "ROLE", "RULE", "CALLS", "RESUMED", "LAST",
	"WHEN", "CONTEXT", "SESSION", "STATE", "DIRECTORY", "NAME"}

func chainTable(a *app.App, chains []history.ChainRow) *view.Table {
	t := view.NewTable(chainColumns...).
		Spare("RULE", "SESSION", "ROLE", "TASK", "DIRECTORY", "RESUMED", "CONTEXT", "TOOL", "CALLS",
			"STATE")
	for _, c := range chains {
		s := view.Newest(c)
		t.Add(view.ChainCell(c.ID), view.TextCell(c.Tool), view.TextCell(c.Task),
			view.RoleCell(c.Role), view.TextCell(c.Last.Rule), view.NumberCell(int64(c.Calls)),
			view.NumberCell(int64(c.Resumed)), view.DecisionCell(c.Last), a.WhenCell(c.Updated),
			view.ContextCell(s.Context), view.SessionCell(s.NativeID),
			view.StateCell(s), a.PathCell(c.Cwd), view.TextCell(view.ChainName(c.Task, c.Role, c.Cwd, c.Created)))
	}
	return t
}
