// Package history reads from a ledger the lists that people are shown: lists of calls, chains and
// sessions, and sums.
//
// It changes nothing, and no call of the shim needs it. Invariant: a number that is not known is
// null or left out, never 0.
package history
