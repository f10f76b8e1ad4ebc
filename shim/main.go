// Package shim carries out one call of a shimmed tool: it finds the real binary,
// and either becomes it or runs it under supervision, resumed where the ledger
// shows that the call continues an earlier one.
//
// It never prints anything of its own on the caller's stdout, and on stderr only when there is no
// tool to run, or if REPRISE_VERBOSE asks for it. It never reads configuration from the working
// directory.
//
// A call is four values, each made of those before it: asked, found, decided, ran.
//
// Invariant: if anything fails inside reprise before the tool has started, the real
// binary still runs, with the caller's own arguments and all of its stdin.
package shim

import (
	"runtime"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	_ "reprise/rewrite/tool" // registers the tools
	"reprise/shim/binary"
	"reprise/shim/supervise"
	"reprise/shim/variables"
)

// Main carries out the call and returns the exit code. If this process becomes the real
// binary, Main does not return.
func Main(env Env) int {
	supervise.HandleAsCaller()
	a := ask(env)
	switch {
	case !startPoller():
		// at once: opening any file would end the process
		return a.search.Become(variables.Unset(env.Environ), nil)
	case a.name == binary.Npx:
		return a.search.Npx()
	}
	switch f, d, err := a.prepare(); {
	case err != nil:
		return a.become(f, err)
	case d.decision.Mode == "": // the prompt is not there yet
		return d.scout()
	case d.decision.Mode == rewrite.Observe:
		return d.observe()
	default:
		return d.run()
	}
}

// Main runs in the process's first thread. An exec from another thread would lose signals that
// are pending for the first one, and a tool that another thread has started would be killed
// when that thread ends.
func init() { runtime.LockOSThread() }

// prepare takes the steps before the tool starts. A panic in them is a failure.
func (a *asked) prepare() (f *found, d *decided, err error) {
	err = a.safely(func() (err error) { f, d, err = a.decide(); return err })
	return f, d, err
}

// decide finds the parts that the call needs, reads the prompt, and has the ledger decide. There is
// no decision yet on a call that needs the tool's answer before it sends the prompt. It fails with
// a pass if the real binary runs; found then has the parts that were found, and is nil for none.
func (a *asked) decide() (*found, *decided, error) {
	if a.env.Get("REPRISE_OFF") == "1" {
		return nil, nil, reason.SwitchedOff
	}
	f, err := find(a, nil)
	if err != nil {
		return f, nil, err
	}
	if f.line.Mode == rewrite.Observe { // the caller manages the session
		d, err := f.observed()
		return f, d, err
	}
	line, text, err := f.readPrompt()
	if a.input.waits() {
		d, err := f.scouted()
		return f, d, err
	}
	if err != nil {
		return f, nil, err
	}
	d, err := decideOn(f, line, text, f.started)
	return f, d, err
}
