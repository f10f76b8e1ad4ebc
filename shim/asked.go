package shim

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"reprise/config"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/supervise"
	"reprise/shim/variables"

	"github.com/mattn/go-isatty"
)

// asked is a call as the caller made it, with its streams.
type asked struct {
	env     Env
	name    string // of the tool
	started time.Time
	preview bool // only explain: record nothing, run nothing
	input   *input
	signals *supervise.Inbox // for the tool
	ledger  *timedLedger     // once it is opened
	log     *log
}

func ask(env Env) *asked {
	return &asked{
		env: env, name: env.Name, started: env.Now(), ledger: &timedLedger{}, log: &log{},
		input: &input{Source: &supervise.Staged{From: env.Stdin}}, signals: supervise.NewInbox(),
	}
}

// commandInput returns the command line and the facts needed to parse it.
func (a *asked) commandInput() rewrite.Input {
	return rewrite.Input{
		Args: a.env.Args[min(1, len(a.env.Args)):], Env: a.env.Get,
		StdinTTY:  isatty.IsTerminal(a.env.Stdin.Fd()),
		StdoutTTY: isatty.IsTerminal(a.env.Stdout.Fd()),
	}
}

// A pass is the error of a step after which the real binary runs, as the caller wrote it. A
// reason.Code is such an error too, if nothing failed.
type pass struct {
	why    reason.Code
	failed error // inside reprise, nil if nothing failed
}

func (p *pass) Error() string { return string(p.why) }

// passOf returns the reason why the real binary runs.
func passOf(err error) *pass {
	var p *pass
	var why reason.Code
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &why):
		return &pass{why: why}
	}
	return &pass{why: reason.Fault, failed: err}
}

// fault logs a failure inside reprise and returns a pass for the reason Fault. A pass or a
// reason.Code is returned as it is.
func (a *asked) fault(what string, err error) error {
	var p *pass
	var why reason.Code
	if errors.As(err, &p) || errors.As(err, &why) {
		return err
	}
	a.log.fault(what, err)
	return &pass{why: reason.Fault, failed: fmt.Errorf("%s: %w", what, err)}
}

// safely takes a step. A panic in it is a failure.
func (a *asked) safely(step func() error) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = a.fault("prepare the call", fmt.Errorf("%v", broken))
		}
	}()
	return step()
}

// become becomes the real binary, with all of the caller's stdin. It returns only if that fails.
func (f *found) become(err error) int {
	p := passOf(err)
	f.log.passthrough(p.why)
	f.printVerbose(rewrite.Passthrough, p.why)
	_ = f.safely(func() error { f.countPassed(p); return nil }) // it is logged
	stdin, err := f.input.HandOn()
	if err != nil { // the caller reads of the first failure
		return f.search.CannotRun(cmp.Or(p.failed, err))
	}
	f.book.close()
	return f.search.Become(variables.Unset(f.env.Environ), stdin)
}

// countPassed counts a headless call that is passed through, for status, also from within a run. It
// never waits; if it cannot write, the call is not counted.
func (f *found) countPassed(p *pass) {
	tool, known := rewrite.Lookup(f.name)
	if !known || f.ledger.slow {
		return
	}
	in := f.commandInput()
	chosen := p.why == reason.Nested || p.why == reason.SwitchedOff || p.why == reason.Disabled
	if !chosen && !rewrite.IsHeadless(tool, in, p.why) {
		return
	}
	line := f.line
	// nothing is known of the call yet: the configuration cannot be read, or the call is switched
	// off
	if line.Mode == "" {
		line = tool.Parse(in)
		if line.Mode == rewrite.Passthrough && !rewrite.IsHeadless(tool, in, line.Reason) {
			return
		}
	}
	if _, err := f.search.Program(); err != nil {
		return // nothing will run
	}
	path, err := config.LedgerFile(f.env.Own)
	if err != nil {
		return
	}
	if cwd, err := workingDir(line.Dir); err == nil {
		passed := ledger.Passthrough{Tool: f.name, Cwd: cwd, Reason: p.why,
			When: decide.MillisOf(f.started), Detail: p.failure()}
		_ = f.ledger.do(func() error { return ledger.NotePassthrough(path, passed) })
	}
}

// failure says where the user's configuration has the first mistake, or names another failure, ""
// for none. It holds no value of the configuration.
func (p *pass) failure() string {
	var mistakes config.Mistakes
	switch {
	case p.failed == nil:
		return ""
	case errors.As(p.failed, &mistakes):
		return mistakes[0].Place()
	}
	return p.failed.Error()
}
