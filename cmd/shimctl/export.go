package main

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
	"reprise/internal/export"
	"reprise/internal/ui"
	"reprise/ledger"

	"github.com/spf13/cobra"
)

type exportFlags struct {
	format           string
	output, endpoint string
	store            bool
	timeout          time.Duration
	filter           *filterFlags
}

func exportCommand(a *app) *cobra.Command {
	f := exportFlags{timeout: 10 * time.Second}
	c := &cobra.Command{
		Use: "export", Short: "write the recorded calls for other programs",
		Long: `Writes every call as a line of JSON (ndjson) or sums for Prometheus' textfile collector (prometheus), or
sends every ended call as an OpenTelemetry span to a collector (otlp). Nothing is sent except to --endpoint.
docs/reference/export.md lists what each format contains: no part of a prompt or an answer.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return a.export(c.Context(), f) },
	}
	c.Flags().StringVar(&f.format, "format", "ndjson", "the `FORMAT`: ndjson, prometheus or otlp")
	f.filter = a.filterFlag(c)
	storeFlag(c, &f.store)
	c.Flags().StringVarP(&f.output, "output", "o", "", "write to `FILE`, replacing it at once (ndjson, prometheus)")
	c.Flags().StringVar(&f.endpoint, "endpoint", "", "the collector's `URL`, such as http://127.0.0.1:4318 (otlp)")
	addDuration(c.Flags(), &f.timeout, "timeout", "how long to wait for an answer of the collector, a `TIME` (otlp)")
	completeFlag(c, "format", exportFormats)
	completeFlag(c, "endpoint", nil)
	completeFlag(c, "timeout", nil)
	return c
}

var exportFormats = []string{"ndjson", "prometheus", "otlp"}

func (a *app) export(ctx context.Context, f exportFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	open := a.openLedger
	if f.store {
		open = a.callsOf(true, f.filter)
	}
	l, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		l, err = ledger.OpenMemory()
	}
	if err != nil {
		return err
	}
	defer l.Close()
	filter, err := a.filter(l, f.filter)
	if err != nil {
		return err
	}
	switch f.format {
	case "otlp":
		return a.sendSpans(ctx, l, f, filter)
	case "prometheus":
		sums, err := ui.WithProgress(a.stderr, "adding the calls up", func() (export.Figures, error) { return readFigures(l) })
		if err != nil {
			return err
		}
		// Another user's collector reads it; it names no task and no directory.
		return a.output(f.output, 0o644, func(w io.Writer) error { return export.Prometheus(w, sums) })
	}
	prices, err := a.loadPrices()
	if err != nil {
		return err
	}
	r := reporter{prices}
	line := func(i ledger.Invocation) exportReport { return exportReport{"shimctl.invocation/1", r.call(i)} }
	write := func() error {
		return a.output(f.output, 0o600, func(w io.Writer) error { return export.NDJSON(ui.JSONWriter{Writer: w}, l.Invocations(filter), line) })
	}
	if f.output == "" && a.stdout.Terminal {
		return write() // shows the progress
	}
	return a.stderr.WithProgress("writing the calls", write)
}

// An exportReport is a line of NDJSON.
type exportReport struct {
	Schema string `json:"schema" doc:"name of this schema"`
	callReport
}

// check refuses flags that the format does not use: they would be meant for
// another one.
func (f exportFlags) check() error {
	wants := map[string]string{"ndjson": "output", "prometheus": "output", "otlp": "endpoint"}[f.format]
	if wants == "" {
		return usageError{fmt.Sprintf("there is no format %q", f.format), "one of " + strings.Join(exportFormats, ", ")}
	}
	for name, value := range map[string]string{"output": f.output, "endpoint": f.endpoint} {
		if value != "" && !strings.Contains(wants, name) {
			return usageError{fmt.Sprintf("--%s does not go with --format %s", name, f.format), "shimctl export --help lists the flags"}
		}
	}
	if name := f.filter.given(); f.format == "prometheus" && name != "" {
		return usageError{fmt.Sprintf("--%s does not go with --format prometheus", name), "it counts all calls: a counter that shrinks means a restart"}
	}
	if f.format == "prometheus" && f.store {
		return usageError{"--store does not go with --format prometheus", "a store forgets old calls: a counter that shrinks means a restart"}
	}
	if f.format == "otlp" && f.endpoint == "" {
		return usageError{"--format otlp needs an --endpoint", "--endpoint http://127.0.0.1:4318 is a collector on this machine"}
	}
	if f.timeout <= 0 {
		return usageError{"--timeout must be more than 0s", durationHint}
	}
	return nil
}

func readFigures(l *ledger.Ledger) (f export.Figures, err error) {
	f.Version = config.Version
	totals, err := l.Totals(ledger.Filter{})
	if err != nil {
		return f, err
	}
	f.Chains = totals.Chains
	if f.Tallies, err = l.Tallies(); err != nil {
		return f, err
	}
	if f.Sessions, err = l.Sessions(); err != nil {
		return f, err
	}
	f.Passed, err = l.PassedRows(ledger.Filter{})
	return f, err
}

// output writes to stdout, or puts a whole file in the place of the one at path:
// a reader sees the old file or the new one.
func (a *app) output(path string, mode fs.FileMode, write func(io.Writer) error) error {
	if path == "" {
		w := bufio.NewWriterSize(a.stdout, 1<<16)
		return errors.Join(write(w), w.Flush())
	}
	return replaceFile(path, mode, write)
}

// headersEnv is OpenTelemetry's own variable, for headers that should not be on a
// command line.
const headersEnv = "OTEL_EXPORTER_OTLP_HEADERS"

func (a *app) sendSpans(ctx context.Context, l *ledger.Ledger, f exportFlags, filter ledger.Filter) error {
	url, err := export.TracesURL(f.endpoint)
	if err != nil {
		return usageError{err.Error(), "--endpoint http://127.0.0.1:4318 is a collector on this machine"}
	}
	header, err := export.Headers(a.getenv(headersEnv))
	if err != nil {
		return fmt.Errorf("read %s: %w", headersEnv, err)
	}
	o := export.OTLP{Client: &http.Client{}, Endpoint: url, Header: header, Version: config.Version, Key: l.Key(), Timeout: f.timeout, Wait: pause}
	sent, err := ui.WithProgress(a.stderr, "sending spans", func() (export.Sent, error) { return o.Send(ctx, l.Invocations(filter)) })
	for _, said := range sent.Said {
		fmt.Fprintf(a.stderr, "the collector says: %q\n", said)
	}
	fmt.Fprintf(a.stdout, "sent %s", ui.Count(sent.Accepted, "span"))
	if sent.Running > 0 {
		fmt.Fprintf(a.stdout, "; %s not ended", ui.Count(sent.Running, "call"))
	}
	fmt.Fprintln(a.stdout)
	if errors.Is(err, syscall.ECONNREFUSED) {
		err = hinted{err, "nothing listens there: start the collector, or name another --endpoint"}
	}
	if err == nil && sent.Rejected > 0 {
		err = fmt.Errorf("send spans: the collector rejected %s", ui.Count(sent.Rejected, "span"))
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
