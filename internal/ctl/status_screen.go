package ctl

import (
	"bytes"
	"fmt"
	"strings"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"

	"github.com/mattn/go-runewidth"
)

// mostWarnings is how many warnings a screen shows.
const mostWarnings = 3

// printScreen prints what fits on a terminal's screen, the most important first, and the commands that show
// the rest. What is as usual takes no space.
func printScreen(a *app.App, o overview, columns []string) {
	room := a.Stdout.Height - 1 // for the shell's prompt
	if a.Stdout.Height == 0 {
		room = 1 << 20
	}
	parts := [][]string{headLines(a, o), warningLines(a, o), drawn(a, func(s view.Screen) {
		if o.store != nil {
			s.Sentences("", storeMeaning(o.store), storeLines(a, o.store)...)
		}
	}), listLines(a, "running calls", runningTable(a, o.running).Choose(columns), max(1, room/4), "")}
	for _, part := range parts {
		room -= len(part)
		if len(part) > 0 {
			room-- // the empty line below it
		}
	}
	parts = append(parts, listLines(a, "last decisions", decisionTable(a, o.decisions).Choose(columns), room, "more: shimctl why CALL, shimctl log, shimctl show --live"))
	var shown []string
	for _, part := range parts {
		if len(part) > 0 {
			shown = append(shown, strings.Join(part, "\n")+"\n")
		}
	}
	fmt.Fprint(a.Stdout, strings.Join(shown, "\n"))
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

// headLines returns what was saved and what the calls cost.
func headLines(a *app.App, o overview) []string {
	return drawn(a, func(s view.Screen) {
		s.Sentences("", view.Strong, o.headline())
		if b := &o.bill; b.Total.Known {
			words := view.Count(b.Managed(), "call") + " cost " + b.Total.Human()
			if b.NotKnown > 0 {
				words = fmt.Sprintf("%s of %s (of the others that is not known)", view.Thousands(b.Priced()), words)
			}
			if b.Prompt() > 0 {
				words += ", " + view.ShareCell(b.Cached, b.Prompt()).Human + " of what they read came from the cache"
			}
			s.Sentences("", view.Plain, words)
		}
	})
}

// warningLines returns the first warnings, a line each with the command that explains it.
func warningLines(a *app.App, o overview) []string {
	warnings := o.broken
	for _, p := range o.passed {
		if !p.Reason.MissesNothing() {
			warnings = append(warnings, warning{Says: p.Brief(), Command: "shimctl why " + string(p.Reason)})
		}
	}
	warnings = append(warnings, o.warnings...)
	return drawn(a, func(s view.Screen) {
		for _, w := range warnings[:min(len(warnings), mostWarnings)] {
			command := ": " + w.Command
			says := view.Printable(w.Says)
			if room := s.Width - runewidth.StringWidth(command); s.Width > 0 {
				says = runewidth.Truncate(says, max(room, 1), "…")
			}
			fmt.Fprintln(s, s.Paint(view.Warn, says+command))
		}
		if more := len(warnings) - mostWarnings; more > 0 {
			s.Sentences("", view.Dim, view.Count(int64(more), "more warning")+": shimctl status --all")
		}
	})
}

// listLines returns a list with its name, and as many rows as there is room for, at least one.
func listLines(a *app.App, name string, t *view.Table, room int, more string) (lines []string) {
	for rows := t.Len(); rows > 0 && (lines == nil || len(lines) > room); rows-- {
		lines = drawn(a, func(s view.Screen) {
			s.Heading(name)
			t.First(rows).Print(s)
			switch {
			case more != "":
				s.Sentences("", view.Dim, more)
			case rows < t.Len():
				s.Sentences("", view.Dim, fmt.Sprintf("%d more: shimctl log --outcome running", t.Len()-rows))
			}
		})
	}
	return lines
}
