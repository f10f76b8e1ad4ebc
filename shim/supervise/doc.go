// Package supervise carries out one run of a program: its streams, its signals, its process, and the gate that holds a resumed
// run's output until the tool has accepted the resume.
//
// It knows the plan of a run and the tool's stream, but no ledger, no configuration and no decision. It prints nothing of its own.
//
// Its invariant: what the caller sees of a run is the tool's, in its order and whole, or nothing.
package supervise
