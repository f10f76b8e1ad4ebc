package main

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"reprise/ledger"
	"reprise/rewrite"
)

// notKnown stands for a figure that nobody told us; it is never shown as 0.
const notKnown = "n/a"

func textCell(s string) cell { return cell{human: orDash(s), raw: s} }

func numberCell(n int64) cell {
	return cell{human: grouped(n), raw: strconv.FormatInt(n, 10), right: true}
}

func unknownCell() cell { return cell{human: notKnown, raw: notKnown, meaning: dim, right: true} }

// as gives the cell a meaning.
func (c cell) as(m meaning) cell {
	c.meaning = m
	return c
}

func idCell(id int64) cell {
	if id == 0 {
		return cell{human: "-", right: true}
	}
	return cell{human: strconv.FormatInt(id, 10), raw: strconv.FormatInt(id, 10), right: true}
}

// sessionCell is short for people: shimctl takes any prefix that is unique. Ids that begin
// with the time, as codex' do, have the same eight letters for a minute.
func sessionCell(id string) cell {
	const enough = len("01234567-0123")
	short := id
	if len(id) > enough {
		short = id[:enough]
	}
	return cell{human: orDash(short), raw: id}
}

func (a *app) whenCell(m ledger.Millis) cell {
	return cell{human: ago(a.now, m), raw: clock(m).Format(time.RFC3339), right: true}
}

func (a *app) pathCell(p string) cell { return cell{human: orDash(a.tilde(p)), raw: p} }

// took is a length of time; programs read milliseconds.
func tookCell(ms sql.NullInt64) cell {
	if !ms.Valid {
		return unknownCell()
	}
	return cell{human: span(time.Duration(ms.Int64) * time.Millisecond), raw: strconv.FormatInt(ms.Int64, 10), right: true}
}

func tokensCell(n sql.NullInt64) cell {
	if !n.Valid {
		return unknownCell()
	}
	return cell{human: brief(n.Int64), raw: strconv.FormatInt(n.Int64, 10), right: true}
}

// price is an amount of nano-dollars; programs read dollars with all their digits.
func priceCell(p sum) cell {
	if !p.known {
		return unknownCell()
	}
	return cell{human: p.human(), raw: exactDollars(p.nano), right: true}
}

func (s sum) human() string {
	switch {
	case !s.known:
		return notKnown
	case s.most > s.nano:
		return "~" + dollars(s.nano) + " to " + dollars(s.most)
	case s.estimated:
		return "~" + dollars(s.nano)
	}
	return dollars(s.nano)
}

// decisionCell says what became of a call, and why.
func decisionCell(i ledger.InvocationRow) cell {
	c := textCell(decision(i))
	switch {
	case i.Outcome != "" && i.Outcome != "ok":
		return c.as(bad)
	case i.FellBack != "":
		return c.as(warn)
	case i.Mode.Continues():
		return c.as(good)
	}
	return c
}

func outcomeCell(i ledger.InvocationRow) cell {
	switch i.Outcome {
	case "ok":
		return textCell("ok")
	case "":
		return textCell("running").as(warn)
	}
	c := textCell(i.Outcome).as(bad)
	switch {
	case i.Signal.Valid:
		c.human += fmt.Sprintf(" (signal %d)", i.Signal.Int64)
	case i.Exit.Valid && i.Exit.Int64 != 0:
		c.human += fmt.Sprintf(" (%d)", i.Exit.Int64)
	}
	return c
}

// contextCell is how full the session's context is, with a bar for people.
func contextCell(c rewrite.Context) cell {
	if c.Limit == 0 {
		return unknownCell()
	}
	percent := (100*c.Used + c.Limit/2) / c.Limit
	const wide = 10
	full := int(min(wide, max(0, (percent+5)/10)))
	shown := cell{human: fmt.Sprintf("%s%s %3d %%", strings.Repeat("▮", full), strings.Repeat("▯", wide-full), percent),
		raw: fmt.Sprintf("%d%%", percent)}
	switch {
	case percent >= 80:
		return shown.as(bad)
	case percent >= 60:
		return shown.as(warn)
	}
	return shown.as(good)
}

func stateCell(s ledger.SessionRow) cell {
	c := textCell(sessionState(s))
	switch {
	case s.State == ledger.Live && !s.Reset:
		return c.as(good)
	case s.State == ledger.Running:
		return c.as(warn)
	}
	return c.as(dim)
}

// sessionState says whether the session can be gone on with; if not, why not.
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

func brief(n int64) string {
	f := float64(n)
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 999_950:
		return fmt.Sprintf("%.1f k", f/1e3)
	case n < 999_950_000:
		return fmt.Sprintf("%.1f M", f/1e6)
	}
	return fmt.Sprintf("%.1f G", f/1e9)
}

// grouped writes a whole number with its thousands apart.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// dollars rounds to what people care about; a little is not shown as nothing.
func dollars(nano int64) string {
	sign := ""
	if nano < 0 {
		sign, nano = "-", -nano
	}
	d := float64(nano) / 1e9
	switch {
	case nano == 0:
		return "$0"
	case d < 0.0001:
		return sign + "<$0.0001"
	case d < 0.1:
		return fmt.Sprintf("%s$%.4f", sign, d)
	case d >= 1000:
		return sign + "$" + grouped(int64(d+0.5))
	}
	return fmt.Sprintf("%s$%.2f", sign, d)
}

func exactDollars(nano int64) string {
	sign := ""
	if nano < 0 {
		sign, nano = "-", -nano
	}
	return fmt.Sprintf("%s%d.%09d", sign, nano/1e9, nano%1e9)
}

func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d m %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d m", int(d.Hours()), int(d.Minutes())%60)
}
