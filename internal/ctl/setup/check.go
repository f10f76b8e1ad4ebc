package setup

import (
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
)

// A Check is the result of one check.
type Check struct {
	Name   string `json:"name" doc:"the subject of the check"`
	Result string `json:"result" doc:"ok, note, problem or fixed"`
	Finds  string `json:"finding" doc:"the finding"`
	Fix    string `json:"fix,omitempty" doc:"how to fix it"`
}

// OK returns the result of a check that found the subject in order.
func OK(name, finds string) Check { return Check{Name: name, Result: "ok", Finds: finds} }

// Note returns a finding that keeps no call from being resumed.
func Note(name, finds, fix string) Check { return Check{name, "note", finds, fix} }

// Problem returns a finding that must be fixed.
func Problem(name, finds, fix string) Check { return Check{name, "problem", finds, fix} }

// Fixed returns a problem that this run has fixed.
func Fixed(name, finds string) Check { return Check{Name: name, Result: "fixed", Finds: finds} }

// PrintChecks prints the results of checks as a table.
func PrintChecks(a *app.App, checks []Check) {
	if !a.Stdout.Terminal {
		t := view.NewTable("RESULT", "CHECK", "FINDS", "FIX")
		for _, c := range checks {
			t.Add(c.resultCell(), view.TextCell(c.Name), view.TextCell(c.Finds),
				view.TextCell(c.Fix))
		}
		t.Print(a.Stdout)
		return
	}
	// the finding and its fix do not fit side by side
	t := view.NewFoldedTable("RESULT", "CHECK", "FINDS")
	for _, c := range checks {
		t.Add(c.resultCell(), view.TextCell(c.Name), view.TextCell(c.Finds))
		if c.Fix != "" {
			t.Add(view.Cell{}, view.Cell{}, view.TextCell("fix: "+c.Fix).As(view.Strong))
		}
	}
	t.Print(a.Stdout)
}

func (c Check) resultCell() view.Cell {
	return view.TextCell(c.Result).As(map[string]view.Meaning{"ok": view.Good, "fixed": view.Good,
		"note": view.Warn, "problem": view.Bad}[c.Result])
}
