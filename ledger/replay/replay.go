// Package replay says what fresh calls that nothing named would have become with a name, from what the ledger recorded of them.
//
// It reads the ledger and writes nothing. Its invariant: what it says of a call is what the ledger would have decided, as far as
// digests of the prompts show.
package replay

import (
	"fmt"
	"slices"
	"strings"

	"reprise/ledger"
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
	WholePrompt       bool // no prompt is shortened
	TTL, MaxAge       decide.Millis
	Prompt            *prompt.Prompt // the call's, nil if its text is gone
}

// A Call is a fresh call that no rule named, and what would have become of it with a name.
type Call struct {
	Naming
	ID        int64
	Tool, Cwd string
	Started   decide.Millis
	Was       reason.Code
	Mode      rewrite.Mode
	Reason    reason.Code
	Bytes     int64       // of its prompt
	LeftOut   int64       // of these, those that would not have been sent; an estimate if its text is gone
	WhyWhole  reason.Code // why all of it would have been sent
	Opening   string      // how its prompt begins: the same for prompts that begin alike
}

// Figures are what names would have made of calls.
type Figures struct {
	Resumed     int                 // calls that would have been resumed
	Late        int                 // further ones, had they not come later than ttl
	PromptBytes int64               // of the prompts of those resumed
	LeftOut     int64               // of these, those that would not have been sent
	Estimated   bool                // the texts of some are gone
	WhyWhole    map[reason.Code]int // why the whole prompts of some would have been sent
}

// Add counts a call.
func (f *Figures) Add(c Call) {
	switch {
	case c.Mode.Continues():
		f.Resumed, f.PromptBytes, f.LeftOut = f.Resumed+1, f.PromptBytes+c.Bytes, f.LeftOut+c.LeftOut
		f.Estimated = f.Estimated || c.Prompt == nil
		if c.WhyWhole != "" {
			if f.WhyWhole == nil {
				f.WhyWhole = map[reason.Code]int{}
			}
			f.WhyWhole[c.WhyWhole]++
		}
	case c.Reason == reason.Idle:
		f.Late++
	}
}

// A job is what the replay knows about a chain that a name would have made.
type job struct {
	first, last *ledger.FreshCall // since it last began anew
}

// Replay decides again on the fresh calls since then that no rule named, at most the latest 20 000, as if name had named
// them; it returns those that name takes. It knows what a session was sent only by digests of its blocks: it does not
// notice an edited conversation, and neither a commit that is gone nor a session that is.
func Replay(l *ledger.Ledger, since decide.Millis, name func(*ledger.FreshCall) (Naming, bool)) (replayed []Call, err error) {
	type key struct{ tool, cwd, home, scope, task, role, opening string }
	jobs := map[key]job{}
	err = l.FreshCalls(since, func(c *ledger.FreshCall) {
		n, ok := name(c)
		if !ok {
			return
		}
		if n.Role == "" || strings.HasPrefix(n.Role, prompt.RoleTextMark) { // derived, of a prompt that may not be known
			n.Role = c.Role // the caller's own
		}
		if n.Prompt != nil {
			c.First = n.Prompt.Footprint().First
		}
		r := Call{Naming: n, ID: c.ID, Tool: c.Tool, Cwd: c.Cwd, Started: c.Started, Was: c.Reason, Mode: rewrite.Fresh, Reason: c.Reason, Bytes: c.Bytes,
			Opening: fmt.Sprintf("%x", c.Blocks[:c.Opening])}
		at := key{c.Tool, c.Cwd, c.Home, n.Scope, n.Task, n.Role, ""}
		if r.derivesRole() {
			at.opening = r.Opening
		}
		switch before := jobs[at]; {
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
			jobs[at] = job{before.first, c}
		}
		replayed = append(replayed, r)
	})
	return replayed, err
}

// derivesRole reports whether the call's role is how its prompt begins.
func (r *Call) derivesRole() bool { return r.Role == "" && !r.Unrelated }

// decide decides on a call that continues a job.
func (r *Call) decide(j job, c *ledger.FreshCall) {
	if j.last == nil {
		r.Reason = reason.FirstCall
		return
	}
	facts := decide.Facts{Fingerprints: c.Fingerprints.Named(), Place: c.Place}
	changed, _ := decide.WhatChanged(facts, &decide.ChainFacts{Fingerprints: j.last.Fingerprints.Named(), Place: j.last.Place})
	relation := r.relate(j, c)
	switch {
	case j.last.LastUsed > c.Started:
		r.Reason = reason.Leased
	case relation == reason.Unrelated && !r.Unrelated:
		r.Reason = reason.BaseChanged
	case relation == reason.BaseChanged, relation == reason.HistoryEdited, relation == reason.Identical && !r.ResumeSame:
		r.Reason = relation
	case !j.last.Good:
		r.Reason = reason.PreviousFailed
	case changed != "":
		r.Reason = changed
	case c.Started-j.last.LastUsed > r.TTL:
		r.Reason = reason.Idle
	case c.Started-j.first.Started > r.MaxAge:
		r.Reason = reason.TooOld
	default:
		r.Mode, r.Reason = rewrite.Resume, relation
		return
	}
	r.LeftOut, r.WhyWhole = 0, ""
}

// relate returns how the call's prompt relates to what the job was sent, and sets what of it would be left out.
func (r *Call) relate(j job, c *ledger.FreshCall) (relation reason.Code) {
	if p := r.Prompt; p != nil {
		sent := prompt.Sent{Base: j.last.Footprint, RootFirst: j.first.First, Root: j.first.Blocks, Named: !r.derivesRole()}
		continuity := prompt.Compare(sent, p)
		relation = continuity.Relation
		var delta string
		if delta, r.WhyWhole = p.Delta(continuity); r.WhyWhole == "" {
			r.LeftOut = int64(len(p.Text) - len(delta))
		}
	} else {
		relation = Relate(j.last.Blocks, c.Blocks)
		if relation == reason.Revises && r.derivesRole() && !decide.Contains(c.Blocks, j.first.Blocks) {
			relation = reason.Unrelated
		}
		var leftOut int
		leftOut, r.WhyWhole = prompt.EstimateDelta(relation, j.last.Footprint, c.Footprint)
		r.LeftOut = int64(leftOut)
	}
	if r.WholePrompt {
		r.LeftOut, r.WhyWhole = 0, reason.DeltaOff
	}
	return relation
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
