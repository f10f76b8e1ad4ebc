// Package prune decides which sessions can be removed: a pure policy, with a reason for each.
//
// It reads no file or clock, and removes nothing. Invariant: a session is kept unless it is
// provably finished and provably ours.
package prune

import (
	"cmp"
	"slices"

	"reprise/ledger"
	"reprise/ledger/decide"
)

// A Retention names the sessions to keep: a session stays if any part of it applies.
type Retention struct {
	KeepWithin decide.Millis // sessions used within this time; 0 for none
	KeepLast   int           // number of each chain's newest sessions; 0 for none
	// Superseded is how long a session stays after copies last continued it, whatever else keeps it
	// for the age or rank; 0 for as long as others.
	Superseded decide.Millis
	// TTL and MaxAge bound the sessions that can still be resumed: the longest that configuration
	// and rules allow.
	TTL, MaxAge decide.Millis
}

// KeepsNothing reports a policy that would remove everything.
func (p Retention) KeepsNothing() bool { return p.KeepWithin <= 0 && p.KeepLast <= 0 }

// A Reason says in one word why a session is kept or can be removed. As an error it is why the
// files stay.
type Reason string

func (r Reason) Error() string { return string(r) }

// Reasons why a session is kept.
const (
	Within    Reason = "within"       // it was used recently
	Last      Reason = "last"         // it is one of the chain's newest
	Leased    Reason = "leased"       // a live process of ours holds it
	Resumable Reason = "resumable"    // the next call can resume it
	Observed  Reason = "caller_owned" // the caller has also used it by the ID
	Future    Reason = "clock"        // it was used in the future
)

// Reasons in a session's files why it is kept.
const (
	Gone    Reason = "gone"    // there is nothing to remove
	Changed Reason = "changed" // another process has written to it since
	Open    Reason = "open"    // the tool has it open
	Forked  Reason = "forked"  // another session that began with this history needs the files
	// it is outside the tool's own directory, or a symbolic link leads to it
	Foreign Reason = "foreign"
	Unknown Reason = "unknown" // a file that might keep it could not be read
	// InDatabase is the reason for a session that is no file, which shimctl cannot remove yet.
	InDatabase Reason = "in_database"
)

// Reasons why a session can be removed.
const (
	TooOld  Reason = "too_old"    // it was last used too long ago
	TooMany Reason = "not_newest" // the chain has newer ones
	Copied  Reason = "superseded" // a copy has all that it has
	Chosen  Reason = "chosen"     // the chain was named
)

// A Verdict is the decision to keep or remove a session, with the reasons.
type Verdict struct {
	ledger.SessionFile
	Remove  bool
	Reasons []Reason
}

// Apply judges the sessions. It returns verdicts chain by chain, a chain's newest session first. It
// calls checkFiles for the sessions that nothing else keeps; checkFiles returns "" if the files can
// be removed, else why not.
func Apply(now decide.Millis, sessions []ledger.SessionFile, p Retention,
	checkFiles func(ledger.SessionFile) Reason) []Verdict {
	sorted := slices.SortedFunc(slices.Values(sessions), func(a, b ledger.SessionFile) int {
		return cmp.Or(cmp.Compare(a.Chain, b.Chain), cmp.Compare(b.LastUsed, a.LastUsed),
			cmp.Compare(b.ID, a.ID))
	})
	var verdicts []Verdict
	rank := 0 // among the listed sessions of the chain
	for i, s := range sorted {
		if rank++; i == 0 || s.Chain != sorted[i-1].Chain {
			rank = 0
		}
		v := Verdict{SessionFile: s, Reasons: keeps(now, s, rank, p)}
		if len(v.Reasons) == 0 {
			if why := checkFiles(s); why != "" {
				v.Reasons = []Reason{why}
			}
		}
		if v.Remove = len(v.Reasons) == 0; v.Remove {
			v.Reasons = removalReasons(now, s, p)
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

func keeps(now decide.Millis, s ledger.SessionFile, rank int, p Retention) (why []Reason) {
	idle, age, over := now-s.LastUsed, now-s.Created, superseded(now, s, p)
	add := func(r Reason, holds bool) {
		if holds {
			why = append(why, r)
		}
	}
	add(Leased, s.Held)
	add(Future, idle < 0 || age < 0)
	add(Within, !over && p.KeepWithin > 0 && idle >= 0 && idle <= p.KeepWithin)
	add(Last, !over && rank < p.KeepLast)
	add(Resumable, !over && s.Current && s.State == decide.Live && !s.Reset && idle <= p.TTL &&
		age <= p.MaxAge)
	add(Observed, s.Observed)
	return why
}

// superseded reports whether a session was continued in copies, and neither used nor continued for
// long enough since.
func superseded(now decide.Millis, s ledger.SessionFile, p Retention) bool {
	return p.Superseded > 0 && s.Superseded > 0 && now-max(s.Superseded, s.LastUsed) > p.Superseded
}

// removalReasons returns why a session can be removed that no part of the policy keeps.
func removalReasons(now decide.Millis, s ledger.SessionFile, p Retention) (why []Reason) {
	if superseded(now, s, p) {
		return []Reason{Copied}
	}
	if p.KeepWithin > 0 {
		why = append(why, TooOld)
	}
	if p.KeepLast > 0 {
		why = append(why, TooMany)
	}
	return why
}
