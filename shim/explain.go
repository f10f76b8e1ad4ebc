package shim

import (
	"errors"
	"io/fs"

	"reprise/ledger"
	"reprise/rewrite"
)

// An Explanation is what the shim would do with a call, and why. Its plan is the
// very plan that the shim would run.
type Explanation struct {
	Tool     string
	Real     string // path of the real binary, "" where there is none
	Mode     rewrite.Mode
	Reason   rewrite.Reason
	Detail   rewrite.Reason
	Rule     string // the name of the rule that holds, "" where none does
	Task     string
	Role     string
	Chain    int64
	Session  string
	Prices   ledger.Prices   // where Reason is dearer
	Context  rewrite.Context // of the chain's session
	Full     bool            // it is about to be given up for its context, or already is
	Unknown  string          // the option that is not known, where Reason says so
	Plan     rewrite.Plan
	Blocks   []Block
	PromptIn int // bytes of the caller's prompt
	Fault    error
}

// A Block is a part of the caller's prompt: its first line, and whether the
// session to be resumed has it.
type Block struct {
	Head string
	Sent bool
}

// Explain says what would become of a call, without running anything but, where
// an option is not known, the binary's --help. Nothing is recorded. env.Args is
// the command line of the call, env.Stdin its stdin; its output is taken to go to
// a program.
func Explain(env Env) Explanation {
	c := newCall(env)
	c.preview = true
	c.guard = guard{tried: ourShims(env, c.name)} // the running program is none of them
	e := c.explain()
	e.Tool = c.name
	if t, err := c.target(); err == nil {
		e.Real = t.path
	}
	e.Fault = c.failed
	return e
}

func (c *call) explain() Explanation {
	pass := func(reason rewrite.Reason) Explanation {
		return Explanation{Mode: rewrite.Passthrough, Reason: reason, Unknown: c.parsed.Unknown,
			Plan: rewrite.Plan{Args: c.env.Args[1:], Whole: true}}
	}
	if c.env.Get("REPRISE_OFF") == "1" {
		return pass(rewrite.SwitchedOff)
	}
	if reason := c.parse(); reason != "" {
		return pass(reason)
	}
	if reason := c.key(); reason != "" {
		return pass(reason)
	}
	if c.parsed.Mode == rewrite.Observe {
		e := pass(c.parsed.Reason)
		e.Mode = rewrite.Observe
		return e
	}
	if reason := c.readPrompt(); reason != "" {
		return pass(reason)
	}
	d, err := c.ledger.Preview(c.record)
	if err != nil {
		return pass(c.fault("read chains", err))
	}
	return c.explainDecision(d)
}

func (c *call) explainDecision(d ledger.Decision) Explanation {
	e := Explanation{
		Mode: d.Mode, Reason: d.Reason, Detail: d.Detail,
		Rule: c.record.Rule, Task: c.record.Task, Role: c.record.Role, Chain: d.Chain, Session: d.NativeID,
		Prices: d.Prices, Context: d.Context, Full: d.NearlyFull,
		Plan: planFor(c.tool, c.parsed, c.record.Prompt, d), PromptIn: len(c.record.Prompt.Text),
	}
	for i, head := range c.record.Prompt.Headings() {
		b := Block{Head: head}
		if d.Mode == rewrite.Resume {
			b.Sent = d.Continuity.Has[i]
		}
		e.Blocks = append(e.Blocks, b)
	}
	return e
}

// openPreview opens the ledger to be looked at; where there is none yet, an empty
// one that is kept in memory stands for it.
func openPreview(path string) (*ledger.Ledger, error) {
	l, err := ledger.OpenExisting(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ledger.OpenMemory()
	}
	return l, err
}
