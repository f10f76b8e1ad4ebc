// Package front is what must act before Go does, or beside it, and therefore is C.
//
// exec.c becomes the real binary for a call that is certainly not managed, before the Go runtime starts, and finds that binary for Go as
// well. inherit.c records the caller's ignored and blocked signals and closed descriptors before the runtime changes it. The rest of the
// package calls them. Once Go runs, package shim becomes the real binary.
//
// It knows no decision, no ledger and no session. Invariant: in doubt, Go starts.
package front
