// Command shimctl shows what the shims did, and why.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Exit codes.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitFindings = 3
)

// An app is what a command may use of the world.
type app struct {
	stdin          *os.File
	stdout, stderr io.Writer
	environ        []string
	now            time.Time
}

// A command is one subcommand; the table of them drives help as well.
type command struct {
	name  string
	args  string // as the usage line shows them
	short string
	long  string
	run   func(*app, []string) error
}

var commands = []command{statusCommand, explainCommand, doctorCommand, ledgerCommand, versionCommand}

// A usageError is a mistake in the command line.
type usageError struct{ problem, hint string }

func (e usageError) Error() string { return e.problem }

// errFindings says that a check found something; what, has been printed.
var errFindings = errors.New("something was found")

func main() {
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), now: time.Now()}
	os.Exit(a.main(os.Args[1:]))
}

func (a *app) main(args []string) int {
	err := a.dispatch(args)
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.As(err, &usage):
		a.complain(usage.problem, usage.hint)
		return exitUsage
	}
	a.complain(err.Error(), hintFor(err))
	return exitFailed
}

func (a *app) complain(problem, hint string) {
	fmt.Fprintln(a.stderr, "error: "+problem)
	if hint != "" {
		fmt.Fprintln(a.stderr, "hint: "+hint)
	}
}

func (a *app) dispatch(args []string) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		return a.help(args)
	}
	for _, c := range commands {
		if c.name != args[0] {
			continue
		}
		if len(args) > 1 && (args[1] == "--help" || args[1] == "-h") {
			return a.help([]string{"help", c.name})
		}
		return c.run(a, args[1:])
	}
	return usageError{fmt.Sprintf("there is no command %q", args[0]), "shimctl help lists the commands"}
}

func (a *app) help(args []string) error {
	if len(args) > 1 {
		for _, c := range commands {
			if c.name == args[1] {
				fmt.Fprintf(a.stdout, "usage: shimctl %s\n\n%s\n", strings.TrimSpace(c.name+" "+c.args), c.long)
				return nil
			}
		}
		return usageError{fmt.Sprintf("there is no command %q", args[1]), "shimctl help lists the commands"}
	}
	fmt.Fprint(a.stdout, "usage: shimctl COMMAND\n\n")
	for _, c := range commands {
		fmt.Fprintf(a.stdout, "  %-8s  %s\n", c.name, c.short)
	}
	fmt.Fprint(a.stdout, "\nshimctl help COMMAND says more.\n")
	return nil
}

func (a *app) getenv(name string) string {
	for _, entry := range a.environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// flags takes the named switches off the front of args, and gives the rest. An
// unknown flag is an error; "--" ends the flags.
func flags(args []string, switches map[string]*bool) ([]string, error) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		if args[0] == "--" {
			return args[1:], nil
		}
		on, ok := switches[args[0]]
		if !ok {
			return nil, usageError{fmt.Sprintf("there is no flag %s", args[0]), "--help shows what the command takes"}
		}
		*on = true
		args = args[1:]
	}
	return args, nil
}
