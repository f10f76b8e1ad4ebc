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
	Attempt           int  // of the job, or rewrite.NoAttempt
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
	Resumed     int                 `json:"would_resume" doc:"calls that would have been resumed"`
	Late        int                 `json:"later_than_ttl" doc:"further calls that came later than ttl"`
	PromptBytes int64               `json:"prompt_bytes" doc:"length of the prompts of would_resume"`
	LeftOut     int64               `json:"estimated_saved" doc:"bytes of these not sent"`
	Estimated   bool                `json:"estimated" doc:"whether that is an estimate: the tool's files do not have all prompts"`
	WhyWhole    map[reason.Code]int `json:"sent_whole,omitempty" doc:"why the whole prompts of some would have been sent"`
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

// A chain is what the replay knows about a chain that a name would have made: its sessions since it last began anew, the newest last.
type chain struct {
	sessions   []*session
	concurrent bool // two calls of it have run at once
}

// maxSessions is how many sessions of a chain a call is compared with, the newest.
const maxSessions = 8

func (of *chain) add(s *session) {
	of.sessions = append(of.sessions[max(0, len(of.sessions)-maxSessions+1):], s)
}

// goneOn reports whether a later session continues one.
func (of *chain) goneOn(id int64) bool {
	return slices.ContainsFunc(of.sessions, func(s *session) bool { return s.Parent == id })
}

// A session is one of a chain.
type session struct {
	decide.ChainFacts
	sent  prompt.Sent
	began decide.Millis // its latest run
}

// begin returns the session of a fresh call, and take makes a call its latest.
func begin(c *ledger.FreshCall, attempt int) *session {
	s := &session{ChainFacts: decide.ChainFacts{Session: c.Session, NativeID: "known", Fingerprints: c.Fingerprints.Named(), Created: c.Started}}
	s.sent.RootFirst, s.sent.Root = c.Sent.RootFirst, c.Sent.Root
	s.take(c, attempt)
	return s
}

func (s *session) take(c *ledger.FreshCall, attempt int) {
	if s.State = decide.Live; !c.Good {
		s.State = decide.Failed
	}
	if attempt != rewrite.NoAttempt || s.Base == nil {
		s.Attempt = attempt
	}
	s.began, s.LastUsed, s.Place, s.Base = c.Started, c.LastUsed, c.Place, c.Blocks
	s.sent.Base, s.sent.Transcript = c.Footprint, s.sent.Transcript || c.Sent.Transcript
	s.sent.Answers, s.sent.Things = slices.Concat(s.sent.Answers, c.Sent.Answers), slices.Concat(c.Sent.Things, s.sent.Things)
}

// Replay decides again on fresh calls that no rule named, as if name had named them; it returns those that name takes. The decision is the ledger's, with what the ledger keeps: it does not notice a commit
// or work that is gone, nor a session that is, and of a prompt whose text is gone it knows only digests. Of a call that begins beside
// another it may name another reason to be fresh.
func Replay(calls []*ledger.FreshCall, name func(*ledger.FreshCall) (Naming, bool)) (replayed []Call) {
	type key struct{ tool, cwd, home, scope, task, role, opening string }
	chains, roles := map[key]*chain{}, map[key][]string{} // roles by task
	for _, c := range calls {
		n, ok := name(c)
		if !ok {
			continue
		}
		r := Call{Naming: n, ID: c.ID, Tool: c.Tool, Cwd: c.Cwd, Started: c.Started, Was: c.Reason, Mode: rewrite.Fresh, Reason: c.Reason, Bytes: c.Bytes,
			Opening: fmt.Sprintf("%x", c.Blocks[:c.Opening])}
		if derived := strings.HasPrefix(n.Role, prompt.RoleTextMark); derived || c.Role != "" {
			r.Role = c.Role // the caller's own
		}
		task := key{c.Tool, c.Cwd, c.Home, n.Scope, n.Task, "", ""}
		at := task
		if at.role = r.Role; r.derivesRole() {
			if at.opening = n.Role; n.Prompt == nil {
				at.opening = r.Opening
			}
		}
		switch {
		case n.Never:
			r.Reason = reason.Never
		case n.Task == "" || n.Prove: // the prompts alone decide, as they did
		default:
			if chains[at] == nil {
				chains[at] = &chain{}
			}
			r.decide(chains[at], c, slices.DeleteFunc(slices.Clone(roles[task]), func(role string) bool { return role == r.Role && role != "" }))
			if !slices.Contains(roles[task], r.Role) {
				roles[task] = append(roles[task], r.Role)
			}
		}
		replayed = append(replayed, r)
	}
	return replayed
}

// derivesRole reports whether the call's role is how its prompt begins.
func (r *Call) derivesRole() bool { return r.Role == "" && !r.Unrelated }

// decide decides on a call of a chain, as the ledger would, and records it there. others are the other roles of its task, "" for one
// that nothing names.
func (r *Call) decide(of *chain, c *ledger.FreshCall, others []string) {
	f := decide.Facts{Now: c.Started, Named: true, DerivedRole: r.derivesRole(), Attempt: r.Attempt, Fingerprints: c.Fingerprints.Named(), Place: c.Place,
		PromptBytes: int(c.Bytes), Others: r.derivesRole() && slices.Contains(others, ""),
		Limits: decide.Limits{TTL: r.TTL, MaxAge: r.MaxAge, ResumeSame: r.ResumeSame, Unrelated: r.Unrelated, WholePrompt: r.WholePrompt, ResumeDearer: true}}
	if r.Fresh {
		f.Fresh = reason.ContextReset
	}
	busy := false
	for _, s := range slices.Backward(of.sessions) {
		s.Concurrent, s.Held = of.concurrent, s.LastUsed > c.Started
		s.sent.Others = others
		s.Continuity = r.relate(s.sent, c)
		facts := s.ChainFacts
		if e := &s.Continuity.Evidence; s.Retains() || e.Answer > 0 {
			facts.Against, facts.Ends = e.Against(nil), e.Ends()
		}
		if s.Held {
			facts.LastUsed, busy = s.began, true // its end is not recorded yet
		}
		f.Chains = append(f.Chains, facts)
	}
	d := decide.Decide(f)
	if d.Mode.Continues() && of.goneOn(d.Session) { // only some tools keep that session
		f.Chains = slices.DeleteFunc(f.Chains, func(s decide.ChainFacts) bool { return of.goneOn(s.Session) })
		d = decide.Decide(f)
	}
	r.Mode, r.Reason = d.Mode, d.Reason
	of.concurrent = of.concurrent || busy
	if !d.Mode.Continues() {
		if d.Reason != reason.Ambiguous && d.Detail != reason.Unrelated && !of.concurrent {
			of.sessions = nil
		}
		of.add(begin(c, r.Attempt))
		return
	}
	next := *of.sessions[slices.IndexFunc(of.sessions, func(s *session) bool { return s.Session == d.Session })]
	r.leaveOut(d, next.sent, c)
	next.Parent, next.Session, next.sent.Transcript = next.Session, c.Session, next.sent.Transcript || d.Continuity.Transcript
	next.take(c, r.Attempt)
	of.add(&next)
}

// relate returns how the call's prompt relates to what a session was sent.
func (r *Call) relate(sent prompt.Sent, c *ledger.FreshCall) prompt.Continuity {
	if r.Prompt != nil {
		sent.Named = !r.derivesRole()
		return prompt.Compare(sent, r.Prompt)
	}
	relation := Relate(sent.Base.Blocks, c.Blocks)
	if relation == reason.Revises && r.derivesRole() && !decide.Contains(c.Blocks, sent.Root) {
		relation = reason.Unrelated
	}
	return prompt.Continuity{Relation: relation}
}

// leaveOut sets what of a resumed call's prompt would not have been sent.
func (r *Call) leaveOut(d decide.Decision, sent prompt.Sent, c *ledger.FreshCall) {
	leftOut, delta := 0, ""
	if r.WhyWhole = d.Whole; r.WhyWhole != "" {
		return
	}
	if r.Prompt == nil {
		leftOut, r.WhyWhole = prompt.EstimateDelta(d.Reason, sent.Base, c.Footprint)
	} else if delta, r.WhyWhole = r.Prompt.Delta(d.Continuity); r.WhyWhole == "" {
		leftOut = len(r.Prompt.Text) - len(delta)
	}
	r.LeftOut = int64(leftOut)
}

// Relate returns how a prompt relates to an earlier one, as far as the digests of their blocks show.
func Relate(before, now []prompt.Digest) reason.Code {
	kept := 0
	for _, d := range now {
		if slices.Contains(before, d) {
			kept++
		}
	}
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
