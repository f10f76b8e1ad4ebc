package ledger

import (
	"database/sql"

	"reprise/ledger/decide"
	"reprise/rewrite/reason"
)

// A Page is a ledger in memory that has some chains only. Another book decides and records on it by the same statements
// as the ledger, and keeps the chains. Chains, and the sessions of all of them, have numbers from 1 on, in the order in
// which they were given.
type Page struct{ memory *Ledger }

// NewPage returns a page with consistent chains. The caller closes it.
func (l *Ledger) NewPage(chains ...Chain) (*Page, error) {
	memory, err := OpenMemory()
	if err != nil {
		return nil, err
	}
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
		memory.Close()
		return nil, err
	}
	return &Page{memory}, nil
}

// Close ends the page.
func (p *Page) Close() error { return p.memory.Close() }

// Facts reads the facts for a decision on a call. Measured adds those that only this machine's ledger has.
func (p *Page) Facts(c *Call) (decide.Facts, error) { return p.memory.facts(c, false) }

// Find returns the number of a session's chain, and its own number in it.
func (p *Page) Find(session int64) (chain, number int64, err error) {
	err = p.memory.db.QueryRow(`SELECT s.chain_id, (SELECT count(*) FROM sessions o WHERE o.chain_id = s.chain_id AND o.id <= s.id)
		FROM sessions s WHERE s.id = ?`, session).Scan(&chain, &number)
	return chain, number, err
}

// ResetRoles ends these roles' sessions in a task.
func (p *Page) ResetRoles(cwd, task string, roles []string) error {
	return p.memory.transact(func(tx *sql.Tx) error { return resetRoles(tx, cwd, task, roles) })
}

// Begin carries out a decision: the call has the ticket's session then, and Source if that is to be a copy.
func (p *Page) Begin(c *Call, d decide.Decision) (*Ticket, error) {
	t := &Ticket{call: c, key: p.memory.key}
	err := p.memory.transact(func(tx *sql.Tx) error { return t.begin(tx, c, &d) })
	return t, err
}

// FallBack abandons the resume of a session, which is a copy of source unless that is 0. of is the call's ticket in the
// ledger of this machine. FallBack returns the new session.
func (p *Page) FallBack(of *Ticket, session, source int64, why reason.Code) (anew int64, err error) {
	t := &Ticket{call: of.call, cut: of.cut, key: p.memory.key, Session: session, Source: source}
	if t.Chain, _, err = p.Find(session); err == nil {
		err = p.memory.transact(func(tx *sql.Tx) error { return t.fallBack(tx, session, why) })
	}
	return t.Session, err
}

// Record records how the run of a session ended.
func (p *Page) Record(session int64, e Ending) (err error) {
	e.Session = session
	if e.Chain, _, err = p.Find(session); err != nil {
		return err
	}
	return p.memory.transact(func(tx *sql.Tx) error {
		if err := resetRoles(tx, e.Cwd, e.Task, e.Outcome.Resets); err != nil {
			return err
		}
		return e.recordTurns(tx)
	})
}

// Chain returns a chain as it is on the page now.
func (p *Page) Chain(number int64) (c Chain, err error) {
	var newest, since int64
	columns := append(c.columns(), column{"coalesce(session_id, 0)", &newest}, column{"coalesce(since, 0)", &since})
	err = Each(p.memory.db, "SELECT "+selectList(columns)+" FROM chains WHERE id = ?", func(rows *sql.Rows) error { return scanInto(rows, columns) }, number)
	if err != nil {
		return c, err
	}
	var ids, parents []int64
	numbered := func(s *Session, id, parent *int64) []column {
		return append(s.columns(), column{"id", id}, column{"coalesce(parent_id, 0)", parent})
	}
	err = Each(p.memory.db, "SELECT "+selectList(numbered(new(Session), nil, nil))+" FROM sessions WHERE chain_id = ? ORDER BY id", func(rows *sql.Rows) error {
		var s Session
		var id, parent int64
		err := scanInto(rows, numbered(&s, &id, &parent))
		c.Sessions, ids, parents = append(c.Sessions, s), append(ids, id), append(parents, parent)
		return err
	}, number)
	if err != nil {
		return c, err
	}
	numbers := map[int64]int64{}
	for at, id := range ids {
		numbers[id] = int64(at) + 1
	}
	c.Newest, c.Since = numbers[newest], numbers[since]
	for at, parent := range parents {
		c.Sessions[at].Parent = numbers[parent]
	}
	return c, nil
}
