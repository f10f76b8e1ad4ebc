// Package decide says whether a call continues an earlier session: facts in, a decision out.
//
// It reads nothing and stores nothing: the ledger and a shared store gather the facts. Facts that
// take long to find out are functions, called only where the decision turns on them. Equal facts
// give equal decisions.
//
// Invariant: a call that is not certainly a continuation is fresh.
package decide
