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
	f := newFound(ask(env))
	switch {
	case !startPoller():
		// at once: opening any file would end the process
		return f.search.Become(variables.Unset(env.Environ), nil)
	case f.name == binary.Npx:
		return f.search.Npx()
	}
	var r *ran
	n := prepare(f)
	switch n.do {
	case run:
		r, n.err = n.decided.run()
	case observe:
		r, n.err = n.decided.observe()
	case scout:
		r, n.err = n.decided.scout()
	}
	if r == nil {
		// A tool that did not start fails once more, with the error that the caller knows.
		return f.become(f.fault("start the tool", n.err))
	}
	r.finish() // releases the session's lease
	return r.Shown(r.status).Leave()
}

// Main runs in the process's first thread. An exec from another thread would lose signals that
// are pending for the first one, and a tool that another thread has started would be killed
// when that thread ends.
func init() { runtime.LockOSThread() }

// A next is the action that a call ends in. The zero action becomes the real binary, for the reason
// in err.
type next struct {
	do      action
	decided *decided // nil if this process becomes the real binary
	err     error
}

type action int

const (
	become action = iota
	run           // the tool as decided, and once more, fresh, if it refuses the resume
	// the tool as the caller wrote it: the caller manages the session, or the ledger is locked
	observe
	scout // the tool before the prompt is there
)

// prepare takes the steps before the tool starts. A panic in them is a failure.
func prepare(f *found) (n next) {
	if err := f.safely(func() error { n = nextOf(f); return n.err }); err != nil {
		return next{err: err}
	}
	return n
}

// nextOf finds the parts that the call needs, reads the prompt, and has the ledger decide.
func nextOf(f *found) next {
	if f.env.Get("REPRISE_OFF") == "1" {
		return next{err: reason.SwitchedOff}
	}
	if err := find(f, nil); err != nil {
		return next{err: err}
	}
	if f.line.Mode == rewrite.Observe { // the caller manages the session
		d, err := f.observed()
		return next{do: observe, decided: d, err: err}
	}
	line, text, err := f.readPrompt()
	if f.input.waits() {
		return f.scouted()
	}
	if err != nil {
		return next{err: err}
	}
	d, err := decideOn(f, line, text, f.started)
	if err == nil && d.decision.Mode == rewrite.Observe {
		return next{do: observe, decided: d}
	}
	return next{do: run, decided: d, err: err}
}
