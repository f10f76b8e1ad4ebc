package main

import (
	"bytes"
	"fmt"
	"io"

	"reprise/internal/report"
	"reprise/internal/ui"
	"reprise/ledger"

	"github.com/spf13/cobra"
)

// Limits of the report, however large the ledger is.
var mostDrawn = ledger.SnapshotLimits{Chains: 20, Calls: 60, Keys: mostRows - 1}

// reportFile is where the report is written by default.
const reportFile = "reprise-report.html"

func reportCommand(a *app) *cobra.Command {
	var file string
	var store bool
	var f *filterFlags
	c := &cobra.Command{
		Use: "report", Short: "write a page with charts of use, cost and saving",
		Long: `Writes one self-contained HTML page, by default into ` + reportFile + `: what resuming saved, money and
tokens by day, with and without resuming, the share from the cache, the same by project, tool, model and task,
decisions by reason, and the chains as timelines. It contains no prompt, but names of tasks and directories.
docs/how-to/measure.md explains each part; shimctl serve shows the same live.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.report(file, store, f) },
	}
	c.Flags().StringVarP(&file, "output", "o", reportFile, "write the page to `FILE`, - for stdout")
	c.Flags().StringVar(&file, "html", reportFile, "the same as --output `FILE`")
	storeFlag(c, &store)
	f = a.filterFlag(c)
	return c
}

func (a *app) report(file string, store bool, flags *filterFlags) error {
	var page bytes.Buffer
	var calls int64
	err := a.withCalls(a.callsOf(store, flags), func(l *ledger.Ledger, r reporter) error {
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
		if calls = managedCalls(s); calls == 0 && f != (ledger.Filter{}) {
			return hinted{fmt.Errorf("no managed call was made%s", filterWords(f)), "shimctl log lists the last calls, shimctl stats --by day the days"}
		}
		return report.Write(&page, a.page(s, f.Times(), r, linker{}))
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
	if file != "-" {
		fmt.Fprintf(a.stderr, "wrote %s: %s\n", ui.Printable(a.tilde(file)), ui.Count(calls, "managed call"))
	}
	return nil
}

func managedCalls(s ledger.Snapshot) (calls int64) {
	for _, slice := range managedOnly(s.Slices) {
		calls += slice.Calls
	}
	return calls
}
