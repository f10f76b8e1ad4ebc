// Package app has the parts that all commands of shimctl need: the streams, the ledger, the
// configuration, the store, errors with hints, and the flags that select calls.
//
// It knows no command. Invariants: one function asks the user (Agreed), and an error's hint names
// the command to type.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"reprise/config"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim"
	"reprise/shim/variables"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	ExitOK       = 0
	ExitFailed   = 1
	exitUsage    = 2
	exitFindings = 3
	// A shell's own for a program that Ctrl-C ended.
	exitInterrupted = 128 + int(syscall.SIGINT)
)

// An App is the outside world of a command.
type App struct {
	Stdin          *os.File
	Stdout, Stderr view.Screen
	Environ        []string
	AccountHome    string // see shim.Env
	OpenRemote     ledger.OpenRemote
	Now            time.Time
}

type hinted struct {
	error
	hint  string
	usage bool // a mistake in the command line
}

func (e hinted) Unwrap() error { return e.error }

// Usage returns a mistake in the command line, with a form to write instead.
func Usage(problem, hint string) error { return hinted{errors.New(problem), hint, true} }

// WithHint returns an error with a remedy.
func WithHint(err error, hint string) error { return hinted{err, hint, false} }

// IsUsage reports whether an error is a mistake in the command line.
func IsUsage(err error) bool {
	var with hinted
	return errors.As(err, &with) && with.usage
}

// ErrFindings reports that a check found problems, which were printed.
var ErrFindings = errors.New("something was found")

var errDeclined = errors.New("nothing was changed")

// Run runs a command and returns the exit code.
func (a *App) Run(root *cobra.Command, args []string) int {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetArgs(args)
	begun := false
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		err := cmp.Or(c.ValidateRequiredFlags(), c.ValidateFlagGroups())
		begun = err == nil
		return err
	}
	c, err := root.ExecuteC()
	if err != nil && !begun && !IsUsage(err) && a.Stdout.Err() == nil { // it is cobra's
		err = Usage(err.Error(), c.CommandPath()+" --help shows what it takes")
	}
	if err == nil || errors.Is(err, ErrFindings) {
		err = cmp.Or(a.Stdout.Err(), err) // most lines are printed without a check
	}
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrFindings):
		return exitFindings
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, errDeclined):
		a.Stderr.Notice(err.Error())
		return ExitFailed
	}
	text := "error: " + err.Error()
	if hint := HintFor(err); hint != "" {
		text += "\nhint: " + hint
	}
	text = strings.ReplaceAll(a.TildeIn(text), "\t", "  ") // cobra indents suggestions
	for line := range strings.SplitSeq(text, "\n") {
		a.Stderr.Notice(line)
	}
	if IsUsage(err) {
		return exitUsage
	}
	return ExitFailed
}

// Own returns the value of a variable for finding reprise's own files.
func (a *App) Own(name string) string { return a.ShimEnv().Own(name) }

// ShimEnv returns the world as the shim would see it.
func (a *App) ShimEnv() shim.Env {
	return shim.Env{
		Environ: a.Environ, AccountHome: a.AccountHome, Now: func() time.Time { return a.Now },
		NewID: func() string { return "NEW" }, OpenRemote: a.OpenRemote,
	}
}

// Getenv returns the value of a variable.
func (a *App) Getenv(name string) string { return variables.Get(a.Environ, name) }

// WhenCell returns a cell with a time, which people see relative to now.
func (a *App) WhenCell(m decide.Millis) view.Cell {
	return view.Cell{Human: view.Ago(a.Now, m), Raw: m.Time().Format(time.RFC3339), Right: true}
}

// WhenWords says when something was: how long ago that is to people, the time to programs.
func (a *App) WhenWords(at time.Time) string {
	c := a.WhenCell(decide.MillisOf(at))
	if a.Stdout.Terminal {
		return c.Human
	}
	return c.Raw
}

// PathCell returns a cell with a path, which people see below ~.
func (a *App) PathCell(p string) view.Cell {
	return view.Cell{Human: view.OrDash(a.Tilde(p)), Raw: p}
}

// Tilde writes the home directory as ~, so that pasted output does not name the user.
func (a *App) Tilde(path string) string {
	home := a.Getenv("HOME")
	if home == "" || home == "/" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, home); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}

// TildeIn is Tilde for every path in a message.
func (a *App) TildeIn(message string) string {
	home := a.Getenv("HOME")
	if home == "" || home == "/" {
		return message
	}
	path := regexp.MustCompile(`(^|[\s"'(:=])` + regexp.QuoteMeta(home) + `($|[\s"'):/])`)
	return path.ReplaceAllString(message, "${1}~${2}")
}

// Version names this build.
func Version() string {
	if config.Commit == "" {
		return "reprise " + config.Version
	}
	return fmt.Sprintf("reprise %s (%s)", config.Version, config.Commit)
}

// HintFor returns a remedy for an error, "" for none.
func HintFor(err error) string {
	var mistakes config.Mistakes
	var with hinted
	switch {
	case errors.As(err, &with):
		return with.hint
	case errors.Is(err, ledger.ErrInUse):
		return "wait until the call has ended"
	case errors.As(err, &mistakes) && len(mistakes) > 1:
		return "shimctl doctor lists the mistakes"
	case errors.As(err, &mistakes):
		return mistakes[0].Hint
	}
	if fix := FixFor(err); fix != "" {
		return fix + "; a call that cannot use the ledger runs the real binary"
	}
	return ""
}

// FixFor returns a remedy for a ledger that cannot be used.
func FixFor(err error) string {
	switch err := ledger.Explain(err); {
	case errors.Is(err, ledger.ErrDamaged):
		return "shimctl doctor --fix moves it aside and begins a new one"
	case errors.Is(err, ledger.ErrForeign):
		return "shimctl doctor --fix moves it away"
	case errors.Is(err, ledger.ErrNewer):
		return "install the newer reprise again, or start a new ledger with shimctl doctor --fix"
	case errors.Is(err, config.ErrNotOurs):
		return "set HOME or XDG_STATE_HOME to a directory of your own"
	case errors.Is(err, ledger.ErrLocked):
		return "end the program that holds it, a database browser perhaps"
	}
	return ""
}

// Typed returns how this program, which is at self, is typed: by the name if PATH leads to it, else
// by the path.
func Typed(self string) string {
	const name = "shimctl"
	if found, err := exec.LookPath(name); err == nil && SameFile(found, self) {
		return name
	}
	return view.ShellQuote(self)
}

// SameFile reports whether two paths lead to the same file.
func SameFile(a, b string) bool {
	one, _ := os.Stat(a)
	other, _ := os.Stat(b)
	return os.SameFile(one, other) // false if there is none
}

// PassedHere says which variable of this shell has every call that is made from it passed through,
// "" for none.
func (a *App) PassedHere() string {
	if a.Getenv("REPRISE_OFF") == "1" {
		return fmt.Sprintf("in this shell every call is passed through: REPRISE_OFF is set (%s)",
			reason.SwitchedOff)
	}
	var variable string
	var names []string
	for _, name := range rewrite.Names {
		tool, _ := rewrite.Lookup(name)
		for _, nested := range append(slices.Clone(tool.Descriptor().Nested), rewrite.NestedEnv) {
			if a.Getenv(nested) != "" && (variable == "" || variable == nested) {
				variable, names = nested, append(names, name)
				break
			}
		}
	}
	if variable == "" {
		return ""
	}
	return fmt.Sprintf("in this shell every call of %s is passed through: %s is set (%s)",
		strings.Join(names, ", "), variable, reason.Nested)
}
