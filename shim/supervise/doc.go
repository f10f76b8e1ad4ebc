// Package supervise carries out one run of a program: the streams, the signals, the process, and
// the gate that holds a resumed run's output until the tool has accepted the resume.
//
// A call that is refused runs a second time: shim/run.go decides that. The tool's Stream, in
// rewrite/tool, says whether a line of output is shown, changed or dropped. A Conversation is all
// that a caller says in stream-json. A Dialogue is its part in one run: it hands the caller's
// frames on.
//
// It knows the plan of a run and the tool's stream, but no ledger, no configuration and no
// decision. It prints nothing of its own.
//
// Invariant: the caller's view of a run is the tool's, in order and whole, or nothing.
package supervise
