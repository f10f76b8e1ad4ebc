package ctl

import (
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
)

type sessionsReport struct {
	Schema   string               `json:"schema" doc:"name of this schema"`
	Sessions []view.SessionReport `json:"sessions" doc:"the last used first"`
}

var sessionColumns = []string{"SESSION", "TOOL", "CHAIN", "STATE", "TURNS", "CONTEXT", "USED", "CREATED", "MODEL", "VERSION"}

func listSessions(a *app.App, l *ledger.Ledger, list *app.Listing) error {
	wanted, err := list.Read(a, l)
	if err != nil {
		return err
	}
	sessions, err := view.WithProgress(a.Stderr, "listing the sessions", func() ([]ledger.SessionRow, error) { return l.SessionRows(wanted) })
	if err != nil {
		return err
	}
	if list.AsJSON {
		return a.Stdout.PrintJSON(sessionsReport{"shimctl.sessions/1", view.Mapped(sessions, view.SessionJSON)})
	}
	if len(sessions) == 0 {
		a.Stderr.Notice("there is no such session yet")
		return nil
	}
	t := view.NewTable(sessionColumns...).Spare("VERSION", "CREATED", "MODEL", "CONTEXT", "TURNS", "CHAIN").Choose(list.Names)
	for _, s := range sessions {
		t.Add(view.SessionCell(s.NativeID), view.TextCell(s.Tool), view.IDCell(s.Chain), view.StateCell(s), view.NumberCell(int64(s.Turns)), view.ContextCell(s.Context),
			a.WhenCell(s.LastUsed), a.WhenCell(s.Created), view.TextCell(s.Model), view.TextCell(s.Version))
	}
	t.Print(a.Stdout)
	return nil
}
