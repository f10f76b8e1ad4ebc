// Package rewrite is the program's knowledge of a call to an agent CLI: how a tool's command line
// is parsed, turned into a resume, and its output read for IDs, usage and refusals and rendered in
// the caller's format. Each tool implements it in a separate package below rewrite/tool; an
// import of rewrite/tool registers them all.
//
// All of them do no I/O: they read no file, clock, environment or process state. Their input is
// passed in, and their results are values (a CommandLine, a Plan, a Stream). A test checks their
// imports.
//
// Invariant: a delta is always part of a resume. ToFresh makes a Target with the whole prompt;
// ToResume, ToFork and ToCopy make one with a session's ID; nothing else makes a Target.
package rewrite
