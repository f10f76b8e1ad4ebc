// Package report makes the page with charts of use, cost and saving, as a file or live from a server.
//
// It never writes to the ledger, and the server listens on this machine alone. Its invariant: a figure on the page is the one that
// status and stats print.
package report

import (
	"bytes"
	"fmt"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/report/draw"
	"reprise/internal/ctl/textfile"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/history"

	"github.com/spf13/cobra"
)

// Limits of the report, however large the ledger is.
var mostDrawn = history.SnapshotLimits{Chains: 20, Calls: 60, Keys: mostRows}

// reportFile is where the report is written by default.
const reportFile = "reprise-report.html"

func Command(a *app.App) *cobra.Command {
	var file string
	var store bool
	var f app.FilterFlags
	c := &cobra.Command{
		Use: "report", Short: "write a page with charts of use, cost and saving",
		Long: `Writes one self-contained HTML page, by default into ` + reportFile + `: what resuming saved, money and
tokens by day, with and without resuming, the share from the cache, the same by project, tool, model and task,
decisions by reason, and the chains as timelines. It contains no prompt, but names of tasks and directories.
shimctl serve shows the same live.`,
		Args: app.NoArguments,
		RunE: func(*cobra.Command, []string) error { return write(a, file, store, f) },
	}
	c.Flags().StringVarP(&file, "output", "o", reportFile, "write the page to `FILE`, - for stdout")
	c.Flags().StringVar(&file, "html", reportFile, "the same as --output `FILE`")
	app.StoreFlag(c, &store)
	f = app.FilterFlag(a, c)
	return c
}

func write(a *app.App, file string, store bool, flags app.FilterFlags) error {
	var page bytes.Buffer
	var calls int64
	err := a.WithCalls(app.CallsOf(a, store, flags), func(l *ledger.Ledger, r view.Reporter) error {
		asked, err := app.Filter(a, l, flags)
		if err != nil {
			return err
		}
		f, err := app.Summed(l, asked, history.Always.Since)
		if err != nil {
			return err
		}
		if f != asked {
			a.Stderr.Notice(app.LatestWords)
		}
		s, err := view.WithProgress(a.Stderr, "adding the calls up", func() (history.Snapshot, error) {
			return history.ReadSnapshot(l, f, r.Prices.LongPrompt(), mostDrawn)
		})
		if err != nil {
			return err
		}
		for _, slice := range managedOnly(s.Slices) {
			calls += slice.Calls
		}
		if calls == 0 && asked != (history.Filter{}) {
			return app.WithHint(fmt.Errorf("no managed call was made%s", app.FilterWords(f)), "shimctl log lists the last calls, shimctl stats --by day the days")
		}
		return draw.Write(&page, newPage(a, s, f.Times(), r, linker{}))
	})
	if err != nil {
		return err
	}
	if file == "-" {
		_, err = a.Stdout.Write(page.Bytes())
	} else {
		err = textfile.WriteFile(file, 0o600, page.Bytes())
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if file != "-" {
		a.Stderr.Notice("wrote " + a.Tilde(file) + ": " + view.Count(calls, "managed call"))
	}
	return nil
}
