// Command prove measures on the user's own login what resuming saves: a small job, once with each call fresh and once
// with reprise, and prints a table for an issue. It costs money, so it needs a spending limit: from -limit, or from
// an answer at a terminal. It prints no path, no account and nothing that was said.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"reprise/rewrite"
	"reprise/test/harness"

	"github.com/mattn/go-isatty"
)

func main() {
	var o options
	flag.StringVar(&o.tool, "tool", "claude", "the `tool` on PATH to measure: "+strings.Join(rewrite.Names, ", "))
	flag.StringVar(&o.model, "model", "", "the `model` to ask, the tool's own choice if empty")
	flag.IntVar(&o.rounds, "rounds", 3, "how many `calls` each of the two jobs makes, an odd number")
	flag.DurationVar(&o.pause, "pause", 0, "`time` between two rounds; more than 5m shows whether the provider's cache expires")
	limit := flag.String("limit", "", "the most to spend, in `dollars`; without it the question comes at the terminal")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, *limit, os.Stdin, isatty.IsTerminal(os.Stdin.Fd()), os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// options are what to measure.
type options struct {
	tool, model string
	rounds      int
	pause       time.Duration
	limit       nano
	shims       string // a directory with the shims
}

// nano is an amount of money in billionths of a dollar.
type nano int64

func (n nano) String() string { return fmt.Sprintf("$%.4f", float64(n)/1e9) }

func run(ctx context.Context, o options, limit string, stdin io.Reader, terminal bool, stdout, stderr io.Writer) (err error) {
	switch {
	case !slices.Contains(rewrite.Names, o.tool):
		return fmt.Errorf("measure %q: not one of %s", o.tool, strings.Join(rewrite.Names, ", "))
	case o.rounds < 3 || o.rounds%2 == 0:
		return errors.New("-rounds must be odd and at least 3: after the first, each job goes first equally often")
	}
	if o.limit, err = askLimit(o, limit, stdin, terminal, stderr); err != nil {
		return err
	}
	root, err := os.MkdirTemp("", "reprise-prove-")
	if err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	defer os.RemoveAll(root)
	if o.shims == "" {
		o.shims = root + "/shims"
		if err := harness.Build(o.shims); err != nil {
			return err
		}
	}
	p, err := newProof(o, root, stderr)
	if err != nil {
		return err
	}
	played := p.play(ctx)
	return errors.Join(played, p.print(stdout))
}

// askLimit returns the spending limit. Without an answer there is none, and nothing may be spent.
func askLimit(o options, limit string, stdin io.Reader, terminal bool, stderr io.Writer) (nano, error) {
	if limit == "" {
		if !terminal {
			return 0, errors.New("no spending limit: give -limit DOLLARS, or answer at a terminal")
		}
		fmt.Fprintf(stderr, "This makes %d calls of %s on your own login, in a new directory with four generated files.\n"+
			"It stops before a call that could exceed a limit. Spend at most how many dollars? ", 2*o.rounds, o.tool)
		limit, _ = bufio.NewReader(stdin).ReadString('\n')
	}
	dollars, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(limit), "$"), 64)
	if err != nil || !(dollars > 0) || dollars > 1000 || math.IsNaN(dollars) {
		return 0, fmt.Errorf("%q is no amount of dollars up to 1000: nothing was spent", strings.TrimSpace(limit))
	}
	return nano(dollars * 1e9), nil
}
