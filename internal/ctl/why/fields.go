package why

import (
	"fmt"
	"strings"
	"syscall"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/rewrite"
	"reprise/rewrite/reason"

	"golang.org/x/sys/unix"
)

// A field is one of the things that are recorded about a call.
type field struct {
	Name string
	Cell view.Cell
}

// Fields returns everything known about a call.
func Fields(a *app.App, r view.Reporter, i ledger.Record) (fields []field) {
	add := func(name string, c view.Cell) {
		c.Right = false
		if c.Raw != "" {
			fields = append(fields, field{name, c})
		}
	}
	add("call", view.IDCell(i.ID))
	add("tool", view.TextCell(i.Tool))
	add("directory", a.PathCell(i.Cwd))
	add("began", a.WhenCell(i.Started))
	decision := view.DecisionCell(i)
	decision.Human = decision.Raw // it is explained below
	add("decision", decision)
	for _, code := range []reason.Code{i.Reason, i.Detail, i.FellBack} {
		if code != "" {
			add(string(code), view.TextCell(view.MeaningOf(code)))
		}
	}
	add("changed", view.TextCell(strings.Join(i.Changed, ", ")))
	add("rule", view.TextCell(i.Rule))
	add("task", view.TextCell(i.Task))
	add("role", view.RoleCell(i.Role))
	add("chain", view.ChainCell(i.Chain))
	if i.Mode == rewrite.Fork {
		add("forked from", view.TextCell(i.ResumedFrom))
	} else {
		add("resumed from", view.TextCell(i.ResumedFrom))
	}
	add("session", view.TextCell(i.NativeID))
	add("format", view.TextCell(string(i.Format)))
	add("model", view.TextCell(i.Model))
	add("outcome", view.OutcomeCell(i))
	add("how it ended", view.TextCell(endWords(i)))
	if i.Signal.Valid {
		signal := view.TextCell(fmt.Sprint(i.Signal.Int64))
		if name := unix.SignalName(syscall.Signal(i.Signal.Int64)); name != "" {
			signal.Human += " (" + name + ")"
		}
		add("signal", signal)
	} else if i.Exit.Valid {
		add("exit status", view.TextCell(fmt.Sprint(i.Exit.Int64)))
	}
	add("took", view.DurationCell(i.Duration.NullInt64))
	add("prompt", view.Cell{Human: view.Size(i.PromptBytes), Raw: fmt.Sprint(i.PromptBytes)})
	add("sent", view.Cell{Human: view.Size(i.SentBytes), Raw: fmt.Sprint(i.SentBytes)})
	add("sent whole since", view.TextCell(view.WholeWords(i.WholeReason)))
	add("input", view.TokensCell(i.Input.NullInt64))
	add("cached", view.TokensCell(i.CacheRead.NullInt64))
	add("written", view.TokensCell(i.CacheWrite.NullInt64))
	add("output", view.TokensCell(i.Output.NullInt64))
	cost := view.CallCost(r.Prices, i)
	add("cost", view.PriceCell(cost))
	if !cost.Known && i.Input.Valid && i.Model != "" {
		add("price", view.TextCell(a.MissingPrice(i.Model)))
	}
	return fields
}
