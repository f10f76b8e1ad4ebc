package ctl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
)

// followedAtFirst is how many calls log --follow shows before those that come.
const followedAtFirst = 10

type followReport struct {
	Schema string `json:"schema" doc:"name of this schema"`
	Event  string `json:"event" doc:"started or ended"`
	view.CallReport
}

// pollEvery is how often the ledger is polled, since SQLite does not notify other processes.
const pollEvery = 200 * time.Millisecond

// runFollow shows the last calls, then each call when it starts and when it ends, until it is interrupted.
func runFollow(a *app.App, list *app.Listing) error {
	prices, err := a.LoadPrices()
	if err != nil {
		return err
	}
	l, err := awaitLedger(a)
	if err != nil {
		return err
	}
	defer l.Close()
	wanted, err := list.Read(a, l)
	if err != nil {
		return err
	}
	back := wanted.Limit
	wanted.Limit = max(back, 1) // one at least, to know what is new
	before, err := l.LatestInvocations(wanted)
	if err != nil {
		return err
	}
	slices.Reverse(before)
	f := follower{show: followText(a, view.Reporter{Prices: prices}), filter: wanted.Filter}
	if list.AsJSON {
		f.show = followJSON(a, view.Reporter{Prices: prices})
	}
	for n, i := range before {
		if err := f.see(i, back > 0 || n < len(before)-1); err != nil {
			return err
		}
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
	filter  ledger.Filter
	show    func(event string, i ledger.Invocation) error
	last    int64 // the latest call that was shown
	running []int64
}

func (f *follower) see(i ledger.Invocation, shown bool) error {
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
		version, err := l.DataVersion()
		if err != nil {
			return err
		}
		if version == seen {
			continue
		}
		seen = version
		calls, err := l.InvocationsSince(f.last, f.running, f.filter)
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

func followJSON(a *app.App, r view.Reporter) func(string, ledger.Invocation) error {
	e := json.NewEncoder(view.JSONWriter{Writer: a.Stdout})
	e.SetEscapeHTML(false)
	return func(event string, i ledger.Invocation) error {
		return e.Encode(followReport{"shimctl.tail/1", event, r.Call(i)})
	}
}

func followText(a *app.App, r view.Reporter) func(string, ledger.Invocation) error {
	if !a.Stdout.Terminal {
		header := append([]string{"EVENT"}, callTable(a, r, nil).Header...)
		return func(event string, i ledger.Invocation) error {
			t := view.NewTable(header...)
			t.Add(append([]view.Cell{view.TextCell(event)}, callRow(a, r, i)...)...)
			header = nil // it is printed once
			t.Print(a.Stdout)
			return nil
		}
	}
	return func(_ string, i ledger.Invocation) error {
		outcome, decided := view.OutcomeCell(i), view.DecisionCell(i)
		parts := []string{a.Stdout.Paint(view.Dim, i.Started.Time().Local().Format(time.TimeOnly)), fmt.Sprintf("#%d", i.ID), i.Tool,
			a.Stdout.Paint(decided.Meaning, decided.Human), a.Stdout.Paint(outcome.Meaning, outcome.Human)}
		if i.Outcome != "" {
			parts = append(parts, view.DurationCell(i.Duration.NullInt64).Human, view.PriceCell(view.CallCost(r.Prices, i)).Human)
		}
		if i.Chain != 0 {
			parts = append(parts, fmt.Sprintf("chain %d", i.Chain))
		}
		_, err := fmt.Fprintln(a.Stdout, strings.Join(append(parts, view.Printable(a.Tilde(i.Cwd))), "  "))
		return err
	}
}
