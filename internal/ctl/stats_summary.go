package ctl

import (
	"fmt"
	"strings"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
)

// printSummary prints the saving in a sentence and a table, as Markdown: CI systems show it beside a
// job.
func printSummary(a *app.App, s stats) {
	fmt.Fprintf(a.Stdout, "**reprise**: %s.\n", inMarkdown(s.Headline()))
	if s.Fleet != nil {
		fmt.Fprintf(a.Stdout, "%s.\n", inMarkdown(strings.Join(s.Fleet.lines("All machines"), "; ")))
	}
	if s.Total.Calls == 0 {
		return
	}
	fmt.Fprintf(a.Stdout, "\n| %s | calls | resumed | read from cache | cost |\n| --- | ---: | ---: | ---: | ---: |\n", s.By)
	for _, g := range s.Groups {
		price := view.PriceCell(view.Sum{Known: g.Priced > 0, Nano: g.Cost, Most: g.Cost})
		fmt.Fprintf(a.Stdout, "| %s | %s | %s | %s | %s |\n", inMarkdown(view.OrDash(g.Key)),
			view.Thousands(g.Calls), view.Thousands(g.Resumed), view.Amount("share", view.CacheRate(g)), price.Human)
	}
}

// inMarkdown returns a text that Markdown shows as it is, on one line.
func inMarkdown(text string) string {
	var b strings.Builder
	for _, r := range view.Printable(text) {
		if strings.ContainsRune("\\`*_[]<>|#&~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
