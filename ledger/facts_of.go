package ledger

import (
	"database/sql"
	"slices"

	"reprise/ledger/decide"
	"reprise/ledger/proc"
)

// FactsOf reads the facts of a call from consistent chains that another book keeps, by the same
// statements as from the ledger: from a ledger in memory that has these chains only. The chains,
// and the sessions of all of them, have numbers from 1 on, in the given order. It adds the facts
// that only this machine's ledger knows.
func (l *Ledger) FactsOf(c *Call, chains []Chain) (f decide.Facts, err error) {
	memory, err := OpenMemory()
	if err != nil {
		return f, err
	}
	defer memory.Close()
	memory.key = l.key
	err = memory.transact(func(tx *sql.Tx) error {
		last := int64(0)
		for _, c := range chains {
			if err := insert(tx, c, last); err != nil {
				return err
			}
			last += int64(len(c.Sessions))
		}
		return nil
	})
	if err != nil {
		return f, err
	}
	f, err = memory.facts(c)
	l.addOwn(c, &f, func(of *decide.ChainFacts) int64 { return l.LentChain(c, of.NativeID) })
	for i := range f.Chains {
		one := &f.Chains[i]
		if err == nil && !one.CallersOwn {
			one.CallersOwn, err = l.exists("FROM sessions WHERE native_id = ? AND callers_own",
				one.NativeID)
		}
	}
	return f, err
}

// insert writes a chain with its sessions, which have numbers above last. This process stands for
// the runs that have some of them.
func insert(tx *sql.Tx, c Chain, last int64) error {
	number := func(n int64) int64 {
		if n == 0 {
			return 0
		}
		return last + n
	}
	c.Newest, c.Since, c.Sessions = number(c.Newest), number(c.Since), slices.Clone(c.Sessions)
	for i := range c.Sessions {
		s := &c.Sessions[i]
		s.ID, s.Parent = number(s.ID), number(s.Parent)
	}
	err := c.save(tx, "")
	for _, s := range c.Sessions {
		if s.InUse && err == nil {
			err = takeLease(tx, s.ID, proc.This(), s.LastUsed)
		}
	}
	return err
}
