package view

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// PriceCell returns a cell with a price. Programs read dollars with all their digits.
func PriceCell(p Sum) Cell {
	if !p.Known {
		return UnknownCell()
	}
	return Cell{Human: p.Human(), Raw: exactDollars(p.Nano), Right: true}
}

// DecisionCell returns a cell with the decision on a call. A person reads the class of the reason.
func DecisionCell(i ledger.Record) Cell {
	c := TextCell(Decision(i))
	c.Human = string(i.Mode)
	if class := cmp.Or(i.FellBack, i.Reason).Class(); class != reason.ClassContinues {
		c.Human += ": " + class.Words()
	}
	if i.FellBack != "" {
		c.Human += " (a resume was refused)"
	}
	return c
}

// OutcomeCell returns a cell with the outcome, and for people the exit code or signal.
func OutcomeCell(i ledger.Record) Cell {
	c := TextCell(i.Outcome)
	switch {
	case i.Outcome == "":
		return TextCell("running")
	case i.Outcome == "ok":
	case i.Signal.Valid:
		c.Human += fmt.Sprintf(" (signal %d)", i.Signal.Int64)
	case i.Exit.Valid && i.Exit.Int64 != 0:
		c.Human += fmt.Sprintf(" (%d)", i.Exit.Int64)
	}
	return c
}

// ContextCell returns a cell with how full the session's context is.
func ContextCell(c rewrite.Context) Cell { return AmountCell("share", Rate(c.Used, c.Limit)) }

// StateCell returns a cell with whether the session can be resumed, and if not, why.
func StateCell(s history.SessionRow) Cell {
	switch {
	case s.Held:
		return TextCell("busy")
	case s.Why != "":
		return TextCell(fmt.Sprintf("%s (%s)", s.State, s.Why))
	case s.Reset && s.State == decide.Live:
		return TextCell("reset")
	case s.Reset:
		return TextCell(string(s.State) + " (reset)")
	}
	return TextCell(string(s.State))
}

// Newest returns the newest session of a chain, the zero value if it has none.
func Newest(c history.ChainRow) history.SessionRow {
	if len(c.Sessions) == 0 {
		return history.SessionRow{}
	}
	return c.Sessions[0]
}

// Sentence writes words with a capital and a full stop.
func Sentence(words string) string { return strings.ToUpper(words[:1]) + words[1:] + "." }

// Decision returns a call's mode and reason, as in "resume: extends".
func Decision(i ledger.Record) string {
	words := fmt.Sprintf("%s: %s", i.Mode, i.Reason)
	if i.Detail != "" {
		words += fmt.Sprintf(" (%s)", i.Detail)
	}
	if i.FellBack != "" {
		words = fmt.Sprintf("%s: %s (meant to resume: %s)", i.Mode, i.FellBack, i.Reason)
	}
	return words
}

// Ago writes for people how long ago a time was.
func Ago(now time.Time, then decide.Millis) string {
	d := now.Sub(then.Time())
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}

// NotKnown is printed for an unknown figure.
const NotKnown = "n/a"

// UnknownCell returns a cell for an unknown figure.
func UnknownCell() Cell { return Cell{Human: NotKnown, Raw: NotKnown, Right: true} }

// TextCell returns a cell with text. People see a dash if it is empty.
func TextCell(text string) Cell { return Cell{Human: OrDash(text), Raw: text} }

// NumberCell returns a cell with a count.
func NumberCell(n int64) Cell { return numeric(Thousands(n), n) }

// numeric returns a cell with a number that people see as text.
func numeric(text string, n int64) Cell {
	return Cell{Human: text, Raw: strconv.FormatInt(n, 10), Right: true}
}

// ChainCell returns a cell with the name of a chain, as commands take it. People see a dash for 0.
func ChainCell(id int64) Cell {
	if id == 0 {
		return Cell{Human: "-", Right: true}
	}
	name := fmt.Sprintf("c%d", id)
	return Cell{Human: name, Raw: name, Right: true}
}

// IDCell returns a cell with the number of a call.
func IDCell(id int64) Cell { return numeric(strconv.FormatInt(id, 10), id) }

// SessionCell returns a cell with a session ID, which is cut for people: shimctl takes any
// unique prefix. Codex's IDs begin with the time, so all of one minute share eight digits.
func SessionCell(id string) Cell {
	const enough = len("01234567-0123")
	return Cell{Human: OrDash(id[:min(len(id), enough)]), Raw: id}
}

// RoleName returns a role as people read it. A role that nothing names is called after the prompt's
// beginning, as in #0123456789abcdef; --role takes it, or as much of it as a table shows.
func RoleName(role string) string { return strings.TrimSpace(role) }

// RoleCell returns a cell with a role.
func RoleCell(role string) Cell {
	c := TextCell(RoleName(role))
	if strings.HasPrefix(role, prompt.RoleTextMark) {
		c.Human = c.Human[:min(len(c.Human), len("#01234567"))]
	}
	return c
}

// FigureCell returns a cell with a figure of a call in the unit, as AmountCell.
func FigureCell(unit string, n ledger.Number) Cell {
	if !n.Valid {
		return UnknownCell()
	}
	return AmountCell(unit, Number(n.Int64))
}
