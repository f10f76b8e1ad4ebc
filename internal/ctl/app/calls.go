package app

import (
	"strings"

	"reprise/internal/ctl/view"
	"reprise/ledger"
)

// CallColumns are the columns of calls, with spaces between, the most important first.
const CallColumns = "CALL WHEN TOOL CHAIN DECISION OUTCOME COST TASK ROLE TOOK DIRECTORY INPUT " +
	"CACHED WRITTEN OUTPUT SESSION RULE"

// CallTable returns a table of calls with the columns that are named, with spaces between.
func CallTable(a *App, r view.Reporter, calls []ledger.Record, columns string) *view.Table {
	names := strings.Fields(columns)
	t := view.NewTable(names...)
	for _, i := range calls {
		cells := callCells(a, r, i)
		t.Add(view.Mapped(names, func(name string) view.Cell { return cells[name] })...)
	}
	return t
}

func callCells(a *App, r view.Reporter, i ledger.Record) map[string]view.Cell {
	return map[string]view.Cell{
		"CALL":      view.IDCell(i.ID),
		"WHEN":      a.WhenCell(i.Started),
		"TOOL":      view.TextCell(i.Tool),
		"CHAIN":     view.ChainCell(i.Chain),
		"DECISION":  view.DecisionCell(i),
		"OUTCOME":   view.OutcomeCell(i),
		"COST":      view.PriceCell(view.CallCost(r.Prices, i)),
		"TASK":      view.TextCell(i.Task),
		"ROLE":      view.RoleCell(i.Role),
		"TOOK":      view.FigureCell("ms", i.Duration),
		"DIRECTORY": a.PathCell(i.Cwd),
		"INPUT":     view.FigureCell("tokens", i.Input),
		"CACHED":    view.FigureCell("tokens", i.CacheRead),
		"WRITTEN":   view.FigureCell("tokens", i.CacheWrite),
		"OUTPUT":    view.FigureCell("tokens", i.Output),
		"SESSION":   view.SessionCell(i.NativeID),
		"RULE":      view.TextCell(i.Rule),
	}
}

// A FactTable is a table of named facts, a row each. Empty ones are left out.
type FactTable struct{ *view.Table }

// NewFactTable returns a table without facts.
func NewFactTable() FactTable { return FactTable{view.NewFoldedTable("FIELD", "VALUE")} }

// CallFacts returns a table with the columns of a call as rows, in full.
func CallFacts(a *App, r view.Reporter, i ledger.Record) FactTable {
	f, cells := NewFactTable(), callCells(a, r, i)
	cells["DECISION"], cells["SESSION"] = view.TextCell(view.Decision(i)), view.TextCell(i.NativeID)
	for name := range strings.FieldsSeq(CallColumns) {
		f.Cell(strings.ToLower(name), cells[name])
	}
	return f
}

// Cell adds a row.
func (f FactTable) Cell(name string, c view.Cell) {
	c.Right = false
	if c.Raw != "" {
		f.Add(view.TextCell(name), c)
	}
}

// Text adds a row.
func (f FactTable) Text(name, value string) { f.Cell(name, view.TextCell(value)) }
