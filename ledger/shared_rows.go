package ledger

import (
	"database/sql"
	"errors"

	"reprise/store"
)

// A SharedSession is a session as a register of a store has it.
type SharedSession struct {
	Register store.Name
	Version  string // of the register
	Tool     string
	Cwd      string
	Home     string
	Task     string
	Role     string
	NativeID string
	State    State
	Host     string // of its latest run
	LastUsed Millis
	Turns    int
	Held     bool // a call has taken it
	Until    Millis
	Bundle   string // "" if its files are not in the store
	Newest   bool   // of its chain
}

// SharedSessions returns the sessions of registers, without those that a newer reprise has written.
func (l *Ledger) SharedSessions(registers []store.Register) (list []SharedSession, err error) {
	for _, r := range registers {
		p, err := newPage(l, r)
		if errors.Is(err, store.ErrNewer) {
			continue
		}
		if err != nil {
			return nil, err
		}
		err = each(p.db, `SELECT c.tool, c.cwd, c.home, c.task, c.role, coalesce(s.native_id, ''), s.state, s.host, s.last_used, s.turns,
				s.holder <> '', s.held_until, s.bundle, s.id = c.session_id
			FROM sessions s JOIN chains c ON c.id = s.chain_id ORDER BY s.id`, func(rows *sql.Rows) error {
			one := SharedSession{Register: r.Name, Version: r.Version}
			err := rows.Scan(&one.Tool, &one.Cwd, &one.Home, &one.Task, &one.Role, &one.NativeID, &one.State, &one.Host, &one.LastUsed, &one.Turns,
				&one.Held, &one.Until, &one.Bundle, &one.Newest)
			list = append(list, one)
			return err
		})
		p.db.Close()
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}
