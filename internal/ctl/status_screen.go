package ctl

import (
	"bytes"
	"fmt"
	"strings"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/internal/ctl/why"
)

// The columns that fit a narrow screen.
var (
	liveOnScreen     = []string{"CHAIN", "NAME", "WHEN", "CALLS", "CONTEXT", "LAST"}
	decisionOnScreen = []string{"CALL", "WHEN", "TOOL", "CHAIN", "DECISION", "MEANING"}
)

// tall is how many lines a screen needs for all figures as a table, and lists that are worth it.
const tall = 50

// printScreen prints what fits on a terminal's screen, the most important first, and the commands that show
// the rest.
func printScreen(a *app.App, o overview, columns []string) {
	room := a.Stdout.Height - 1 // for the shell's prompt
	if a.Stdout.Height == 0 {
		room = 1 << 20
	}
	top := drawn(a, func(s view.Screen) {
		s.Sentences("", view.Strong, o.span+": "+o.saved.Headline())
		s.Sentences("", view.Dim, o.whyWhole()...)
	})
	parts := [][]string{top, warningLines(a, o, max(2, (room-len(top))/4)), figureLines(a, o, room >= tall)}
	if o.store != nil {
		parts = append(parts, drawn(a, func(s view.Screen) { s.Sentences("", storeMeaning(o.store), storeLines(a, o.store)...) }))
	}
	parts = append(parts, runningLines(a, o, max(1, room/4), columns))
	for _, part := range parts {
		room -= len(part) + 1
	}
	live, decisions := shares(a, o, room)
	parts = append(parts, liveLines(a, o, live, columns), decisionLines(a, o, decisions, columns))
	first := true
	for _, part := range parts {
		if len(part) == 0 {
			continue
		}
		if !first {
			fmt.Fprintln(a.Stdout)
		}
		first = false
		fmt.Fprintln(a.Stdout, strings.Join(part, "\n"))
	}
}

// drawn returns the lines that print prints.
func drawn(a *app.App, print func(view.Screen)) []string {
	var b bytes.Buffer
	s := a.Stdout
	s.Writer = &b
	print(s)
	if b.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// warningLines returns as many warnings as fit, at least one, and says how many do not.
func warningLines(a *app.App, o overview, room int) (lines []string) {
	all := view.Mapped(o.broken, warning.words)
	all = append(all, view.Mapped(o.passed, func(p why.PassedReport) string { return passedWords(a, p) })...)
	all = append(all, view.Mapped(o.warnings, warning.words)...)
	for n, sentence := range all {
		more := drawn(a, func(s view.Screen) { s.Sentences("", view.Warn, sentence) })
		left := len(all) - n - 1
		if n > 0 && (len(lines)+len(more) > room || left > 0 && len(lines)+len(more) == room) {
			return append(lines, a.Stdout.Paint(view.Dim, view.Count(int64(left+1), "more warning")+": shimctl status | cat"))
		}
		lines = append(lines, more...)
	}
	return lines
}

// figureLines returns the figures as a table, or in a sentence.
func figureLines(a *app.App, o overview, whole bool) []string {
	if whole {
		return drawn(a, func(s view.Screen) { figures(a, o).Print(s) })
	}
	b := &o.bill
	words := []string{view.Count(b.Resumed+b.Fresh, "managed call"), "prompts of " + view.Size(b.Asked) + ", " + view.Size(b.Sent) + " sent"}
	if b.Uncounted < b.Calls {
		words = append(words, view.ShortNumber(b.Prompt())+" prompt tokens, "+view.ShareCell(b.Cached, b.Prompt()).Human+" from the cache",
			view.ShortNumber(b.Output)+" output tokens")
	}
	words = append(words, "cost "+view.PriceCell(b.Total).Human)
	return drawn(a, func(s view.Screen) { s.Sentences("", view.Plain, strings.Join(words, "; ")) })
}

// Lines of a list besides its rows: an empty one, its name, its header, and how many rows are missing.
const besidesRows = 4

// shares returns how many live chains and how many decisions fit.
func shares(a *app.App, o overview, room int) (live, decisions int) {
	room -= besidesRows - 1 // before the first there is an empty line already
	if len(o.live) > 0 {
		room -= besidesRows
	}
	live = min(len(o.live), max(1, room/2, room-len(o.decisions)))
	return live, min(len(o.decisions), max(1, room-live))
}

// runningLines returns the running calls, the latest first, as many as fit.
func runningLines(a *app.App, o overview, rows int, columns []string) []string {
	if len(o.running) == 0 {
		return nil
	}
	more := ""
	if left := len(o.running) - rows; left > 0 {
		more = fmt.Sprintf("%d more", left)
	}
	return listLines(a, "running calls", runningTable(a, o.running[:min(rows, len(o.running))]).Choose(columns), more)
}

func liveLines(a *app.App, o overview, rows int, columns []string) []string {
	if len(o.live) == 0 {
		return nil
	}
	more := ""
	if left := len(o.live) - rows; left > 0 {
		more = fmt.Sprintf("%d more: shimctl show --live", left)
		if len(o.live) == maxChains {
			more = "more: shimctl show --live"
		}
	}
	return listLines(a, "live chains", liveTable(a, o.live[:rows]).Choose(liveOnScreen).Choose(columns), more)
}

func decisionLines(a *app.App, o overview, rows int, columns []string) []string {
	more := ""
	if rows < len(o.decisions) || rows == statusDecisions {
		more = "more: shimctl log"
	}
	return listLines(a, "last decisions", decisionTable(a, o.decisions[:rows]).Choose(decisionOnScreen).Choose(columns), more)
}

func listLines(a *app.App, name string, t *view.Table, more string) []string {
	return drawn(a, func(s view.Screen) {
		s.Heading(name)
		t.Print(s)
		if more != "" {
			fmt.Fprintln(s, s.Paint(view.Dim, more))
		}
	})
}
