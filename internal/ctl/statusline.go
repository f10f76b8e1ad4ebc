package ctl

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/saving"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/history"

	"github.com/spf13/cobra"
)

func statuslineCommand(a *app.App) *cobra.Command {
	var directory string
	var verbose bool
	c := &cobra.Command{
		Use: "statusline", Short: "print one line for a status line or a shell prompt",
		Long: `Prints one line: what resuming saved today, and the last decision in the directory. The directory is the one that Claude Code names on stdin, else the working directory. If there is
nothing to say, or the ledger cannot be read, the line is empty; the exit status is 0.`,
		Args: app.NoArguments,
		RunE: func(*cobra.Command, []string) error { return runStatusline(a, directory, verbose) },
	}
	c.Flags().StringVar(&directory, "directory", "", "the `DIRECTORY`; stdin is then not read")
	c.Flags().BoolVar(&verbose, "verbose", false, "say on stderr why the line is empty")
	return c
}

func runStatusline(a *app.App, directory string, verbose bool) error {
	if directory == "" {
		directory = directoryOnStdin(a.Stdin)
	}
	parts, err := statusParts(a, directory)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("no call has been recorded yet")
	}
	if err != nil {
		if verbose {
			a.Complain(err.Error(), app.HintFor(err))
		}
		parts = nil
	}
	_, err = fmt.Fprintln(a.Stdout, strings.Join(parts, " | "))
	return err
}

// stdinPatience is how long the line waits for what a status line's caller writes at once. A shell's
// prompt may leave stdin open and write nothing.
const stdinPatience = 200 * time.Millisecond

// maxStatusInput exceeds what Claude Code writes.
const maxStatusInput = 1 << 20

// directoryOnStdin returns the directory in the JSON on stdin, else the working directory.
func directoryOnStdin(stdin *os.File) string {
	if info, err := stdin.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return ""
	}
	found := make(chan string, 1)
	go func() { found <- readDirectory(stdin) }()
	select {
	case directory := <-found:
		return directory
	case <-time.After(stdinPatience):
		return ""
	}
}

func readDirectory(r io.Reader) string {
	var in struct {
		Cwd       string `json:"cwd"`
		Workspace struct {
			CurrentDir string `json:"current_dir"`
		} `json:"workspace"`
	}
	if err := json.NewDecoder(io.LimitReader(r, maxStatusInput)).Decode(&in); err != nil {
		return ""
	}
	return cmp.Or(in.Workspace.CurrentDir, in.Cwd)
}

// statusParts returns what the line says. It reads the ledger by its indexes only, and does not wait for a writer.
func statusParts(a *app.App, directory string) (parts []string, err error) {
	cfg, err := a.Config()
	if err != nil {
		return []string{a.Stdout.Paint(view.Warn, "reprise is off: its configuration has a mistake")}, nil
	}
	if !cfg.Enabled {
		return []string{a.Stdout.Paint(view.Warn, "reprise is off")}, nil
	}
	path, err := config.LedgerFile(a.Own)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	l, err := ledger.Peek(path)
	if err != nil {
		return nil, err
	}
	saved, err := savedToday(a, l)
	if err != nil {
		return nil, err
	}
	here, err := lastDecision(a, l, cfg, directory)
	return append(saved, here...), err
}

// statuslineCalls is how many calls are added up at most, so that a prompt never waits for a long day.
const statuslineCalls = 1000

// savedToday says what resuming saved since midnight, or since the first of the latest calls.
func savedToday(a *app.App, l *ledger.Ledger) ([]string, error) {
	list, err := a.LoadPrices()
	if err != nil {
		return nil, err
	}
	today := startOfDay(a.Now)
	since, err := history.Bounded(l, today, statuslineCalls)
	if err != nil {
		return nil, err
	}
	_, saved, err := sums(l, history.Since(since), view.Reporter{Prices: list})
	had := saved.Summary()
	if err != nil || had.Calls == 0 {
		return nil, err
	}
	when := "today"
	if since != today {
		when = "since " + since.Time().In(a.Now.Location()).Format("15:04")
	}
	return []string{fmt.Sprintf("resumed %s of %s %s%s", view.Thousands(had.AllResumed), view.Count(had.Calls, "call"), when, savedWords(had))}, nil
}

// savedWords says in short what was saved: an estimate of money or tokens, else what is certain.
func savedWords(s saving.Summary) string {
	unit, amount := "nano_usd", s.CostNanoUSD
	if !amount.Known() {
		unit, amount = "tokens", s.Tokens
	}
	switch {
	case !amount.Known() && s.LeftOutBytes > 0:
		return fmt.Sprintf(", left out %s", view.Size(s.LeftOutBytes))
	case !amount.Known() || amount == 0:
		return ""
	}
	text := view.Amount(unit, view.Number(math.Abs(float64(amount))))
	if unit == "tokens" {
		text += " tokens"
	}
	if amount < 0 {
		return fmt.Sprintf(", cost ~%s more", text)
	}
	return fmt.Sprintf(", saved ~%s", text)
}

// lastDecision says how the latest call in a directory was handled.
func lastDecision(a *app.App, l *ledger.Ledger, cfg config.Config, directory string) ([]string, error) {
	directory, err := filepath.Abs(directory)
	if err == nil {
		directory, err = filepath.EvalSymlinks(directory)
	}
	if err != nil {
		return nil, err
	}
	i, err := history.LastIn(l, directory)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c := view.DecisionCell(i)
	parts := []string{a.Stdout.Paint(c.Meaning, view.Printable(c.Human)) + ", " + view.Ago(a.Now, i.Started)}
	return parts, nil
}
