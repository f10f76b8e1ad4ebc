package main

import (
	"fmt"
	"strings"

	"reprise/internal/ui"
)

// printSummary prints the saving in a sentence and a table, as Markdown: CI systems show it beside a
// job.
func (a *app) printSummary(s stats) {
	fmt.Fprintf(a.stdout, "**reprise**: %s.\n", inMarkdown(s.Headline()))
	if s.Fleet != nil {
		fmt.Fprintf(a.stdout, "%s.\n", inMarkdown(strings.Join(s.Fleet.lines("All machines"), "; ")))
	}
	if s.Total.Calls == 0 {
		return
	}
	fmt.Fprintf(a.stdout, "\n| %s | calls | resumed | read from cache | cost |\n| --- | ---: | ---: | ---: | ---: |\n", s.By)
	for _, g := range s.Groups {
		price := priceCell(sum{known: g.Priced > 0, nano: g.Cost, most: g.Cost})
		fmt.Fprintf(a.stdout, "| %s | %s | %s | %s | %s |\n", inMarkdown(ui.OrDash(g.Key)),
			ui.Thousands(g.Calls), ui.Thousands(g.Resumed), ui.Amount("share", cacheRate(g)), price.Human)
	}
}

// inMarkdown returns a text that Markdown shows as it is, on one line.
func inMarkdown(text string) string {
	var b strings.Builder
	for _, r := range ui.Printable(text) {
		if strings.ContainsRune("\\`*_[]<>|#&~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
