package main

import (
	"bytes"
	"fmt"
	"strings"

	"reprise/internal/ui"
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
func (a *app) printScreen(o overview, columns []string) {
	room := a.stdout.Height - 1 // for the shell's prompt
	if a.stdout.Height == 0 {
		room = 1 << 20
	}
	top := a.drawn(func(s ui.Screen) {
		s.Sentences("", ui.Strong, o.span+": "+o.saved.Headline())
		s.Sentences("", ui.Dim, o.whyWhole()...)
	})
	parts := [][]string{top, a.warningLines(o, max(2, (room-len(top))/4)), a.figureLines(o, room >= tall)}
	if o.store != nil {
		parts = append(parts, a.drawn(func(s ui.Screen) { s.Sentences("", storeMeaning(o.store), a.storeLines(o.store)...) }))
	}
	parts = append(parts, a.runningLines(o, max(1, room/4), columns))
	for _, part := range parts {
		room -= len(part) + 1
	}
	live, decisions := a.shares(o, room)
	parts = append(parts, a.liveLines(o, live, columns), a.decisionLines(o, decisions, columns))
	first := true
	for _, part := range parts {
		if len(part) == 0 {
			continue
		}
		if !first {
			fmt.Fprintln(a.stdout)
		}
		first = false
		fmt.Fprintln(a.stdout, strings.Join(part, "\n"))
	}
}

// drawn returns the lines that print prints.
func (a *app) drawn(print func(ui.Screen)) []string {
	var b bytes.Buffer
	s := a.stdout
	s.Writer = &b
	print(s)
	if b.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// warningLines returns as many warnings as fit, at least one, and says how many do not.
func (a *app) warningLines(o overview, room int) (lines []string) {
	all := mapped(o.broken, warning.words)
	all = append(all, mapped(o.passed, a.passedWords)...)
	all = append(all, mapped(o.warnings, warning.words)...)
	for n, sentence := range all {
		more := a.drawn(func(s ui.Screen) { s.Sentences("", ui.Warn, sentence) })
		left := len(all) - n - 1
		if n > 0 && (len(lines)+len(more) > room || left > 0 && len(lines)+len(more) == room) {
			return append(lines, a.stdout.Paint(ui.Dim, ui.Count(int64(left+1), "more warning")+": shimctl status | cat"))
		}
		lines = append(lines, more...)
	}
	return lines
}

// figureLines returns the figures as a table, or in a sentence.
func (a *app) figureLines(o overview, whole bool) []string {
	if whole {
		return a.drawn(func(s ui.Screen) { a.figures(o).Print(s) })
	}
	b := &o.bill
	words := []string{ui.Count(b.resumed+b.fresh, "managed call"), "prompts of " + ui.Size(b.asked) + ", " + ui.Size(b.sent) + " sent"}
	if b.uncounted < b.calls {
		words = append(words, ui.ShortNumber(b.prompt())+" prompt tokens, "+ui.ShareCell(b.cached, b.prompt()).Human+" from the cache",
			ui.ShortNumber(b.output)+" output tokens")
	}
	words = append(words, "cost "+priceCell(b.total).Human)
	return a.drawn(func(s ui.Screen) { s.Sentences("", ui.Plain, strings.Join(words, "; ")) })
}

// Lines of a list besides its rows: an empty one, its name, its header, and how many rows are missing.
const besidesRows = 4

// shares returns how many live chains and how many decisions fit.
func (a *app) shares(o overview, room int) (live, decisions int) {
	room -= besidesRows - 1 // before the first there is an empty line already
	if len(o.live) > 0 {
		room -= besidesRows
	}
	live = min(len(o.live), max(1, room/2, room-len(o.decisions)))
	return live, min(len(o.decisions), max(1, room-live))
}

// runningLines returns the running calls, the latest first, as many as fit.
func (a *app) runningLines(o overview, rows int, columns []string) []string {
	if len(o.running) == 0 {
		return nil
	}
	more := ""
	if left := len(o.running) - rows; left > 0 {
		more = fmt.Sprintf("%d more", left)
	}
	return a.listLines("running calls", a.runningTable(o.running[:min(rows, len(o.running))]).Choose(columns), more)
}

func (a *app) liveLines(o overview, rows int, columns []string) []string {
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
	return a.listLines("live chains", a.liveTable(o.live[:rows]).Choose(liveOnScreen).Choose(columns), more)
}

func (a *app) decisionLines(o overview, rows int, columns []string) []string {
	more := ""
	if rows < len(o.decisions) || rows == statusDecisions {
		more = "more: shimctl log"
	}
	return a.listLines("last decisions", a.decisionTable(o.decisions[:rows]).Choose(decisionOnScreen).Choose(columns), more)
}

func (a *app) listLines(name string, t *ui.Table, more string) []string {
	return a.drawn(func(s ui.Screen) {
		s.Heading(name)
		t.Print(s)
		if more != "" {
			fmt.Fprintln(s, s.Paint(ui.Dim, more))
		}
	})
}
