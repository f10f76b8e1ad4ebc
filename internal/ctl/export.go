package ctl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"syscall"
	"time"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/textfile"
	"reprise/internal/ctl/view"
	"reprise/internal/export"
	"reprise/ledger"
	"reprise/ledger/history"

	"github.com/spf13/cobra"
)

type exportFlags struct {
	format           string
	output, endpoint string
	store            bool
	timeout          time.Duration
	filter           app.FilterFlags
}

func exportCommand(a *app.App) *cobra.Command {
	f := exportFlags{timeout: 10 * time.Second}
	c := &cobra.Command{
		Use: "export", Short: "write the recorded calls for other programs",
		Long: `Writes every call as a line of JSON (ndjson) or sums for Prometheus' textfile collector (prometheus), or
sends every ended call as an OpenTelemetry span to a collector (otlp). Nothing is sent except to --endpoint.
No format contains a part of a prompt or an answer.`,
		Args: app.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error { return runExport(a, c.Context(), f) },
	}
	c.Flags().StringVar(&f.format, "format", "ndjson", "the `FORMAT`: ndjson, prometheus or otlp")
	f.filter = app.FilterFlag(a, c)
	app.StoreFlag(c, &f.store)
	c.Flags().StringVarP(&f.output, "output", "o", "", "write to `FILE`, replacing it at once (ndjson, prometheus)")
	c.Flags().StringVar(&f.endpoint, "endpoint", "", "the collector's `URL`, such as http://127.0.0.1:4318 (otlp)")
	view.AddDuration(c.Flags(), &f.timeout, "timeout", "how long to wait for an answer of the collector, a `TIME` (otlp)")
	app.CompleteFlag(c, "format", exportFormats)
	app.CompleteFlag(c, "endpoint", nil)
	app.CompleteFlag(c, "timeout", nil)
	return c
}

var exportFormats = []string{"ndjson", "prometheus", "otlp"}

func runExport(a *app.App, ctx context.Context, f exportFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	l, err := app.CallsOf(a, f.store, f.filter)()
	if err != nil {
		return err
	}
	defer l.Close()
	filter, err := app.Filter(a, l, f.filter)
	if err != nil {
		return err
	}
	switch f.format {
	case "otlp":
		return sendSpans(a, ctx, l, f, filter)
	case "prometheus":
		sums, err := view.WithProgress(a.Stderr, "adding the calls up", func() (export.Figures, error) { return readFigures(l) })
		if err != nil {
			return err
		}
		// Another user's collector reads it; it names no task and no directory.
		return output(a, f.output, 0o644, func(w io.Writer) error { return export.Prometheus(w, sums) })
	}
	prices, err := a.LoadPrices()
	if err != nil {
		return err
	}
	r := view.Reporter{Prices: prices}
	line := func(i history.Invocation) exportReport { return exportReport{"shimctl.invocation/1", r.Call(i)} }
	write := func() error {
		return output(a, f.output, 0o600, func(w io.Writer) error {
			return export.NDJSON(view.JSONWriter{Writer: w}, history.Invocations(l, filter), line)
		})
	}
	if f.output == "" && a.Stdout.Terminal {
		return write() // shows the progress
	}
	return a.Stderr.WithProgress("writing the calls", write)
}

// An exportReport is a line of NDJSON.
type exportReport struct {
	Schema string `json:"schema" doc:"name of this schema"`
	view.CallReport
}

// check refuses flags that the format does not use: they would be meant for
// another one.
func (f exportFlags) check() error {
	wants := map[string]string{"ndjson": "output", "prometheus": "output", "otlp": "endpoint"}[f.format]
	if wants == "" {
		return app.Usage(fmt.Sprintf("there is no format %q", f.format), "one of "+strings.Join(exportFormats, ", "))
	}
	for name, value := range map[string]string{"output": f.output, "endpoint": f.endpoint} {
		if value != "" && !strings.Contains(wants, name) {
			return app.Usage(fmt.Sprintf("--%s does not go with --format %s", name, f.format), "shimctl export --help lists the flags")
		}
	}
	if name := f.filter.Given(); f.format == "prometheus" && name != "" {
		return app.Usage(fmt.Sprintf("--%s does not go with --format prometheus", name), "it counts all calls: a counter that shrinks means a restart")
	}
	if f.format == "prometheus" && f.store {
		return app.Usage("--store does not go with --format prometheus", "a store forgets old calls: a counter that shrinks means a restart")
	}
	if f.format == "otlp" && f.endpoint == "" {
		return app.Usage("--format otlp needs an --endpoint", "--endpoint http://127.0.0.1:4318 is a collector on this machine")
	}
	if f.timeout <= 0 {
		return app.Usage("--timeout must be more than 0s", view.DurationHint)
	}
	return nil
}

func readFigures(l *ledger.Ledger) (f export.Figures, err error) {
	f.Version = config.Version
	totals, err := history.SumUp(l, history.Filter{})
	if err != nil {
		return f, err
	}
	f.Chains = totals.Chains
	if f.Tallies, err = history.Tallies(l, history.Filter{}); err != nil {
		return f, err
	}
	if f.Sessions, err = history.Sessions(l); err != nil {
		return f, err
	}
	f.Passed, err = history.PassedRows(l, history.Filter{})
	return f, err
}

// output writes to stdout, or puts a whole file in the place of the one at path:
// a reader sees the old file or the new one.
func output(a *app.App, path string, mode fs.FileMode, write func(io.Writer) error) error {
	if path == "" {
		w := bufio.NewWriterSize(a.Stdout, 1<<16)
		return errors.Join(write(w), w.Flush())
	}
	return textfile.ReplaceFile(path, mode, write)
}

// headersEnv is OpenTelemetry's own variable, for headers that should not be on a
// command line.
const headersEnv = "OTEL_EXPORTER_OTLP_HEADERS"

func sendSpans(a *app.App, ctx context.Context, l *ledger.Ledger, f exportFlags, filter history.Filter) error {
	url, err := export.TracesURL(f.endpoint)
	if err != nil {
		return app.Usage(err.Error(), "--endpoint http://127.0.0.1:4318 is a collector on this machine")
	}
	header, err := export.Headers(a.Getenv(headersEnv))
	if err != nil {
		return fmt.Errorf("read %s: %w", headersEnv, err)
	}
	o := export.OTLP{Client: &http.Client{}, Endpoint: url, Header: header, Version: config.Version, Key: l.Key(), Timeout: f.timeout, Wait: pause}
	sent, err := view.WithProgress(a.Stderr, "sending spans", func() (export.Sent, error) { return o.Send(ctx, history.Invocations(l, filter)) })
	for _, said := range sent.Said {
		a.Stderr.Notice(fmt.Sprintf("the collector says: %q", said))
	}
	done := "sent " + view.Count(sent.Accepted, "span")
	if sent.Running > 0 {
		done += "; " + view.Count(sent.Running, "call") + " not ended"
	}
	a.Stdout.Notice(done)
	if errors.Is(err, syscall.ECONNREFUSED) {
		err = app.WithHint(err, "nothing listens there: start the collector, or name another --endpoint")
	}
	if err == nil && sent.Rejected > 0 {
		err = fmt.Errorf("send spans: the collector rejected %s", view.Count(sent.Rejected, "span"))
	}
	return err
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
