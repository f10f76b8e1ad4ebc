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

// A factTable is a table of named facts, a row each. Empty ones are left out.
type factTable struct{ *view.Table }

func newFactTable() factTable { return factTable{view.NewFoldedTable("FIELD", "VALUE")} }

func (f factTable) add(name string, c view.Cell) {
	c.Right = false
	if c.Raw != "" {
		f.Add(view.TextCell(name).As(view.Dim), c)
	}
}

func (f factTable) text(name, value string) { f.add(name, view.TextCell(value)) }

// Facts returns everything known about a call as a table.
func Facts(a *app.App, r view.Reporter, i ledger.Record) *view.Table {
	f := newFactTable()
	f.add("call", view.IDCell(i.ID))
	f.text("tool", i.Tool)
	f.add("directory", a.PathCell(i.Cwd))
	f.add("began", a.WhenCell(i.Started))
	decision := view.DecisionCell(i)
	decision.Human = decision.Raw // it is explained below
	f.add("decision", decision)
	for _, code := range []reason.Code{i.Reason, i.Detail, i.FellBack} {
		if code != "" {
			f.text(string(code), view.MeaningOf(code))
		}
	}
	f.text("changed", strings.Join(i.Changed, ", "))
	f.text("rule", i.Rule)
	f.text("task", i.Task)
	f.add("role", view.RoleCell(i.Role))
	f.add("chain", view.ChainCell(i.Chain))
	if i.Mode == rewrite.Fork {
		f.text("forked from", i.ResumedFrom)
	} else {
		f.text("resumed from", i.ResumedFrom)
	}
	f.text("session", i.NativeID)
	f.text("format", string(i.Format))
	f.text("model", i.Model)
	f.add("outcome", view.OutcomeCell(i))
	f.text("how it ended", endWords(i))
	if i.Signal.Valid {
		signal := view.TextCell(fmt.Sprint(i.Signal.Int64))
		if name := unix.SignalName(syscall.Signal(i.Signal.Int64)); name != "" {
			signal.Human += " (" + name + ")"
		}
		f.add("signal", signal)
	} else if i.Exit.Valid {
		f.text("exit status", fmt.Sprint(i.Exit.Int64))
	}
	f.add("took", view.DurationCell(i.Duration.NullInt64))
	f.add("prompt", view.Cell{Human: view.Size(i.PromptBytes), Raw: fmt.Sprint(i.PromptBytes)})
	f.add("sent", view.Cell{Human: view.Size(i.SentBytes), Raw: fmt.Sprint(i.SentBytes)})
	f.text("sent whole because", view.WholeWords(i.WholeReason))
	f.add("input", view.TokensCell(i.Input.NullInt64))
	f.add("cached", view.TokensCell(i.CacheRead.NullInt64))
	f.add("written", view.TokensCell(i.CacheWrite.NullInt64))
	f.add("output", view.TokensCell(i.Output.NullInt64))
	cost := view.CallCost(r.Prices, i)
	f.add("cost", view.PriceCell(cost))
	if !cost.Known && i.Input.Valid && i.Model != "" {
		f.text("price", a.MissingPrice(i.Model))
	}
	return f.Table
}
