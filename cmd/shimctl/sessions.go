package main

import (
	"reprise/internal/ui"
	"reprise/ledger"
)

type sessionsReport struct {
	Schema   string          `json:"schema" doc:"name of this schema"`
	Sessions []sessionReport `json:"sessions" doc:"the last used first"`
}

var sessionColumns = []string{"SESSION", "TOOL", "CHAIN", "STATE", "TURNS", "CONTEXT", "USED", "CREATED", "MODEL", "VERSION"}

func (a *app) sessions(l *ledger.Ledger, list *listing) error {
	wanted, err := list.read(a, l)
	if err != nil {
		return err
	}
	sessions, err := ui.WithProgress(a.stderr, "listing the sessions", func() ([]ledger.SessionRow, error) { return l.SessionRows(wanted) })
	if err != nil {
		return err
	}
	if list.asJSON {
		return a.stdout.PrintJSON(sessionsReport{"shimctl.sessions/1", mapped(sessions, sessionJSON)})
	}
	if len(sessions) == 0 {
		a.stderr.Notice("there is no such session yet")
		return nil
	}
	t := ui.NewTable(sessionColumns...).Spare("VERSION", "CREATED", "MODEL", "CONTEXT", "TURNS", "CHAIN").Choose(list.names)
	for _, s := range sessions {
		t.Add(ui.SessionCell(s.NativeID), ui.TextCell(s.Tool), ui.IDCell(s.Chain), stateCell(s), ui.NumberCell(int64(s.Turns)), contextCell(s.Context),
			a.whenCell(s.LastUsed), a.whenCell(s.Created), ui.TextCell(s.Model), ui.TextCell(s.Version))
	}
	t.Print(a.stdout)
	return nil
}
