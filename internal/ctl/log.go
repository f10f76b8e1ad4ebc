package ctl

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/internal/ctl/why"
	"reprise/ledger"
	"reprise/ledger/history"

	"github.com/spf13/cobra"
)

func logCommand(a *app.App) *cobra.Command {
	var list *app.Listing
	var follow bool
	c := &cobra.Command{
		Use: "log", Short: "list the last calls, or follow them",
		Long: `Lists the last calls with their decisions and reasons, the latest last. With --follow: the last 10 calls, then
each call when it starts and when it ends, until you interrupt it.`,
		Args: app.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if follow {
				if !c.Flags().Changed("limit") {
					list.Wanted.Limit = followedAtFirst
				}
				return a.WithCalls(func() (*ledger.Ledger, error) {
					return awaitLedger(a)
				}, func(l *ledger.Ledger, r view.Reporter) error {
					return runFollow(a, l, r, list)
				})
			}
			return a.WithLedger(func(l *ledger.Ledger, r view.Reporter) error {
				return listCalls(a, l, r, list)
			})
		},
	}
	list = app.ListFlags(a, c, "shimctl.log/1")
	c.Flags().Lookup("json").Usage += ", one call a line"
	c.Flags().Lookup("limit").Usage += "; with --follow the calls before the first new one, 0 " +
		"for none"
	c.Flags().BoolVarP(&follow, "follow", "f", false, "show calls as they happen")
	return c
}

// A callLine is a call in JSON, one on a line in a list.
type callLine struct {
	Schema string `json:"schema" doc:"name of this schema"`
	Event  string `json:"event,omitempty" doc:"started or ended, with --follow"`
	view.CallReport
}

func newCallLine(r view.Reporter, event string, i ledger.Record) callLine {
	return callLine{"shimctl.log/1", event, r.Call(i)}
}

func listCalls(a *app.App, l *ledger.Ledger, r view.Reporter, flags *app.Listing) error {
	none := cmp.Or(a.PassedHere(), "no such call has been made yet")
	return app.Lister[ledger.Record]{
		What: "listing the calls", None: none,
		Read: func(l *ledger.Ledger, wanted history.Wanted) ([]ledger.Record, error) {
			calls, err := history.LatestCalls(l, wanted)
			slices.Reverse(calls) // at a terminal the end stays on the screen
			return calls, err
		},
		JSON: func(calls []ledger.Record) error {
			write := lineWriter(a, r)
			for _, i := range calls {
				if err := write("", i); err != nil {
					return err
				}
			}
			return nil
		},
		Table: func(calls []ledger.Record) *view.Table { return callTable(a, r, calls) },
	}.Print(a, l, flags)
}

var callColumns = []string{"CALL", "WHEN", "TOOL", "CHAIN", "DECISION", "OUTCOME", "TOOK", "INPUT",
	"CACHED", "WRITTEN", "OUTPUT", "COST",
	"SESSION", "RULE", "DIRECTORY", "TASK", "ROLE"}

func callTable(a *app.App, r view.Reporter, calls []ledger.Record) *view.Table {
	t := view.NewTable(callColumns...).
		Spare("RULE", "SESSION", "WRITTEN", "OUTPUT", "CACHED", "INPUT", "DIRECTORY", "TOOK",
			"ROLE", "TASK", "TOOL", "CHAIN", "COST")
	for _, i := range calls {
		t.Add(callRow(a, r, i)...)
	}
	return t
}

func callRow(a *app.App, r view.Reporter, i ledger.Record) []view.Cell {
	return []view.Cell{view.IDCell(i.ID), a.WhenCell(i.Started), view.TextCell(i.Tool),
		view.ChainCell(i.Chain),
		view.DecisionCell(i), view.OutcomeCell(i), view.DurationCell(i.Duration.NullInt64),
		view.TokensCell(i.Input.NullInt64), view.TokensCell(i.CacheRead.NullInt64),
		view.TokensCell(i.CacheWrite.NullInt64), view.TokensCell(i.Output.NullInt64),
		view.PriceCell(view.CallCost(r.Prices, i)),
		view.SessionCell(i.NativeID), view.TextCell(i.Rule), a.PathCell(i.Cwd),
		view.TextCell(i.Task), view.RoleCell(i.Role)}
}

// showCall prints everything about one call.
func showCall(a *app.App, r view.Reporter, i ledger.Record, asJSON bool) error {
	if asJSON {
		return a.Stdout.PrintJSON(newCallLine(r, "", i))
	}
	t := view.NewFoldedTable("FIELD", "VALUE")
	for _, f := range why.Fields(a, r, i) {
		t.Add(view.TextCell(f.Name).As(view.Dim), f.Cell)
	}
	t.Print(a.Stdout)
	return nil
}

// followedAtFirst is how many calls log --follow shows before those that come.
const followedAtFirst = 10

// pollEvery is how often the ledger is polled, since SQLite does not notify other processes.
const pollEvery = 200 * time.Millisecond

// runFollow shows the last calls, then each call when it starts and when it ends, until it is
// interrupted.
func runFollow(a *app.App, l *ledger.Ledger, r view.Reporter, list *app.Listing) error {
	wanted, err := list.Read(a, l)
	if err != nil {
		return err
	}
	back := wanted.Limit
	wanted.Limit = max(back, 1) // one at least, to know the new ones
	before, err := history.LatestCalls(l, wanted)
	if err != nil {
		return err
	}
	slices.Reverse(before)
	f := follower{show: followText(a, r), filter: wanted.Filter}
	if list.AsJSON {
		f.show = lineWriter(a, r)
	}
	for _, i := range before {
		if err := f.see(i, back > 0); err != nil {
			return err
		}
	}
	if a.Stdout.Terminal && a.Stderr.Terminal {
		a.Stderr.Notice("new calls follow; Ctrl-C leaves")
	}
	return f.follow(l)
}

// awaitLedger opens the ledger, and waits until there is one.
func awaitLedger(a *app.App) (*ledger.Ledger, error) {
	path, err := config.LedgerFile(a.Own)
	if err != nil {
		return nil, err
	}
	for {
		l, err := ledger.OpenExisting(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return l, err
		}
		time.Sleep(pollEvery)
	}
}

// A follower shows each call when it begins and when it ends.
type follower struct {
	filter  history.Filter
	show    func(event string, i ledger.Record) error
	last    int64 // the latest call that was shown
	running []int64
}

func (f *follower) see(i ledger.Record, shown bool) error {
	f.last = max(f.last, i.ID)
	event := "ended"
	if i.Outcome == "" {
		event = "began"
		f.running = append(f.running, i.ID)
	} else {
		f.running = slices.DeleteFunc(f.running, func(id int64) bool { return id == i.ID })
	}
	if !shown {
		return nil
	}
	return f.show(event, i)
}

func (f *follower) follow(l *ledger.Ledger) error {
	seen := int64(-1)
	for ; ; time.Sleep(pollEvery) {
		version, err := history.DataVersion(l)
		if err != nil {
			return err
		}
		if version == seen {
			continue
		}
		seen = version
		calls, err := history.CallsSince(l, f.last, f.running, f.filter)
		if err != nil {
			return err
		}
		for _, i := range calls {
			if err := f.see(i, true); err != nil {
				return err
			}
		}
	}
}

// lineWriter returns a function that writes a call as a line of JSON.
func lineWriter(a *app.App, r view.Reporter) func(string, ledger.Record) error {
	e := json.NewEncoder(view.JSONWriter{Writer: a.Stdout})
	e.SetEscapeHTML(false)
	return func(event string, i ledger.Record) error {
		return e.Encode(newCallLine(r, event, i))
	}
}

func followText(a *app.App, r view.Reporter) func(string, ledger.Record) error {
	if !a.Stdout.Terminal {
		header := append([]string{"EVENT"}, callTable(a, r, nil).Header...)
		return func(event string, i ledger.Record) error {
			t := view.NewTable(header...)
			t.Add(append([]view.Cell{view.TextCell(event)}, callRow(a, r, i)...)...)
			header = nil // it is printed once
			t.Print(a.Stdout)
			return nil
		}
	}
	return func(_ string, i ledger.Record) error {
		cells := []view.Cell{view.TextCell(i.Started.Time().Local().Format(time.TimeOnly)).As(
			view.Dim), view.TextCell(fmt.Sprintf("#%d", i.ID)), view.TextCell(i.Tool),
			view.DecisionCell(i), view.OutcomeCell(i)}
		if i.Outcome != "" {
			cells = append(cells, view.DurationCell(i.Duration.NullInt64),
				view.PriceCell(view.CallCost(r.Prices, i)))
		}
		if i.Chain != 0 {
			cells = append(cells, view.TextCell(fmt.Sprintf("chain c%d", i.Chain)))
		}
		_, err := fmt.Fprintln(a.Stdout, a.Stdout.Row(append(cells, a.PathCell(i.Cwd))...))
		return err
	}
}
