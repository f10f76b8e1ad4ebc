// Package front has the parts of the shim that act before the Go runtime, or beside it, and are C
// therefore.
//
// exec.c becomes the real binary for a call that is certainly not managed, before the Go runtime
// starts, and finds that binary for Go as well. inherit.c records the caller's ignored and blocked
// signals and closed descriptors before the runtime changes them. The rest of the package calls
// them. Once Go runs, package shim becomes the real binary.
//
// It knows no decision, no ledger and no session. Invariant: in doubt, Go starts.
package front
