package ledger

import (
	"database/sql"

	"reprise/ledger/decide"
)

// FactsOf reads the facts of a call from consistent chains that another book keeps, by the same statements as
// from the ledger: from a ledger in memory that has these chains only. The chains, and the sessions of all of
// them, have numbers from 1 on, in the order in which they are given. Measured adds the facts that only this
// machine's ledger knows.
func (l *Ledger) FactsOf(c *Call, chains []Chain) (f decide.Facts, err error) {
	memory, err := OpenMemory()
	if err != nil {
		return f, err
	}
	defer memory.Close()
	memory.key = l.key
	err = memory.transact(func(tx *sql.Tx) error {
		for i := range chains {
			if err := chains[i].insert(tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return f, err
	}
	return memory.facts(c, false)
}
