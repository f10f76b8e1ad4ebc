package fleet

import (
	"reprise/fleet/store"
	"reprise/ledger/decide"
)

// A Session is a session as a register of a store has it.
type Session struct {
	Tool     string
	Cwd      string
	Home     string
	Task     string
	NativeID string
	State    decide.State
	Host     string // of its latest run
	LastUsed decide.Millis
	Held     bool // a call has taken it
	Until    decide.Millis
	Bundle   string // "" if its files are not in the store
	Newest   bool   // of its chain
}

// Sessions returns the sessions of registers, without those of damaged ones and of those that a newer reprise has
// written.
func Sessions(registers []store.Register) (list []Session) {
	for _, one := range registers {
		r, err := decode(one)
		if err != nil {
			continue
		}
		c := &r.Chain
		for i := range r.Sessions {
			s := &r.Sessions[i]
			list = append(list, Session{c.Tool, c.Cwd, c.Home, c.Task, s.nativeID(), s.State, s.Host, s.LastUsed,
				s.Holder != "", s.HeldUntil, s.Bundle, int64(i)+1 == c.Newest})
		}
	}
	return list
}
