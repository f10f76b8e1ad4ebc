// Package decide says whether a call continues an earlier session: facts in, a decision out.
//
// It reads nothing and stores nothing: the ledger and a shared store gather the facts. Equal facts
// give equal decisions.
//
// Invariant: a call that is not certainly a continuation is fresh.
package decide
