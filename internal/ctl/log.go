package ctl

import (
	"cmp"
	"encoding/json"
	"slices"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/history"

	"github.com/spf13/cobra"
)

func logCommand(a *app.App) *cobra.Command {
	var list *app.Listing
	c := &cobra.Command{
		Use: "log", Short: "list the last calls",
		Long: "Lists the last calls with their decisions and reasons, the latest last.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.WithLedger(func(l *ledger.Ledger, r view.Reporter) error {
				return listCalls(a, l, r, list)
			})
		},
	}
	list = app.ListFlags(c, "shimctl.log/1, one call a line")
	return c
}

// A callLine is a call in JSON, one on a line in a list.
type callLine struct {
	Schema string `json:"schema" doc:"name of this schema"`
	view.CallReport
}

func newCallLine(r view.Reporter, i ledger.Record) callLine {
	return callLine{"shimctl.log/1", r.Call(i)}
}

func listCalls(a *app.App, l *ledger.Ledger, r view.Reporter, flags *app.Listing) error {
	query, err := flags.Query(a, l)
	if err != nil {
		return err
	}
	calls, err := history.LatestCalls(l, query)
	slices.Reverse(calls) // at a terminal the end stays on the screen
	switch {
	case err != nil:
	case flags.AsJSON:
		e := json.NewEncoder(view.JSONWriter{Writer: a.Stdout})
		e.SetEscapeHTML(false)
		for _, i := range calls {
			err = cmp.Or(err, e.Encode(newCallLine(r, i)))
		}
	case len(calls) == 0:
		a.Stderr.Notice(cmp.Or(a.PassedHere(), "no managed call matches; status counts the others"))
	default:
		app.CallTable(a, r, calls, app.CallColumns).Print(a.Stdout)
	}
	return err
}
