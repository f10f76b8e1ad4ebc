package ctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup"
	"reprise/internal/ctl/view"
	"reprise/internal/demo"
	"reprise/ledger"
	"reprise/ledger/history"
	"reprise/shim/binary"

	"github.com/spf13/cobra"
)

// bundledName asks for the tool that is bundled, and is the hidden command.
const bundledName = "bundled"

func demoCommand(a *app.App) *cobra.Command {
	var tool string
	c := &cobra.Command{
		Use: "demo", Short: "play a job with and without the shims, and show the difference",
		Long: `Plays a job of a coder and a reviewer without the shims and with them, and shows the requests to the model. The
model is a stand-in on this machine. It runs the first of claude, codex, gemini and vibe on PATH, or else a
stand-in for Claude Code, in a home of its own: your sessions and settings are not touched. It fails if the second
round is not resumed, or if the tool forgets the session.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), slices.DeleteFunc([]os.Signal{
				syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)...)
			defer stop()
			return runDemo(a, ctx, tool)
		},
	}
	c.Flags().StringVar(&tool, "tool", "", "the `TOOL` to run, or "+bundledName)
	app.CompleteFlag(c, "tool", append([]string{bundledName}, demo.Tools...))
	return c
}

// bundledCommand is the stand-in for Claude Code. The demo calls it.
func bundledCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: bundledName, Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			return demo.BundledTool(args, a.Stdout)
		},
	}
}

func runDemo(a *app.App, ctx context.Context, tool string) (err error) {
	if tool != "" && tool != bundledName && !slices.Contains(demo.Tools, tool) {
		return app.Usage(fmt.Sprintf("the demo cannot play %q", tool),
			"one of "+strings.Join(demo.Tools, ", ")+", or "+bundledName)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the shims: %w", err)
	}
	root, err := os.MkdirTemp("", "reprise-demo-")
	if err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	defer func() { err = errors.Join(err, removeTree(root)) }()
	job := demo.Setup{Tool: tool}
	if job.Tool, job.Real, err = realTool(a, tool, self, root); err != nil {
		return err
	}
	without, err := play(a, ctx, job, filepath.Join(root, "without"), "without the shims")
	if err != nil && job.Real != filepath.Join(root, "real") {
		return app.WithHint(err, app.Typed(
			self)+" demo --tool "+bundledName+" plays it with a stand-in for the tool")
	} else if err != nil {
		return err
	}
	job.Shims = filepath.Dir(self)
	if _, err := os.Stat(filepath.Join(job.Shims, job.Tool)); err != nil {
		return app.WithHint(fmt.Errorf("find the shims beside shimctl: %w", err),
			app.Typed(self)+" setup --tools "+job.Tool+" adds the shim")
	}
	with, err := play(a, ctx, job, filepath.Join(root, "with"), "with them")
	if err != nil {
		return err
	}
	return showDemo(a, job, without, with)
}

// removeTree removes a directory, though a process that was killed can write to it for a moment
// yet.
func removeTree(root string) (err error) {
	for range 20 {
		if err = os.RemoveAll(root); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

func play(a *app.App, ctx context.Context, job demo.Setup, root, how string) (demo.Play, error) {
	a.Stderr.Notice(fmt.Sprintf("playing the job %s: %s ...", how, job.Tool))
	return job.Play(ctx, root)
}

// realTool returns the first tool that is installed, or the tool that is asked for, and the
// directory of the executable.
func realTool(a *app.App, asked, self, root string) (name, dir string, err error) {
	for _, name := range demo.Tools {
		if asked != "" && asked != name ||
			asked == "" && setup.LacksShim(filepath.Dir(self), name) {
			continue
		}
		if p := binary.Locate(a.Environ, a.Own, name, ""); p.Real != "" {
			return name, filepath.Dir(p.Real), nil
		}
	}
	if asked != "" && asked != bundledName {
		return "", "", fmt.Errorf("find %s: there is none on PATH but the shim", asked)
	}
	dir = filepath.Join(root, "real")
	script := fmt.Sprintf("#!/bin/sh\nexec %s %s \"$@\"\n", view.ShellQuote(self), bundledName)
	if err := cmp.Or(os.Mkdir(dir, 0o755),
		os.WriteFile(filepath.Join(dir, demo.Bundled), []byte(script), 0o755)); err != nil {
		return "", "", fmt.Errorf("put the bundled tool in place: %w", err)
	}
	a.Stderr.Notice(demo.Bundled + " is a stand-in here, which comes with shimctl: no tool of " +
		"yours is run")
	return demo.Bundled, dir, nil
}

func showDemo(a *app.App, job demo.Setup, without, with demo.Play) error {
	resumed := with.Resumed(without)
	if len(with.Calls) != len(without.Calls) {
		return cmp.Or(resumed, fmt.Errorf("compare the two: %d calls without the shims, %d with "+
			"them", len(without.Calls), len(with.Calls)))
	}
	a.Stdout.Notice(fmt.Sprintf("A coder and a reviewer, played by this loop (TOOL is %q):",
		strings.Join(demo.Command(job.Tool), " ")))
	quote(a, demo.Loop)
	a.Stdout.Notice("Bytes and tokens sent, with the shims and then without them:", "")
	t := view.NewTable("CALL", "DECISION", "BYTES", "REQUESTS", "NEW TOKENS", "CACHED")
	for i, c := range with.Calls {
		was := without.Calls[i]
		t.Add(stepRow(fmt.Sprintf("%d %s", i+1, c.Role), c.Why(),
			fmt.Sprintf("%d/%d", len(c.Sent), len(was.Sent)), c, was)...)
	}
	sum, was := with.Total(), without.Total()
	t.Add(stepRow("all", "", "", sum, was)...)
	t.Print(a.Stdout)
	a.Stdout.Notice("", "The new part that the coder was sent in its second round:")
	quote(a, with.Calls[len(with.Calls)-2].Sent)
	a.Stdout.Notice(fmt.Sprintf("In all: %d requests instead of %d, %s fewer tokens sent, %s "+
		"fewer new tokens.",
		sum.Requests, was.Requests, percent(was.Tokens.Input-sum.Tokens.Input, was.Tokens.Input),
		percent(fresh(was)-fresh(sum), fresh(was))))
	return errors.Join(showSaving(a, with), resumed)
}

// quote prints a text, indented.
func quote(a *app.App, text string) {
	const indent = "    "
	text = strings.ReplaceAll(strings.TrimSpace(text), "\t", indent)
	fmt.Fprintln(a.Stdout)
	a.Stdout.Changed(indent, strings.Split(text, "\n")...)
	fmt.Fprintln(a.Stdout)
}

// showSaving prints the saving of the job, as status does.
func showSaving(a *app.App, with demo.Play) error {
	job := *a
	job.Environ, job.AccountHome = with.Env, ""
	return job.WithLedger(func(l *ledger.Ledger, r view.Reporter) error {
		_, saved, err := sums(l, history.Filter{}, r)
		if err == nil {
			a.Stdout.Notice("shimctl status says: " + saved.Headline() + ".")
		}
		return err
	})
}

func stepRow(call, decision, bytes string, c, was demo.Step) []view.Cell {
	return view.Mapped([]string{call, decision, bytes,
		fmt.Sprintf("%d/%d", c.Requests, was.Requests), fmt.Sprintf("%d/%d", fresh(c), fresh(was)),
		fmt.Sprintf("%d/%d", c.Tokens.Cached, was.Tokens.Cached)}, func(text string) view.Cell {
		return view.Cell{Human: text, Raw: text, Right: true}
	})
}

// fresh is the part of a call's input that no cache had.
func fresh(c demo.Step) int { return c.Tokens.Input - c.Tokens.Cached }

func percent(part, whole int) string {
	return fmt.Sprintf("%d %%", (100*part+whole/2)/max(whole, 1))
}
