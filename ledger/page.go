package ledger

import (
	"database/sql"
	"errors"
	"fmt"

	"reprise/store"
)

// A page is a copy of registers in memory, on which the ledger's own statements work.
type page struct {
	*Ledger
	registers []store.Register
	of        map[int64]int // the registers' places in the list, by their chains
	damaged   bool          // there is a register that cannot be read
}

// newPage returns a page with the content of registers. It fails with store.ErrNewer if a newer
// reprise has written one of them.
func newPage(l *Ledger, registers ...store.Register) (*page, error) {
	memory, err := l.emptyCopy()
	if err != nil {
		return nil, err
	}
	p := &page{Ledger: memory, registers: registers, of: map[int64]int{}}
	err = memory.transact(func(tx *sql.Tx) error {
		for at, r := range registers {
			w, err := decodeRegister(r)
			if errors.Is(err, store.ErrBroken) {
				p.damaged = true
				continue
			}
			if err != nil {
				return fmt.Errorf("read register: %w", err)
			}
			chain, err := w.insert(tx)
			if err != nil {
				return fmt.Errorf("read register: %w", err)
			}
			p.of[chain] = at
		}
		return nil
	})
	if err != nil {
		p.db.Close()
		return nil, err
	}
	return p, nil
}

// emptyCopy returns an empty ledger in memory with the same key.
func (l *Ledger) emptyCopy() (*Ledger, error) {
	db, err := connect(":memory:", inMemory)
	if err != nil {
		return nil, err
	}
	if _, err := db.Exec(schema); err != nil {
		db.Close()
		return nil, err
	}
	return &Ledger{db: db, key: l.key}, nil
}

// version returns the version of the register of a name, "" if the page has none.
func (p *page) version(name store.Name) string {
	for _, r := range p.registers {
		if r.Name.ID == name.ID {
			return r.Version
		}
	}
	return ""
}

// maxContinued is how many sessions a register keeps of a chain that were continued in copies.
const maxContinued = 32

// The sessions of some chains that can no longer matter: those from before a chain began anew, unless they
// are in use, and all but the latest of those that were continued in copies, or were copies that ended badly.
const (
	beforeBegun = `s.id < (SELECT coalesce(c.since, c.session_id) FROM chains c WHERE c.id = s.chain_id)`
	oldRest     = `(s.parent_id IS NOT NULL AND s.state NOT IN ('live', 'running') OR ` + goneOnFrom + `)
		AND s.id < (SELECT max(k.id) FROM sessions k WHERE k.chain_id = s.chain_id) - ?`
	isMark = `s.id IN (SELECT c.session_id FROM chains c WHERE c.id = s.chain_id UNION SELECT c.since FROM chains c WHERE c.id = s.chain_id)`
)

// value returns the content of a chain's register. It first removes sessions that can no longer matter: a run that
// has one of them finds that it is no longer its own.
func (p *page) value(tx *sql.Tx, chain int64, now Millis) ([]byte, error) {
	if _, err := tx.Exec("UPDATE sessions SET bundle = '' WHERE state NOT IN (?, ?)", Live, Running); err != nil {
		return nil, err
	}
	if _, err := tx.Exec("DELETE FROM sessions AS s WHERE s.held_until < ? AND s.chain_id = ? AND NOT "+isMark+
		" AND ("+beforeBegun+" OR s.holder = '' AND "+oldRest+")", now, chain, maxContinued); err != nil {
		return nil, err
	}
	return encodeRegister(tx, chain)
}

// bundles returns the names of all bundles that the sessions of the page have.
func bundles(tx *sql.Tx) (names []string, err error) {
	rows, err := tx.Query("SELECT bundle FROM sessions WHERE bundle <> ''")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
