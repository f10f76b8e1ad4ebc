package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"reprise/internal/report"
	"reprise/internal/ui"
	"reprise/ledger"
)

// Limits of the report, however large the ledger is.
var mostDrawn = ledger.SnapshotLimits{Chains: 20, Calls: 60}

func reportCommand(a *app) *cobra.Command {
	var file string
	var f *filterFlags
	c := &cobra.Command{
		Use: "report", Short: "write a page with charts of use, cost and saving",
		Long: `Writes one self-contained HTML page: tokens and money by day, with and without resuming, the share from the
cache, decisions by reason, what resuming saved and how that was determined, and the chains as timelines. It
contains no prompt, but names of tasks and directories. docs/how-to/measure.md explains each part.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if file == "" {
				return usageError{"report lacks --html FILE", "--html - prints the page"}
			}
			return a.report(file, f)
		},
	}
	c.Flags().StringVar(&file, "html", "", "write the page to `FILE`, - for stdout")
	f = a.filterFlag(c)
	return c
}

func (a *app) report(file string, flags *filterFlags) error {
	var page bytes.Buffer
	err := a.withLedger(func(l *ledger.Ledger, r reporter) error {
		f, err := a.filter(l, flags)
		if err != nil {
			return err
		}
		s, err := ui.WithProgress(a.stderr, "adding the calls up", func() (ledger.Snapshot, error) {
			return l.Snapshot(f, r.prices.LongPrompt(), mostDrawn)
		})
		if err != nil {
			return err
		}
		return report.Write(&page, a.page(s, f.Period, r))
	})
	if err != nil {
		return err
	}
	if file == "-" {
		_, err = a.stdout.Write(page.Bytes())
	} else {
		err = replaceFile(file, 0o600, func(w io.Writer) error { _, err := page.WriteTo(w); return err })
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
