package ctl

import (
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
)

type chainsReport struct {
	Schema string             `json:"schema" doc:"name of this schema"`
	Chains []view.ChainReport `json:"chains" doc:"the last used first"`
}

func listChains(a *app.App, l *ledger.Ledger, r view.Reporter, list *app.Listing) error {
	wanted, err := list.Read(a, l)
	if err != nil {
		return err
	}
	chains, err := view.WithProgress(a.Stderr, "listing the chains", func() ([]ledger.ChainRow, error) { return l.Chains(wanted) })
	if err != nil {
		return err
	}
	if list.AsJSON {
		return a.Stdout.PrintJSON(chainsReport{"shimctl.chains/1", view.Mapped(chains, r.Chain)})
	}
	if len(chains) == 0 {
		a.Stderr.Notice("there is no such chain yet")
		return nil
	}
	chainTable(a, chains).Choose(list.Names).Print(a.Stdout)
	return nil
}

var chainColumns = []string{"CHAIN", "TOOL", "TASK", "ROLE", "RULE", "CALLS", "RESUMED", "LAST", "WHEN", "CONTEXT", "SESSION", "STATE", "DIRECTORY", "NAME"}

func chainTable(a *app.App, chains []ledger.ChainRow) *view.Table {
	t := view.NewTable(chainColumns...).
		Spare("RULE", "SESSION", "ROLE", "TASK", "DIRECTORY", "RESUMED", "CONTEXT", "TOOL", "CALLS", "STATE")
	for _, c := range chains {
		s := view.Newest(c)
		t.Add(view.IDCell(c.ID), view.TextCell(c.Tool), view.TextCell(c.Task), view.TextCell(c.Role), view.TextCell(c.Last.Rule), view.NumberCell(int64(c.Calls)),
			view.NumberCell(int64(c.Resumed)), view.DecisionCell(c.Last), a.WhenCell(c.Last.Started), view.ContextCell(s.Context), view.SessionCell(s.NativeID),
			view.StateCell(s), a.PathCell(c.Cwd), view.NameCell(c))
	}
	return t
}
