package main

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"

	"golang.org/x/sys/unix"
)

// whenCell returns a cell with a time, which people see relative to now.
func (a *app) whenCell(m decide.Millis) ui.Cell {
	return ui.Cell{Human: ago(a.now, m), Raw: m.Time().Format(time.RFC3339), Right: true}
}

// pathCell returns a cell with a path, which people see below ~.
func (a *app) pathCell(p string) ui.Cell { return ui.Cell{Human: ui.OrDash(a.tilde(p)), Raw: p} }

// priceCell returns a cell with a price. Programs read dollars with all their digits.
func priceCell(p sum) ui.Cell {
	if !p.known {
		return ui.UnknownCell()
	}
	return ui.Cell{Human: p.human(), Raw: ui.ExactDollars(p.nano), Right: true}
}

// human writes the sum for people. A tilde marks an estimate.
func (s sum) human() string {
	switch {
	case !s.known:
		return ui.NotKnown
	case s.most > s.nano:
		return "~" + ui.Dollars(s.nano) + " to " + ui.Dollars(s.most)
	case s.estimated:
		return "~" + ui.Dollars(s.nano)
	}
	return ui.Dollars(s.nano)
}

// decisionCell returns a cell with the decision on a call and its reason, colored by the outcome.
func decisionCell(i ledger.Invocation) ui.Cell {
	c := ui.TextCell(decision(i))
	switch {
	case i.Outcome != "" && i.Outcome != "ok":
		return c.As(ui.Bad)
	case i.FellBack != "":
		return c.As(ui.Warn)
	case i.Mode.Continues():
		return c.As(ui.Good)
	}
	return c
}

// outcomeCell returns a cell with the outcome, and for people its exit code or signal.
func outcomeCell(i ledger.Invocation) ui.Cell {
	switch i.Outcome {
	case "ok":
		return ui.TextCell("ok")
	case "":
		return ui.TextCell("running").As(ui.Warn)
	}
	c := ui.TextCell(i.Outcome).As(ui.Bad)
	switch {
	case i.Signal.Valid:
		c.Human += fmt.Sprintf(" (signal %d)", i.Signal.Int64)
	case i.Exit.Valid && i.Exit.Int64 != 0:
		c.Human += fmt.Sprintf(" (%d)", i.Exit.Int64)
	}
	return c
}

// exitCell returns a cell with the exit status of a call that ended by itself.
func exitCell(i ledger.Invocation) ui.Cell {
	if !i.Exit.Valid || i.Signal.Valid {
		return ui.Cell{}
	}
	return ui.TextCell(strconv.FormatInt(i.Exit.Int64, 10))
}

// signalCell returns a cell with the signal that ended a call.
func signalCell(i ledger.Invocation) ui.Cell {
	if !i.Signal.Valid {
		return ui.Cell{}
	}
	c := ui.TextCell(strconv.FormatInt(i.Signal.Int64, 10))
	if name := unix.SignalName(syscall.Signal(i.Signal.Int64)); name != "" {
		c.Human += " (" + name + ")"
	}
	return c
}

// contextCell returns a cell with how full the session's context is. People also see a bar.
func contextCell(c rewrite.Context) ui.Cell {
	if c.Limit == 0 {
		return ui.UnknownCell()
	}
	percent := (100*c.Used + c.Limit/2) / c.Limit
	const wide = 10
	full := int(min(wide, max(0, (percent+5)/10)))
	shown := ui.Cell{Human: fmt.Sprintf("%s%s %3d %%", strings.Repeat("▮", full), strings.Repeat("▯", wide-full), percent),
		Raw: fmt.Sprintf("%d%%", percent)}
	switch {
	case percent >= 80:
		return shown.As(ui.Bad)
	case percent >= 60:
		return shown.As(ui.Warn)
	}
	return shown.As(ui.Good)
}

// stateCell returns a cell with the session's state.
func stateCell(s ledger.SessionRow) ui.Cell {
	c := ui.TextCell(sessionState(s))
	switch {
	case s.State == decide.Live && !s.Reset:
		return c.As(ui.Good)
	case s.State == decide.Running:
		return c.As(ui.Warn)
	}
	return c.As(ui.Dim)
}

// sessionState returns whether the session can be resumed, and if not, why.
func sessionState(s ledger.SessionRow) string {
	state := string(s.State)
	switch {
	case s.Held:
		state = "busy"
	case s.Why != "":
		state += fmt.Sprintf(" (%s)", s.Why)
	case s.Reset:
		state += " (reset)"
	}
	return state
}

// savedCell returns a cell with what was saved, nil if that is not known.
func savedCell(unit string, n *float64) ui.Cell {
	switch {
	case n == nil:
		return ui.UnknownCell()
	case unit == "nano_usd":
		return priceCell(sum{known: true, nano: int64(*n), most: int64(*n)})
	}
	c := ui.NumberCell(int64(*n))
	if *n >= 0 {
		c.Human = ui.ShortNumber(int64(*n))
	}
	return c
}
