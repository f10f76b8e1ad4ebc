// Command shimctl shows what the shims did, and why.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"reprise/config"
	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/shim"
	"reprise/shim/front"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitFindings = 3
	// A shell's own for what Ctrl-C ended.
	exitInterrupted = 128 + int(syscall.SIGINT)
)

// An app is the outside world of a command.
type app struct {
	stdin          *os.File
	stdout, stderr ui.Screen
	environ        []string
	accountHome    string // see shim.Env
	now            time.Time
	leavePager     func() // nil if no command was started
}

// commands are the constructors of the subcommands.
var commands = []func(*app) *cobra.Command{
	statusCommand,
	showCommand,
	logCommand,
	whyCommand,
	statuslineCommand,
	resetCommand,
	statsCommand,
	reportCommand,
	serveCommand,
	explainCommand,
	ruleCommand,
	setupCommand,
	doctorCommand,
	exportCommand,
	pruneCommand,
	forgetCommand,
	demoCommand,
	configCommand,
	bundledCommand, finishSharedCommand, tellBudgetCommand,
	completionCommand,
	manCommand,
	versionCommand,
}

// A usageError is a mistake in the command line.
type usageError struct{ problem, hint string }

func (e usageError) Error() string { return e.problem }

// A hinted is an error with a hint on what can be done.
type hinted struct {
	error
	hint string
}

func (e hinted) Unwrap() error { return e.error }

// errFindings reports that a check found problems, which were printed.
var errFindings = errors.New("something was found")

func main() { os.Exit(run(front.AccountHome())) }

// run runs the command and returns its exit code. accountHome is "" to look below HOME only.
func run(accountHome string) int {
	a := &app{stdin: os.Stdin, stdout: ui.NewScreen(os.Stdout, os.Getenv), stderr: ui.NewScreen(os.Stderr, os.Getenv),
		environ: os.Environ(), accountHome: accountHome, now: time.Now()}
	return a.main(os.Args[1:])
}

func (a *app) main(args []string) int {
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if a.leavePager != nil {
		a.leavePager()
	}
	if err == nil || errors.Is(err, errFindings) {
		err = cmp.Or(a.stdout.Err(), err) // most of what is printed is not looked at line by line
	}
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &usage):
		a.complain(usage.problem, usage.hint)
		return exitUsage
	}
	a.complain(err.Error(), hintFor(err))
	return exitFailed
}

func (a *app) complain(problem, hint string) {
	fmt.Fprintln(a.stderr, "error: "+ui.PrintableLines(a.tildeIn(problem)))
	if hint != "" {
		fmt.Fprintln(a.stderr, "hint: "+ui.PrintableLines(a.tildeIn(hint)))
	}
}

// openLedger opens the ledger; if there is none yet it fails with
// fs.ErrNotExist.
func (a *app) openLedger() (*ledger.Ledger, error) {
	path, err := config.LedgerFile(a.own)
	if err != nil {
		return nil, err
	}
	l, err := ledger.OpenExisting(path)
	if err != nil {
		return nil, err
	}
	_ = l.Settle() // an outcome that cannot be recorded now is shown as running
	_ = l.CountPassed()
	return l, nil
}

func (a *app) config() (config.Config, error) {
	path, err := config.ConfigFile(a.own)
	if err != nil {
		return config.Config{}, err
	}
	return config.Load(path)
}

// own returns the value of a variable for finding reprise's own files.
func (a *app) own(name string) string { return a.shimEnv().Own(name) }

func (a *app) shimEnv() shim.Env {
	return shim.Env{
		Environ: a.environ, AccountHome: a.accountHome, Now: func() time.Time { return a.now },
		NewID: func() string { return "NEW" },
	}
}

func (a *app) getenv(name string) string {
	for _, entry := range a.environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
