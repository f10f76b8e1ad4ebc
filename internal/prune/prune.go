// Package prune says which sessions may go: a pure policy, with a reason for each.
//
// It never looks at a file or a clock, and removes nothing. Its invariant: what is
// not provably finished with, and provably our own, is kept.
package prune

import (
	"cmp"
	"errors"
	"slices"

	"reprise/ledger"
)

// A Policy says what is kept. A session is kept if any of its parts says so.
type Policy struct {
	KeepWithin ledger.Millis // sessions used within this time; 0 for none
	KeepLast   int           // so many of each chain's newest; 0 for none
	// TTL and MaxAge bound what may still be resumed: the longest that
	// configuration and rules allow.
	TTL, MaxAge ledger.Millis
}

// ErrEmpty is the error of a policy that keeps nothing.
var ErrEmpty = errors.New("the policy keeps nothing")

// Check refuses a policy that would remove everything.
func (p Policy) Check() error {
	if p.KeepWithin <= 0 && p.KeepLast <= 0 {
		return ErrEmpty
	}
	return nil
}

// A Session is what the policy has to know of one.
type Session struct {
	ledger.SessionFile
	Rank int // among those of its chain that are listed, 0 for the newest
}

// A Reason says in one word why a session is kept or may go.
type Reason string

// Why a session is kept.
const (
	Within    Reason = "within"       // it was used a short time ago
	Last      Reason = "last"         // it is one of its chain's newest
	Leased    Reason = "leased"       // a live process of ours holds it
	Resumable Reason = "resumable"    // the next call may resume it
	Observed  Reason = "caller_owned" // the caller has used it by its name, too
	Future    Reason = "clock"        // it was used in the future
)

// Why a session is kept for its files' sake.
const (
	Gone    Reason = "gone"    // there is nothing to remove
	Changed Reason = "changed" // somebody else has written to it since
	Open    Reason = "open"    // the tool has it open
	Forked  Reason = "forked"  // another session goes on from it
	Foreign Reason = "foreign" // it is not where the tool keeps its own, or a link leads there
	Unknown Reason = "unknown" // what would keep it could not be read
)

// Why a session may go.
const (
	TooOld  Reason = "too_old"    // it was last used longer ago than is kept
	TooMany Reason = "not_newest" // its chain has newer ones
)

// A Verdict says what becomes of a session, and why.
type Verdict struct {
	Session
	Remove  bool
	Reasons []Reason
}

// Apply judges the sessions. Verdicts come chain by chain, a chain's newest first.
// look is asked about the files of those alone that nothing else keeps, and gives
// "" where they may go.
func Apply(now ledger.Millis, sessions []ledger.SessionFile, p Policy, look func(ledger.SessionFile) Reason) []Verdict {
	var verdicts []Verdict
	for _, s := range rank(sessions) {
		v := Verdict{Session: s, Reasons: keeps(now, s, p)}
		if len(v.Reasons) == 0 {
			if why := look(s.SessionFile); why != "" {
				v.Reasons = []Reason{why}
			}
		}
		if v.Remove = len(v.Reasons) == 0; v.Remove {
			v.Reasons = goes(p)
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// rank orders the sessions and counts them within their chains.
func rank(sessions []ledger.SessionFile) []Session {
	sorted := slices.SortedFunc(slices.Values(sessions), func(a, b ledger.SessionFile) int {
		return cmp.Or(cmp.Compare(a.Chain, b.Chain), cmp.Compare(b.LastUsed, a.LastUsed), cmp.Compare(b.ID, a.ID))
	})
	ranked := make([]Session, len(sorted))
	for i, s := range sorted {
		ranked[i].SessionFile = s
		if i > 0 && s.Chain == sorted[i-1].Chain {
			ranked[i].Rank = ranked[i-1].Rank + 1
		}
	}
	return ranked
}

func keeps(now ledger.Millis, s Session, p Policy) (why []Reason) {
	idle, age := now-s.LastUsed, now-s.Created
	add := func(r Reason, holds bool) {
		if holds {
			why = append(why, r)
		}
	}
	add(Leased, s.Held)
	add(Future, idle < 0 || age < 0)
	add(Within, p.KeepWithin > 0 && idle >= 0 && idle <= p.KeepWithin)
	add(Last, s.Rank < p.KeepLast)
	add(Resumable, s.Current && s.State == ledger.Live && !s.Reset && idle <= p.TTL && age <= p.MaxAge)
	add(Observed, s.Observed)
	return why
}

// goes names the parts of the policy that would have kept a session.
func goes(p Policy) (why []Reason) {
	if p.KeepWithin > 0 {
		why = append(why, TooOld)
	}
	if p.KeepLast > 0 {
		why = append(why, TooMany)
	}
	return why
}
