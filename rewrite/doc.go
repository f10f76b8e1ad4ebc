// Package rewrite is everything reprise knows about the agent CLIs and about
// prompts: how each tool's command line is read, how a call is turned into a
// resume, how ids, usage and refusals are read from the tool's output, how that
// output is rendered in the format the caller asked for, and how two prompts
// relate to each other.
//
// It never does I/O: it reads no file, no clock, no environment and no process
// state; what it needs is handed in, what it finds is handed back as a value
// (a Call, a Plan, a Stream). A test over its imports keeps it so.
//
// Its invariant: a delta is only ever part of a resume. A Target is made by
// Fresh, which always carries the whole prompt, or by Resume, which carries the
// session's id with it; there is no third way to make one.
package rewrite
