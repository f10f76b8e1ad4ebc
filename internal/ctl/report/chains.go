package report

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/report/draw"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/rewrite"
)

func drawnChain(a *app.App, c ledger.ChainCalls, r view.Reporter, link linker) draw.Chain {
	drawn := draw.Chain{Name: link.to(view.ChainName(c.Task, c.Role, c.Cwd, c.Created), "chain", fmt.Sprint(c.ID)),
		About: fmt.Sprintf("chain %d, %s in %s", c.ID, c.Tool, view.Cut(a.Tilde(c.Cwd)))}
	drawn.Summary = fmt.Sprintf("%s, %s resumed; last used %s",
		view.Count(c.Calls, "call"), view.Thousands(c.Resumed), c.Updated.Time().Format(view.MinuteFormat))
	if n := int64(len(c.Latest)); n < c.Calls {
		drawn.Summary += fmt.Sprintf("; the latest %d are drawn", n)
	}
	for _, i := range c.Latest {
		call := draw.Call{Start: float64(i.Started), Duration: math.NaN(), Class: "other", Failed: i.Outcome != "ok" && i.Outcome != "",
			URL: link.to("", "call", fmt.Sprint(i.ID)).URL}
		words := []string{i.Started.Time().Format(time.DateTime) + " " + view.Decision(i), cmp.Or(i.Outcome, "running")}
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
		words = append(words, view.DurationCell(i.Duration.NullInt64).Human, fmt.Sprintf("prompt %s, sent %s", view.Size(i.PromptBytes), view.Size(i.SentBytes)))
		words = append(words, view.CallCost(r.Prices, i).Human())
		call.Text = strings.Join(words, ", ")
		drawn.Calls = append(drawn.Calls, call)
	}
	return drawn
}
