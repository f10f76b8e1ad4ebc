package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"reprise/config"
	"reprise/internal/ui"
	"reprise/ledger"
)

// followedAtFirst is how many calls log --follow shows before those that come.
const followedAtFirst = 10

type followReport struct {
	Schema string `json:"schema" doc:"name of this schema"`
	Event  string `json:"event" doc:"started or ended"`
	callReport
}

// pollEvery is how often the ledger is polled, since SQLite does not notify other processes.
const pollEvery = 200 * time.Millisecond

// follow shows the last calls, then each call when it starts and when it ends, until it is interrupted.
func (a *app) follow(list *listing) error {
	prices, err := a.loadPrices()
	if err != nil {
		return err
	}
	l, err := a.awaitLedger()
	if err != nil {
		return err
	}
	defer l.Close()
	wanted, err := list.read(a, l)
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
	f := follower{show: a.followText(reporter{prices}), filter: wanted.Filter}
	if list.asJSON {
		f.show = a.followJSON(reporter{prices})
	}
	for n, i := range before {
		if err := f.see(i, back > 0 || n < len(before)-1); err != nil {
			return err
		}
	}
	return f.follow(l)
}

// awaitLedger opens the ledger, and waits until there is one.
func (a *app) awaitLedger() (*ledger.Ledger, error) {
	path, err := config.LedgerFile(a.own)
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

func (a *app) followJSON(r reporter) func(string, ledger.Invocation) error {
	e := json.NewEncoder(ui.JSONWriter{Writer: a.stdout})
	e.SetEscapeHTML(false)
	return func(event string, i ledger.Invocation) error {
		return e.Encode(followReport{"shimctl.tail/1", event, r.call(i)})
	}
}

func (a *app) followText(r reporter) func(string, ledger.Invocation) error {
	if !a.stdout.Terminal {
		header := append([]string{"EVENT"}, a.callTable(r, nil).Header...)
		return func(event string, i ledger.Invocation) error {
			t := ui.NewTable(header...)
			t.Add(append([]ui.Cell{ui.TextCell(event)}, a.callRow(r, i)...)...)
			header = nil // it is printed once
			t.Print(a.stdout)
			return nil
		}
	}
	return func(_ string, i ledger.Invocation) error {
		outcome, decided := outcomeCell(i), decisionCell(i)
		parts := []string{a.stdout.Paint(ui.Dim, i.Started.Time().Local().Format(time.TimeOnly)), fmt.Sprintf("#%d", i.ID), i.Tool,
			a.stdout.Paint(decided.Meaning, decided.Human), a.stdout.Paint(outcome.Meaning, outcome.Human)}
		if i.Outcome != "" {
			parts = append(parts, ui.DurationCell(i.Duration.NullInt64).Human, priceCell(callCost(r.prices, i)).Human)
		}
		if i.Chain != 0 {
			parts = append(parts, fmt.Sprintf("chain %d", i.Chain))
		}
		_, err := fmt.Fprintln(a.stdout, strings.Join(append(parts, ui.Printable(a.tilde(i.Cwd))), "  "))
		return err
	}
}
