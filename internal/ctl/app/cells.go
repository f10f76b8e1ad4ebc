package app

import (
	"time"

	"reprise/internal/ctl/view"
	"reprise/ledger/decide"
)

// WhenCell returns a cell with a time, which people see relative to now.
func (a *App) WhenCell(m decide.Millis) view.Cell {
	return view.Cell{Human: view.Ago(a.Now, m), Raw: m.Time().Format(time.RFC3339), Right: true}
}

// PathCell returns a cell with a path, which people see below ~.
func (a *App) PathCell(p string) view.Cell { return view.Cell{Human: view.OrDash(a.Tilde(p)), Raw: p} }
