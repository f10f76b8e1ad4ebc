package main

import (
	"github.com/spf13/cobra"
	"reprise/internal/ui"
	"reprise/ledger"
)

func sessionsCommand(a *app) *cobra.Command {
	var list *listing
	var all bool
	c := &cobra.Command{
		Use: "sessions", Short: "list the sessions, the last used first",
		Long: `Lists the sessions that the shims started, the last used first. With --all: all sessions in the tools' own
directories. A session that is not in the ledger is only listed; no call ever resumes it.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			return a.withLedger(func(l *ledger.Ledger, r reporter) error {
				if all {
					return a.allSessions(l, r, list)
				}
				return a.sessions(l, list)
			})
		},
	}
	list = a.listFlags(c, "shimctl.sessions/1", sessionColumns, keptColumns)
	c.Flags().Lookup("json").Usage += ", with --all " + allSchema
	c.Flags().BoolVar(&all, "all", false, "all sessions in the tools' own directories")
	return paged(c)
}

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
