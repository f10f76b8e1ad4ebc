// Package ledger stores the history of reprise: chains, their sessions, every call, who holds a
// session now, and the facts about each binary. Only this package uses SQLite. It decides nothing:
// package decide does, by the facts that are read here. A Book is a place where chains are kept:
// this ledger, or a store that several machines share (package fleet).
//
// It stores no text of prompts or answers and no credentials: prompts are stored as keyed digests,
// credentials as the name of their source. It waits at most LockTimeout for another process that
// keeps the ledger locked. Concurrent calls, each writing for a moment, queue on a file
// lock.
//
// Invariants: a session is resumable only after a run that ended well; a session is leased to
// at most one live process; a chain has at most one session that a call can resume, the newest.
package ledger
