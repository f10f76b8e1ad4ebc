// Package app is what all commands of shimctl need: the streams, the ledger, the configuration, the store, errors with hints,
// and the flags that select calls.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"reprise/internal/ctl/view"
	"reprise/shim"

	"github.com/spf13/cobra"
)

// Endings are the signals after which the demo still removes what it made.
func Endings() []os.Signal {
	return slices.DeleteFunc([]os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
}

// OpenPrompt opens the file of a prompt; "-" is shimctl's own stdin.
func OpenPrompt(a *App, name string) (*os.File, error) {
	if name == "-" {
		return a.Stdin, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open prompt: %w", err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(&fs.PathError{Op: "read prompt", Path: name, Err: errors.New("is a directory")}, f.Close())
	}
	return f, nil
}

// RecentDays is how many days status and doctor look back.
const RecentDays = 30

// Exit codes.
const (
	ExitOK       = 0
	ExitFailed   = 1
	exitUsage    = 2
	exitFindings = 3
	// A shell's own for what Ctrl-C ended.
	exitInterrupted = 128 + int(syscall.SIGINT)
)

// An App is the outside world of a command.
type App struct {
	Stdin          *os.File
	Stdout, Stderr view.Screen
	Environ        []string
	AccountHome    string // see shim.Env
	Now            time.Time
	LeavePager     func() // nil if no command was started
}

// A UsageError is a mistake in the command line.
type UsageError struct{ problem, hint string }

func (e UsageError) Error() string { return e.problem }

// A Hinted is an error with a hint on what can be done.
type Hinted struct {
	error
	hint string
}

func (e Hinted) Unwrap() error { return e.error }

// ErrFindings reports that a check found problems, which were printed.
var ErrFindings = errors.New("something was found")

// Run runs a command and returns its exit code.
func (a *App) Run(root *cobra.Command, args []string) int {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if a.LeavePager != nil {
		a.LeavePager()
	}
	if err == nil || errors.Is(err, ErrFindings) {
		err = cmp.Or(a.Stdout.Err(), err) // most of what is printed is not looked at line by line
	}
	var usage UsageError
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrFindings):
		return exitFindings
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &usage):
		a.Complain(usage.problem, usage.hint)
		return exitUsage
	}
	a.Complain(err.Error(), HintFor(err))
	return ExitFailed
}

func (a *App) Complain(problem, hint string) {
	fmt.Fprintln(a.Stderr, "error: "+view.PrintableLines(a.TildeIn(problem)))
	if hint != "" {
		fmt.Fprintln(a.Stderr, "hint: "+view.PrintableLines(a.TildeIn(hint)))
	}
}

// Own returns the value of a variable for finding reprise's own files.
func (a *App) Own(name string) string { return a.ShimEnv().Own(name) }

func (a *App) ShimEnv() shim.Env {
	return shim.Env{
		Environ: a.Environ, AccountHome: a.AccountHome, Now: func() time.Time { return a.Now },
		NewID: func() string { return "NEW" },
	}
}

func (a *App) Getenv(name string) string {
	value, _ := view.LookupEnv(a.Environ, name)
	return value
}

func Usage(problem, hint string) error { return UsageError{problem, hint} }

// WithHint returns an error with what can be done about it.
func WithHint(err error, hint string) error { return Hinted{err, hint} }
