package ledger

import (
	"slices"
	"strings"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A Naming is what a rule would have made of a call: the names, and the policy for calls of that name.
type Naming struct {
	Scope, Task, Role string
	Prove             bool // Task separates jobs, but the prompt must show that it continues
	Never             bool // it belongs to no chain
	Fresh             bool // its prompt ends the chain
	ResumeSame        bool // an identical prompt resumes
	Unrelated         bool // another template resumes
	TTL, MaxAge       decide.Millis
}

// A ReplayedCall is a fresh call that no rule named, and what would have become of it with a name.
type ReplayedCall struct {
	Naming
	ID        int64
	Tool, Cwd string
	Started   decide.Millis
	Was       reason.Code
	Mode      rewrite.Mode
	Reason    reason.Code
	Bytes     int64  // of its prompt
	Saved     int64  // of these, by estimate, those that would not have been sent
	Opening   string // how its prompt begins: the same for prompts that begin alike
}

// A replayedJob is what the replay knows about a chain that a name would have made.
type replayedJob struct {
	first, last *freshCall // since it last began anew
}

// Replay decides again on the fresh calls since then that no rule named, at most the latest 20 000, as if name had named
// them; it returns those that name takes. It knows what a session was sent only by digests of its blocks: it does not
// notice an edited conversation, and neither a commit that is gone nor a session that is.
func (l *Ledger) Replay(since decide.Millis, name func(FreshCall) (Naming, bool)) (replayed []ReplayedCall, err error) {
	type key struct{ tool, cwd, home, scope, task, role, opening string }
	jobs := map[key]replayedJob{}
	err = l.freshCalls(since, func(c *freshCall) {
		n, ok := name(c.exported())
		if !ok {
			return
		}
		if n.Role == "" || strings.HasPrefix(n.Role, prompt.RoleTextMark) { // derived, of a prompt that may not be known
			n.Role = c.role // the caller's own
		}
		r := ReplayedCall{Naming: n, ID: c.id, Tool: c.tool, Cwd: c.cwd, Started: c.started, Was: c.reason, Mode: rewrite.Fresh, Reason: c.reason, Bytes: c.bytes,
			Opening: string(encodeDigests(c.blocks[:c.opening]))}
		job := key{c.tool, c.cwd, c.home, n.Scope, n.Task, n.Role, ""}
		if r.derivesRole() {
			job.opening = r.Opening
		}
		switch before := jobs[job]; {
		case n.Never:
			r.Reason = reason.Never
		case n.Task == "" || n.Prove: // the prompts alone decide, as they did
		default:
			if n.Fresh {
				r.Reason = reason.ContextReset
			} else {
				r.decide(before, c)
			}
			if !r.Mode.Continues() {
				before.first = c
			}
			jobs[job] = replayedJob{before.first, c}
		}
		replayed = append(replayed, r)
	})
	return replayed, err
}

// derivesRole reports whether the call's role is how its prompt begins.
func (r *ReplayedCall) derivesRole() bool { return r.Role == "" && !r.Unrelated }

// decide decides on a call that continues a job.
func (r *ReplayedCall) decide(job replayedJob, c *freshCall) {
	if job.last == nil {
		r.Reason = reason.FirstCall
		return
	}
	facts := decide.Facts{Fingerprints: c.fingerprints.Named(), Place: c.place}
	changed, _ := decide.WhatChanged(facts, &decide.ChainFacts{Fingerprints: job.last.fingerprints.Named(), Place: job.last.place})
	relation := Relate(job.last.blocks, c.blocks)
	switch {
	case job.last.lastUsed > c.started:
		r.Reason = reason.Leased
	case relation == reason.Unrelated && !r.Unrelated, relation == reason.Revises && r.derivesRole() && !decide.Contains(c.blocks, job.first.blocks):
		r.Reason = reason.BaseChanged
	case relation == reason.BaseChanged, relation == reason.Identical && !r.ResumeSame:
		r.Reason = relation
	case !job.last.good:
		r.Reason = reason.PreviousFailed
	case changed != "":
		r.Reason = changed
	case c.started-job.last.lastUsed > r.TTL:
		r.Reason = reason.Idle
	case c.started-job.first.started > r.MaxAge:
		r.Reason = reason.TooOld
	default:
		r.Mode, r.Reason = rewrite.Resume, relation
		r.Saved = int64(prompt.EstimateSaving(int(c.bytes), len(c.blocks), fresh(job.last.blocks, c.blocks)+c.opening+1))
	}
}

// Relate returns how a prompt relates to an earlier one, as far as the digests of their blocks show.
func Relate(before, now []prompt.Digest) reason.Code {
	kept := len(now) - fresh(before, now)
	switch {
	case slices.Equal(before, now):
		return reason.Identical
	case kept == len(now):
		return reason.BaseChanged
	case decide.Contains(now, before):
		return reason.Extends
	case 2*kept > len(before):
		return reason.Revises
	}
	return reason.Unrelated
}

// fresh counts the blocks of a prompt that an earlier one does not have.
func fresh(before, now []prompt.Digest) (n int) {
	for _, d := range now {
		if !slices.Contains(before, d) {
			n++
		}
	}
	return n
}
