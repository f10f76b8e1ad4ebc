// Package ledger remembers what reprise did: chains, their sessions, every
// invocation, who holds a session at the moment, and what was learned of each
// binary. It alone knows SQLite.
//
// It never stores a word of a prompt or of an answer, nor a credential: prompts
// are kept as keyed digests, credentials as the name of their source. It never
// waits for a lock longer than LockTimeout.
//
// Its invariants: a session is resumable only after a run that ended well; a
// session is leased to at most one live process; a chain has at most one session
// that a call may resume, the newest.
package ledger
