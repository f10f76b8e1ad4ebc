package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"reprise/config"
	"reprise/export"
	"reprise/ledger"
)

type exportFlags struct {
	format, since    string
	output, endpoint string
	timeout          time.Duration
}

func exportCommand(a *app) *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use: "export", Short: "write what the ledger holds for other programs",
		Long: `Writes every call as a line of JSON (ndjson), sums for Prometheus' textfile collector (prometheus),
or sends every call that has ended as an OpenTelemetry span to a collector (otlp). Nothing is sent
anywhere but to --endpoint. No format holds a word of a prompt or an answer; ndjson and otlp hold
directories and the names of tasks and roles.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return a.export(c.Context(), f) },
	}
	c.Flags().StringVar(&f.format, "format", "ndjson", "the `FORMAT`: ndjson, prometheus or otlp")
	c.Flags().StringVar(&f.since, "since", "", "only calls started since `TIME`, as 24h or 2026-11-21 or in RFC 3339 (ndjson, otlp)")
	c.Flags().StringVarP(&f.output, "output", "o", "", "put the result into `FILE`, all at once (ndjson, prometheus)")
	c.Flags().StringVar(&f.endpoint, "endpoint", "", "the collector's `URL`, as http://127.0.0.1:4318 (otlp)")
	c.Flags().DurationVar(&f.timeout, "timeout", 10*time.Second, "how long the collector may take to answer (otlp)")
	return c
}

func (a *app) export(ctx context.Context, f exportFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	since, err := a.since(f.since)
	if err != nil {
		return err
	}
	l, err := a.openLedger()
	if errors.Is(err, fs.ErrNotExist) {
		l, err = ledger.OpenMemory()
	}
	if err != nil {
		return err
	}
	defer l.Close()
	switch f.format {
	case "otlp":
		return a.sendSpans(ctx, l, f, since)
	case "prometheus":
		sums, err := readFigures(l)
		if err != nil {
			return err
		}
		// Another user's collector reads it; it names no task and no directory.
		return a.output(f.output, 0o644, func(w io.Writer) error { return export.Prometheus(w, sums) })
	}
	return a.output(f.output, 0o600, func(w io.Writer) error { return export.NDJSON(w, l.Invocations(since)) })
}

// check refuses flags that the format has no use for: they would be meant for
// another one.
func (f exportFlags) check() error {
	wants := map[string]string{"ndjson": "since output", "prometheus": "output", "otlp": "since endpoint"}[f.format]
	if wants == "" {
		return usageError{fmt.Sprintf("there is no format %q", f.format), "one of ndjson, prometheus, otlp"}
	}
	for name, value := range map[string]string{"since": f.since, "output": f.output, "endpoint": f.endpoint} {
		if value != "" && !strings.Contains(wants, name) {
			return usageError{fmt.Sprintf("--%s does not go with --format %s", name, f.format), "shimctl export --help lists the flags"}
		}
	}
	if f.format == "otlp" && f.endpoint == "" {
		return usageError{"--format otlp needs an --endpoint", "--endpoint http://127.0.0.1:4318 is a collector on this machine"}
	}
	if f.timeout <= 0 {
		return usageError{"--timeout must be more than 0s", "write a number and its unit, as in 10s"}
	}
	return nil
}

// since reads a length of time before now, a day or a time.
func (a *app) since(text string) (ledger.Millis, error) {
	if text == "" {
		return 0, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return ledger.Millis(a.now.Add(-d).UnixMilli()), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return ledger.Millis(t.UnixMilli()), nil
		}
	}
	return 0, usageError{fmt.Sprintf("%q is no time", text), "write 24h, 2026-11-21 or 2026-11-21T08:00:00Z"}
}

func readFigures(l *ledger.Ledger) (f export.Figures, err error) {
	f.Version = config.Version
	totals, err := l.Totals()
	if err != nil {
		return f, err
	}
	f.Chains = totals.Chains
	if f.Tallies, err = l.Tallies(); err != nil {
		return f, err
	}
	f.Sessions, err = l.Sessions()
	return f, err
}

// output writes to stdout, or puts a whole file in the place of the one at path:
// who reads it meanwhile sees the old one or the new one. A pipe or a device is written
// to: root would replace /dev/null for everybody.
func (a *app) output(path string, mode fs.FileMode, write func(io.Writer) error) error {
	if path == "" {
		w := bufio.NewWriterSize(a.stdout, 1<<16)
		return errors.Join(write(w), w.Flush())
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return intoDevice(path, write)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	w := bufio.NewWriterSize(f, 1<<16)
	err = errors.Join(write(w), w.Flush(), f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(f.Name()))
	}
	return nil
}

func intoDevice(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<16)
	if err := errors.Join(write(w), w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// headersEnv is OpenTelemetry's own variable, for what should not stand on a
// command line.
const headersEnv = "OTEL_EXPORTER_OTLP_HEADERS"

func (a *app) sendSpans(ctx context.Context, l *ledger.Ledger, f exportFlags, since ledger.Millis) error {
	url, err := export.TracesURL(f.endpoint)
	if err != nil {
		return usageError{err.Error(), "--endpoint http://127.0.0.1:4318 is a collector on this machine"}
	}
	header, err := export.Headers(a.getenv(headersEnv))
	if err != nil {
		return fmt.Errorf("read %s: %w", headersEnv, err)
	}
	o := export.OTLP{Client: &http.Client{}, Endpoint: url, Header: header, Version: config.Version, Key: l.Key(), Timeout: f.timeout, Wait: pause}
	sent, err := o.Send(ctx, l.Invocations(since))
	for _, said := range sent.Said {
		fmt.Fprintf(a.stderr, "the collector says: %q\n", said)
	}
	fmt.Fprintf(a.stdout, "sent %s", count(sent.Accepted, "span"))
	if sent.Running > 0 {
		fmt.Fprintf(a.stdout, "; %s not ended", count(sent.Running, "call"))
	}
	fmt.Fprintln(a.stdout)
	if err == nil && sent.Rejected > 0 {
		err = fmt.Errorf("send spans: the collector rejected %s", count(sent.Rejected, "span"))
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
