package main

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"reprise/internal/report"
	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
)

func (a *app) drawnChain(c ledger.ChainCalls, r reporter, link linker) report.Chain {
	drawn := report.Chain{Name: link.to(chainName(c.Task, c.Role, c.Cwd, c.Created), "chain", fmt.Sprint(c.ID)),
		About: fmt.Sprintf("chain %d, %s in %s", c.ID, c.Tool, cut(a.tilde(c.Cwd)))}
	drawn.Summary = fmt.Sprintf("%s, %s resumed; last used %s",
		ui.Count(c.Calls, "call"), ui.Thousands(c.Resumed), c.Updated.Time().Format(minuteFormat))
	if n := int64(len(c.Latest)); n < c.Calls {
		drawn.Summary += fmt.Sprintf("; the latest %d are drawn", n)
	}
	for _, i := range c.Latest {
		call := report.Call{Start: float64(i.Started), Duration: math.NaN(), Class: "other", Failed: i.Outcome != "ok" && i.Outcome != "",
			URL: link.to("", "call", fmt.Sprint(i.ID)).URL}
		words := []string{i.Started.Time().Format(time.DateTime) + " " + decision(i), cmp.Or(i.Outcome, "running")}
		switch {
		case i.FellBack != "":
			call.Class = "fell"
		case i.Mode.Continues():
			call.Class = "resume"
		case i.Mode == rewrite.Fresh:
			call.Class = "fresh"
		}
		if i.Duration.Valid {
			call.Duration = float64(i.Duration.Int64)
		}
		words = append(words, ui.DurationCell(i.Duration.NullInt64).Human, fmt.Sprintf("prompt %s, sent %s", ui.Size(i.PromptBytes), ui.Size(i.SentBytes)))
		words = append(words, callCost(r.prices, i).human())
		call.Text = strings.Join(words, ", ")
		drawn.Calls = append(drawn.Calls, call)
	}
	return drawn
}

// chainName returns a name that people know: the task, or else the directory and when the chain began.
func chainName(task, role, cwd string, created decide.Millis) string {
	name := filepath.Base(cwd) + ", " + created.Time().Format("2 Jan 15:04")
	if task != "" {
		name = task
	}
	if role != "" {
		name += ", " + cut(role)
	}
	return cut(name)
}

// cut shortens a name, since a rule may capture one of any length from a prompt.
func cut(name string) string {
	if runes := []rune(name); len(runes) > mostName {
		return string(runes[:mostName]) + "…"
	}
	return name
}
