// Package ledger remembers what reprise did: chains, their sessions, every
// invocation, who holds a session at the moment, and what was learned of each
// binary. It alone knows SQLite.
//
// It never stores a word of a prompt or of an answer, nor a credential: prompts
// are kept as keyed digests, credentials as the name of their source. It never
// waits longer than LockTimeout for a process that keeps it locked; other calls, each of which
// writes for a moment, are waited for with a file lock.
//
// Its invariants: a session is resumable only after a run that ended well; a
// session is leased to at most one live process; a chain has at most one session
// that a call may resume, the newest.
package ledger
