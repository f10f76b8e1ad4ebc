// Package rewrite contains everything reprise knows about the agent CLIs: how to parse each tool's command line, turn a
// call into a resume, read IDs, usage and refusals from the tool's output, and render that output in the caller's format.
//
// It does no I/O: it reads no file, clock, environment or process state. Its input is passed in,
// and its results are values (a Call, a Plan, a Stream). A test checks its imports.
//
// Its invariant: a delta is always part of a resume. ToFresh makes a Target with the whole prompt;
// ToResume, ToFork and ToCopy make one with a session's ID; nothing else makes a Target.
package rewrite
