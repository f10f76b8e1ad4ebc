package ledger

import (
	"cmp"
	"database/sql"

	"reprise/ledger/decide"
	"reprise/rewrite/prompt"
)

// A Loan is the session that a call has taken from another book than the ledger of this machine,
// which still records the call.
type Loan struct {
	Kind  string     // of the chain, that marks the session as another book's
	Key   prompt.Key // that book's
	Share float64    // see ChainFacts.Share
	Hold  any        // that book's own
}

// findLent returns the numbers that the ledger has for another book's chain and session, 0 for
// none.
func findLent(q Queryer, nativeID string) (chain, session int64, err error) {
	if nativeID == "" {
		return 0, 0, nil
	}
	err = Each(q, "SELECT chain_id, id FROM sessions WHERE native_id = ? AND shared <> '' ORDER "+
		"BY id DESC LIMIT 1",
		func(rows *sql.Rows) error { return rows.Scan(&chain, &session) }, nativeID)
	return chain, session, err
}

// LentChain returns the chain that has the ledger's records of calls of another book's, by the
// call's name or a session: 0 if there is none yet.
func (l *Ledger) LentChain(c *Call, nativeID string) (chain int64) {
	if c.Task != "" {
		_ = l.db.QueryRow("SELECT id FROM chains WHERE "+ofName, c.name()...).Scan(&chain)
	} else {
		chain, _, _ = findLent(l, nativeID)
	}
	return chain
}

// HasOwnSince reports whether the chain has a session that no other book has, and that is later.
func (l *Ledger) HasOwnSince(chain int64, last decide.Millis) (bool, error) {
	return l.exists("FROM sessions WHERE chain_id = ? AND shared = '' AND created > ?", chain, last)
}

// IsLent reports whether another book has had a session of a chain.
func (l *Ledger) IsLent(chain int64) (bool, error) {
	is, err := l.exists("FROM sessions WHERE chain_id = ? AND shared <> ''", chain)
	return is, Wrap("read chain", err)
}

// NoteFiles records the digest of a session's files as a run on this machine has left them.
func (l *Ledger) NoteFiles(session int64, digest string) error {
	return l.exec("UPDATE sessions SET bundle_digest = ? WHERE id = ?", digest, session)
}

// KnownFiles returns the digests that NoteFiles has of the session that a call continues.
func (l *Ledger) KnownFiles(t *Ticket) ([]string, error) {
	return Column[string](l, "SELECT bundle_digest FROM sessions WHERE id = ? AND bundle_digest "+
		"<> ''",
		cmp.Or(t.Source, t.Session))
}
