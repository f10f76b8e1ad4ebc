// Package shim carries out one call of a shimmed tool: it finds the real binary,
// and either becomes it or runs it under supervision, resumed where the ledger
// shows that the call continues an earlier one.
//
// It never prints anything of its own on the caller's stdout, and on stderr only
// when there is no tool to run or REPRISE_VERBOSE asks for it. It never reads
// configuration from the working directory.
//
// Its invariant: whatever goes wrong inside reprise before the tool has started,
// the real binary still runs, with the caller's own arguments and all of its
// stdin.
package shim
