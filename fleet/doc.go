// Package fleet is the book of a store that several machines share: it finds a call's chain there, takes the session,
// and gives it back with its files. The ledger says how a chain works and decides on calls.
//
// It knows of the ledger chains as values, and the ledger's records
// here of a call that it lent out (ledger.Loan). The ledger knows nothing of it. It never opens a store: programs give it
// one. Nothing it writes contains a text of prompts or answers.
//
// Invariant: a session is live in a register only with the bundle of the run that has left it so, and of all runs
// that would take it from one version of the register at most one does.
package fleet
