package fleet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"reprise/fleet/store"
	"reprise/ledger"
	"reprise/ledger/decide"
)

// registerVersion is the version of a register's content. It is no version of the ledger. It is
// raised only if a reader of the version before would decide wrongly: such a reader does not use
// the register at all.
//
// A field can be added without that. A reader ignores fields that it does not know, and does not
// write them back: its own run might have made them untrue. A field that is missing has the zero
// value, which must say that nothing is known.
const registerVersion = 1

// A register is a store's record of one chain. The JSON names are the format of stores, and never
// change.
type register struct {
	Version  int          `json:"version"`
	Chain    ledger.Chain `json:"chain"`
	Sessions []session    `json:"sessions"`
	name     store.Name
	stored   string // the version in the store
	before   []byte // the value of that version
}

// A session is a session of a chain, with the facts that only machines that share it need.
type session struct {
	ledger.Session
	// the packed files, "" if the store has none
	Bundle string `json:"bundle,omitempty"`
	// of these files, as the latest run left them
	BundleDigest string `json:"bundle_digest,omitempty"`
	// git's name of the directory's content then
	Tree string `json:"tree,omitempty"`
	// a digest: that directory on the machine
	Place string `json:"place,omitempty"`
	Host  string `json:"host,omitempty"` // of the latest run
	// the run that has taken it, "" for none
	Holder    string        `json:"holder,omitempty"`
	HeldUntil decide.Millis `json:"held_until,omitempty"` // until when that run is waited for
}

func (s *session) held(now decide.Millis) bool { return s.Holder != "" && now < s.HeldUntil }

// ended reports whether no run can go on with the session any more.
func (s *session) ended() bool { return s.State != decide.Live && s.State != decide.Running }

// decode reads a register's content. It fails with store.ErrBroken or store.ErrNewer.
func decode(from store.Register) (*register, error) {
	r := register{name: from.Name, stored: from.Version, before: from.Value}
	if from.Damaged {
		return nil, store.ErrBroken
	}
	if err := json.Unmarshal(from.Value, &r); err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrBroken, err)
	}
	if r.Version > registerVersion {
		return nil, fmt.Errorf("read register: %w", store.ErrNewer)
	}
	if chain := r.chain(0); r.Version < 1 || !chain.Consistent() {
		return nil, fmt.Errorf("%w: it has no such session", store.ErrBroken)
	}
	return &r, nil
}

// chain returns the chain as the ledger knows it.
func (r *register) chain(now decide.Millis) ledger.Chain {
	c := r.Chain
	for i := range r.Sessions {
		one := r.Sessions[i].Session
		one.ID, one.InUse = int64(i)+1, r.Sessions[i].held(now)
		c.Sessions = append(c.Sessions, one)
	}
	return c
}

// update sets the ledger's facts about the chain, which might have one more session now.
func (r *register) update(c ledger.Chain) {
	for i, s := range c.Sessions {
		if i == len(r.Sessions) {
			r.Sessions = append(r.Sessions, session{})
		}
		r.Sessions[i].Session = s
	}
	c.Sessions = nil
	r.Chain = c
}

func (r *register) change(change func(*ledger.Chain)) {
	c := r.chain(0)
	change(&c)
	r.update(c)
}

// hold makes sessions the run's own: nobody else resumes them. A number can be 0, for none.
func (r *register) hold(holder, host string, now decide.Millis, numbers ...int64) {
	for _, number := range numbers {
		if number > 0 {
			s := &r.Sessions[number-1]
			s.State, s.Holder, s.HeldUntil, s.Host = decide.Running, holder, now+heldFor, host
		}
	}
}

// own returns the numbers of the session that a run holds and of its source, 0 for none.
func (r *register) own(holder string) (number, source int64) {
	for n := int64(len(r.Sessions)); n > 0 && holder != ""; n-- {
		s := &r.Sessions[n-1]
		if s.Holder != holder {
			continue
		}
		if s.Parent > 0 && r.Sessions[s.Parent-1].Holder == holder {
			source = s.Parent
		}
		return n, source
	}
	return 0, 0
}

func (r *register) bundles() (names []string) {
	for i := range r.Sessions {
		if name := r.Sessions[i].Bundle; name != "" {
			names = append(names, name)
		}
	}
	return names
}

// without returns the bundles of before that no session has now.
func (r *register) without(before []string) []string {
	now := r.bundles()
	return slices.DeleteFunc(before, func(name string) bool { return slices.Contains(now, name) })
}

// encode returns the register's content, without sessions that can no longer matter: a run that has
// such a session finds that it is no longer its own.
func (r *register) encode(now decide.Millis) []byte {
	r.Version = registerVersion
	r.trim(now)
	return []byte(ledger.EncodeJSON(r))
}

// maxContinued is how many sessions a register keeps of a chain that were continued in copies.
const maxContinued = 32

// trim removes the sessions that can no longer matter: sessions from before the chain began anew,
// unless they are in use, and, but for the latest, continued sources and copies that ended badly.
func (r *register) trim(now decide.Millis) {
	first := cmp.Or(r.Chain.Since, r.Chain.Newest)
	continued := map[int64]bool{}
	for i := range r.Sessions {
		s := &r.Sessions[i]
		if s.ended() {
			s.Bundle = ""
		} else {
			continued[s.Parent] = true
		}
	}
	var kept []session
	numbers := map[int64]int64{} // new ones by old ones
	for i, s := range r.Sessions {
		n := int64(i) + 1
		old := n < int64(len(r.Sessions))-maxContinued &&
			(continued[n] || s.Parent > 0 && s.ended())
		marks := n == r.Chain.Newest || n == r.Chain.Since
		if !marks && s.HeldUntil < now && (n < first || s.Holder == "" && old) {
			continue
		}
		s.Parent = numbers[s.Parent]
		kept = append(kept, s)
		numbers[n] = int64(len(kept))
	}
	r.Sessions, r.Chain.Newest, r.Chain.Since = kept, numbers[r.Chain.Newest],
		numbers[r.Chain.Since]
}
