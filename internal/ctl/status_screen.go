package ctl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
)

// mostWarnings is how many warnings a screen shows.
const mostWarnings = 3

// printScreen prints the lines that fit on a terminal's screen, the most important first, and the
// commands that show the rest. The usual takes no space.
func printScreen(a *app.App, o overview) {
	room := a.Stdout.Height - 1 // for the shell's prompt
	if a.Stdout.Height == 0 {
		room = 1 << 20
	}
	parts := [][]string{headLines(a, o), warningLines(a, o),
		listLines(a, "running calls", runningTable(a, o.running), max(1, room/4), "")}
	for _, part := range parts {
		room -= len(part)
		if len(part) > 0 {
			room-- // the empty line below it
		}
	}
	parts = append(parts, listLines(a, "last decisions", decisionTable(a, o.decisions), room,
		"more: shimctl why CALL, shimctl log, shimctl show"))
	var shown []string
	for _, part := range parts {
		if len(part) > 0 {
			shown = append(shown, strings.Join(part, "\n")+"\n")
		}
	}
	fmt.Fprint(a.Stdout, strings.Join(shown, "\n"))
}

// headLines returns the saving and the cost of the calls.
func headLines(a *app.App, o overview) []string {
	return a.Stdout.Drawn(func(s view.Screen) {
		s.Sentences("", view.Strong, o.headline())
		if cost := o.costWords(); cost != "" {
			s.Sentences("", view.Plain, cost)
		}
	})
}

// warningLines returns the first warnings, each with one command. They are folded and take a
// quarter of the screen at most.
func warningLines(a *app.App, o overview) (lines []string) {
	all := slices.Clone(o.broken)
	for _, p := range o.passed {
		if !p.Reason.MissesNothing() {
			all = append(all, warning{Says: p.Brief(), Command: "shimctl why " + string(p.Reason)})
		}
	}
	all = append(all, o.warnings...)
	left := len(all)
	for n, w := range oneOfAKind(all) {
		text := view.Printable(w.Says)
		if w.Kind == "" || !strings.Contains(text, "shimctl ") { // else it names the command
			text += ": " + strings.ReplaceAll(w.Command, " ", view.Glue)
		}
		own := strings.Split(a.Stdout.Indented(text, 2), "\n")
		if n == mostWarnings || n > 0 && a.Stdout.Height > 0 &&
			len(lines)+len(own) > a.Stdout.Height/4 {
			break
		}
		left--
		for _, line := range own {
			lines = append(lines, a.Stdout.Paint(view.Warn, line))
		}
	}
	if left > 0 {
		lines = append(lines, a.Stdout.Paint(view.Dim,
			view.Count(int64(left), "more warning")+": shimctl status --all"))
	}
	return lines
}

// oneOfAKind returns the first warning of each kind, which counts the others. Warnings about
// stopped calls come first, as a separate kind.
func oneOfAKind(all []warning) (list []warning) {
	more := map[string]int{}
	for _, w := range all {
		key := fmt.Sprint(w.Kind, w.urgency)
		if more[key]++; w.Kind == "" || more[key] == 1 {
			list = append(list, w)
		}
	}
	for i, w := range list {
		if n := more[fmt.Sprint(w.Kind, w.urgency)] - 1; n > 0 && w.Kind != "" {
			list[i].Says += fmt.Sprintf(" (and %d more like it)", n)
		}
	}
	slices.SortStableFunc(list, func(a, b warning) int { return cmp.Compare(b.urgency, a.urgency) })
	return list
}

// listLines returns a list with its name, and as many rows as there is room for, at least one.
func listLines(a *app.App, name string, t *view.Table, room int, more string) (lines []string) {
	for rows := t.Len(); rows > 0 && (lines == nil || len(lines) > room); rows-- {
		lines = a.Stdout.Drawn(func(s view.Screen) {
			s.Heading(name)
			t.First(rows).Print(s)
			switch {
			case more != "":
				s.Sentences("", view.Dim, more)
			case rows < t.Len():
				s.Sentences("", view.Dim, fmt.Sprintf("%d more: shimctl status --all",
					t.Len()-rows))
			}
		})
	}
	return lines
}
