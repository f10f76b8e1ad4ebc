// Package report writes one page about cost and saving, with three pictures.
//
// It never writes to the ledger. Invariant: a figure on the page is the figure that status and
// stats print.
package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/saving"
	"reprise/internal/ctl/textfile"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/history"

	"github.com/spf13/cobra"
)

const reportFile = "reprise-report.html"

// Command returns `shimctl report`.
func Command(a *app.App) *cobra.Command {
	var file string
	var f app.FilterFlags
	c := &cobra.Command{
		Use: "report", Short: "write a page with pictures of cost and saving",
		Long: `Writes one self-contained HTML page, by default into ` + reportFile + `: the saving, the price by day
with and without resuming, the calls of a chain, and where the calls went. It contains no prompt, but names of
tasks and directories.`,
		Args: app.NoArguments,
		RunE: func(*cobra.Command, []string) error { return write(a, file, f) },
	}
	c.Flags().StringVarP(&file, "output", "o", reportFile, "write the page to `FILE`, - for stdout")
	f = app.FilterFlag(a, c)
	return c
}

//go:embed page.html
var text string

var page = template.Must(template.New("page").Parse(text))

func write(a *app.App, file string, flags app.FilterFlags) error {
	var out bytes.Buffer
	var calls int64
	err := a.WithLedger(func(l *ledger.Ledger, r view.Reporter) error {
		asked, err := app.Filter(a, l, flags)
		if err != nil {
			return err
		}
		f, err := app.Summed(l, asked, 0)
		if err != nil {
			return err
		}
		if f != asked {
			a.Stderr.Notice(app.LatestWords)
		}
		s, err := read(l, f, r)
		if err != nil {
			return err
		}
		if calls = s.bill.Managed(); calls == 0 && asked != (history.Filter{}) {
			return app.WithHint(fmt.Errorf("no managed call was made%s", app.FilterWords(f)),
				"shimctl log lists the last calls, shimctl stats --by day the days")
		}
		return page.Execute(&out, newContent(a, r, f, s))
	})
	if err != nil {
		return err
	}
	if file == "-" {
		_, err = a.Stdout.Write(out.Bytes())
	} else {
		err = textfile.Replace(file, 0o600, out.Bytes())
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if file != "-" {
		a.Stderr.Notice("wrote " + a.Tilde(file) + ": " + view.Count(calls, "managed call"))
	}
	return nil
}

type sums struct {
	managed []history.Slice // by day
	bill    view.Bill
	saved   saving.Saving
	chain   history.ChainRow // the chain with the most resumed calls, of those used last
	calls   []ledger.Record
}

// Limits of the chain's picture.
const (
	mostChains = 50
	mostCalls  = 30
)

func read(l *ledger.Ledger, f history.Filter, r view.Reporter) (s sums, err error) {
	slices, err := history.Slices(l, f, r.Prices.LongPrompt())
	if err != nil {
		return s, err
	}
	s.bill, s.saved = r.Bill(slices), saving.New(slices, r.ListPrice)
	for _, slice := range slices {
		if slice.Managed() {
			s.managed = append(s.managed, slice)
		}
	}
	chains, err := history.Chains(l, history.Query{Filter: f, Limit: mostChains})
	if err != nil {
		return s, err
	}
	for _, c := range chains {
		if c.Resumed > s.chain.Resumed {
			s.chain = c
		}
	}
	if s.chain.Resumed > 0 {
		f.Chain = s.chain.ID
		s.calls, err = history.LatestCalls(l, history.Query{Filter: f, Limit: mostCalls})
	}
	return s, err
}
