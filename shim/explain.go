package shim

import (
	"fmt"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/shim/binary"
)

// An Explanation is the shim's plan for a call, and the reasons. The plan is empty if the
// shim would run none.
type Explanation struct {
	// The decision. The proof is of the nearest session, and only there if nothing names the task.
	decide.Decision
	Call     *ledger.Call // with an empty prompt if the call runs as it was written
	Real     string       // path of the real binary, "" if there is none
	Plan     rewrite.Plan
	Nearest  *Nearest            // nil if there is no chain to compare the prompt with
	Against  []prompt.Finding    // words of the prompt that speak against a resume
	Line     rewrite.CommandLine // of a call that runs as it was written
	Terminal bool                // the output goes to a terminal
	Other    *Other
	Fault    error
	SharedAs *ledger.Identity // nil if no store decides on the call
}

// Other is the decision on the call if the output goes to a program instead of a terminal, or the
// reverse. It is nil if that makes no difference to whether the call is managed.
type Other struct {
	Managed bool        `json:"managed" doc:"whether the call is managed then"`
	Reason  reason.Code `json:"reason,omitempty" doc:"why not"`
}

// Nearest is the chain that the prompt was compared with: the decision's, or if the decision has
// none, the chain with a session that was sent most of the prompt.
type Nearest struct {
	Chain    int64       `json:"chain" doc:"its chain"`
	Session  string      `json:"session,omitempty" doc:"its session"` // "" if it is not known yet
	Relation reason.Code `json:"relation" doc:"how the prompt relates to the session's"`
}

// Explain returns the shim's plan for a call. It records nothing and runs nothing, except
// the binary's --help if an option is not known. env.Args is the call's command line, env.Stdin
// the stdin, env.Stdout the output, nil for a program that reads it.
func Explain(env Env) Explanation {
	a := ask(env)
	a.preview = true
	f := newFound(a)
	f.search.Behind(binary.OurShims(env.Own, a.name)) // the running program is shimctl
	e, err := Explanation{}, error(reason.SwitchedOff)
	if env.Get("REPRISE_OFF") != "1" {
		if err = find(f, nil); err == nil {
			e, err = f.explain()
		}
	}
	if err != nil {
		e = f.unchanged(err)
	}
	if real, err := f.search.Program(); err == nil {
		e.Real = real.Path
	} else if e.Reason == reason.Fault && e.Fault == nil {
		e.Fault = fmt.Errorf("find the real %s: %w", a.name, err)
	}
	e.Terminal = a.commandInput().StdoutTTY
	if f.line.Mode != "" {
		e.Other = f.other()
	}
	return e
}

// other returns the decision for another kind of output.
func (f *found) other() *Other {
	in := f.commandInput()
	now := f.parsed(in).Mode != rewrite.Passthrough
	in.StdoutTTY = !in.StdoutTTY
	line := f.parsed(in)
	switch managed := line.Mode != rewrite.Passthrough; {
	case managed == now:
		return nil
	case managed:
		return &Other{Managed: true}
	}
	return &Other{Reason: line.Reason}
}

// unchanged returns the explanation of a call that runs as it was written.
func (f *found) unchanged(err error) Explanation {
	p := passOf(err)
	return Explanation{
		Decision: decide.Decision{Mode: rewrite.Passthrough, Reason: p.why}, Fault: p.failed,
		Line: f.line,
		Call: &ledger.Call{Record: ledger.Record{Tool: f.name},
			Request: decide.Request{Attempt: rewrite.NoAttempt},
			Prompt:  prompt.New("", prompt.Key{})},
		Plan: rewrite.Plan{Args: f.env.Args[1:], Whole: true},
	}
}

// explain decides as the shim would. It fails with a pass if the call is not managed.
func (f *found) explain() (Explanation, error) {
	if f.line.Mode == rewrite.Observe {
		e := f.unchanged(f.line.Reason)
		e.Mode = rewrite.Observe
		return e, nil
	}
	line, text, err := f.readPrompt()
	if err != nil {
		return Explanation{}, err
	}
	d, err := newDecided(f, line, text, f.started)
	if err != nil {
		return Explanation{}, err
	}
	decision, chains, err := f.book.preview(d.record)
	if err != nil {
		return Explanation{}, f.fault("read chains", err)
	}
	d.decision = decision
	return d.explain(nearest(decision, chains)), nil
}

func (d *decided) explain(near *decide.ChainFacts) Explanation {
	r := d.record
	e := Explanation{Decision: d.decision, Call: r, SharedAs: d.book.identity(r), Plan: d.plan()}
	e.Evidence = decide.Evidence{}
	if near != nil {
		if r.Task == "" || r.Strict {
			e.Evidence = near.Shown()
			if near.Against != nil {
				e.Against = near.Against()
			}
		}
		e.Nearest = &Nearest{Chain: near.Chain, Session: near.NativeID,
			Relation: near.Continuity.Relation}
	}
	return e
}

// nearest returns the chain to compare with, of equal ones the most recently used, or nil.
func nearest(d decide.Decision, chains []decide.ChainFacts) *decide.ChainFacts {
	var best *decide.ChainFacts
	most := 0
	for i := range chains {
		if chains[i].Chain == d.Chain || d.Chain == 0 && chains[i].Continuity.Relation == d.Reason {
			return &chains[i] // the decision's
		}
		has := 0
		for _, sent := range chains[i].Continuity.Has {
			if sent {
				has++
			}
		}
		if has > most {
			best, most = &chains[i], has
		}
	}
	return best
}
