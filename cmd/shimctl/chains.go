package main

import (
	"reprise/internal/ui"
	"reprise/ledger"
)

type chainsReport struct {
	Schema string        `json:"schema" doc:"name of this schema"`
	Chains []chainReport `json:"chains" doc:"the last used first"`
}

func (a *app) chains(l *ledger.Ledger, r reporter, list *listing) error {
	wanted, err := list.read(a, l)
	if err != nil {
		return err
	}
	chains, err := ui.WithProgress(a.stderr, "listing the chains", func() ([]ledger.ChainRow, error) { return l.Chains(wanted) })
	if err != nil {
		return err
	}
	if list.asJSON {
		return a.stdout.PrintJSON(chainsReport{"shimctl.chains/1", mapped(chains, r.chain)})
	}
	if len(chains) == 0 {
		a.stderr.Notice("there is no such chain yet")
		return nil
	}
	a.chainTable(chains).Choose(list.names).Print(a.stdout)
	return nil
}

var chainColumns = []string{"CHAIN", "TOOL", "TASK", "ROLE", "RULE", "CALLS", "RESUMED", "LAST", "WHEN", "CONTEXT", "SESSION", "STATE", "DIRECTORY", "NAME"}

func (a *app) chainTable(chains []ledger.ChainRow) *ui.Table {
	t := ui.NewTable(chainColumns...).
		Spare("RULE", "SESSION", "ROLE", "TASK", "DIRECTORY", "RESUMED", "CONTEXT", "TOOL", "CALLS", "STATE")
	for _, c := range chains {
		s := newest(c)
		t.Add(ui.IDCell(c.ID), ui.TextCell(c.Tool), ui.TextCell(c.Task), ui.TextCell(c.Role), ui.TextCell(c.Last.Rule), ui.NumberCell(int64(c.Calls)),
			ui.NumberCell(int64(c.Resumed)), decisionCell(c.Last), a.whenCell(c.Last.Started), contextCell(s.Context), ui.SessionCell(s.NativeID),
			stateCell(s), a.pathCell(c.Cwd), nameCell(c))
	}
	return t
}

// nameCell returns a cell with a name that people know.
func nameCell(c ledger.ChainRow) ui.Cell {
	return ui.TextCell(chainName(c.Task, c.Role, c.Cwd, c.Created))
}

func newest(c ledger.ChainRow) ledger.SessionRow {
	if len(c.Sessions) == 0 {
		return ledger.SessionRow{}
	}
	return c.Sessions[0]
}
