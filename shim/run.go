package shim

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"reprise/ledger"
	"reprise/rewrite"
)

func millis(t time.Time) ledger.Millis { return ledger.Millis(t.UnixMilli()) }

// run carries out a managed call: resumed, forked or fresh as decided, and once more
// fresh if the tool refuses the resume.
func (c *call) run() int {
	var plan rewrite.Plan
	if reason := c.runSteps(func() rewrite.Reason { plan = c.plan(); return "" }); reason != "" {
		return c.passthrough(reason)
	}
	c.signals.catch()
	c.say(c.decision.Mode, c.decision.Reason)
	a, st, err := c.runPlan(plan)
	if err == nil && a.state == stateRefused && a.stopped == 0 {
		a.process.witness.close()
		c.log.refused(c.decision, a.refusal)
		if err := c.ledger.FallBack(c.ticket, a.refusal); err != nil {
			c.log.fault("record refusal", err)
		}
		c.noteNoResume(a.refusal)
		a, st, err = c.runPlan(c.tool.Plan(c.parsed, rewrite.ToFresh(c.record.Prompt.Text)))
	}
	if err != nil {
		// The tool did not start: becoming it will say why, in its own way.
		c.fault("start the tool", err)
		return c.passthrough(rewrite.Fault)
	}
	c.finish(a, st)
	c.startPrune()
	return a.shown(st).leave()
}

// plan turns the decision into the real call. Resume, or fork, and delta come from the one
// decision, and nowhere else.
func (c *call) plan() rewrite.Plan {
	return planFor(c.tool, c.parsed, c.record.Prompt, c.decision)
}

func planFor(tool rewrite.Tool, parsed rewrite.Call, prompt *rewrite.Prompt, d ledger.Decision) rewrite.Plan {
	parsed.SessionModel, parsed.SessionVersion = d.Model, d.Version
	return tool.Plan(parsed, targetOf(prompt, d))
}

func targetOf(prompt *rewrite.Prompt, d ledger.Decision) rewrite.Target {
	switch {
	case d.Mode == rewrite.Fork:
		return rewrite.ToFork(d.NativeID, d.ForkAt, prompt, d.Continuity, d.Whole)
	case d.Copy:
		return rewrite.ToCopy(d.NativeID, prompt, d.Continuity, d.Whole)
	case d.Mode == rewrite.Resume:
		return rewrite.ToResume(d.NativeID, prompt, d.Continuity, d.Whole)
	}
	return rewrite.ToFresh(prompt.Text)
}

// runPlan runs the tool as planned.
func (c *call) runPlan(plan rewrite.Plan) (*attempt, status, error) {
	stdin, talk, err := c.stdinFor(plan)
	if err != nil {
		return nil, status{}, err
	}
	if stdin != c.env.Stdin {
		defer stdin.Close()
	}
	plan, remove, err := withScratch(plan)
	if err != nil {
		return nil, status{}, err
	}
	defer func() {
		if err := remove(); err != nil {
			c.log.fault("remove scratch folder", err)
		}
	}()
	a := &attempt{
		plan: plan, tool: c.tool, fault: c.log.fault, signals: c.signals, talk: talk,
	}
	if c.ticket == nil {
		a.stream = c.tool.Stream(c.parsed, plan, "")
		talk.scout = func() bool { return c.opened(a) }
	} else {
		a.stream, a.pinned = c.tool.Stream(c.parsed, plan, c.ticket.Totals), c.pin
	}
	if id := c.resumed(plan); id != "" {
		a.sweeper = c.sweeper(id)
		a.sweeper.sweep()
		defer a.sweeper.sweep()
	} else if c.parsed.Mode == rewrite.Observe {
		// The caller may have asked for the latest session: which that is, the run tells.
		defer func() {
			if id := a.stream.Seen().ID; id != "" {
				c.sweeper(id).sweep()
			}
		}()
	}
	environ := with(without(c.env.Environ, c.unset), rewrite.NestedEnv, fmt.Sprintf("%s:%d", c.name, os.Getpid()))
	environ = with(environ, guardEnv, c.guard.with(c.real.id, os.Getpid()))
	for _, entry := range plan.Env {
		name, value, _ := strings.Cut(entry, "=")
		environ = with(environ, name, value)
	}
	args := append([]string{c.env.Args[0]}, plan.Args...)
	files := [3]*os.File{stdin, c.env.Stdout, c.env.Stderr}
	st, err := a.run(c.real.path, args, environ, files, c.config.GateTimeout)
	if err != nil && talk != nil {
		talk.feed.close()
	}
	return a, st, err
}

// resumed returns the session that a run goes on with, "" for none or for one that is not
// known yet: ours, or the one that the caller names.
func (c *call) resumed(plan rewrite.Plan) string {
	if plan.Resume == "" && c.parsed.Mode == rewrite.Observe && c.tool.ValidID(c.parsed.SessionID) {
		return c.parsed.SessionID
	}
	return plan.Resume
}

// stdinFor returns the tool's stdin, and what feeds it if that is a conversation.
func (c *call) stdinFor(plan rewrite.Plan) (*os.File, *relay, error) {
	switch {
	case c.talk != nil:
		talk, err := c.talk.relayTo(plan)
		if err != nil {
			return nil, nil, err
		}
		return talk.tool, talk, nil
	case plan.HasStdin:
		f, err := stdinOf(plan.Stdin)
		return f, nil, err
	}
	f, err := c.stdin.file()
	if f == nil && err == nil {
		f = c.env.Stdin
	}
	return f, nil, err
}

// observe runs a call whose session the caller manages: nothing about it is
// changed, its id and usage are noted.
func (c *call) observe() int {
	c.signals.catch()
	t, err := c.ledger.Observe(c.record, c.parsed.Reason, c.parsed.SessionID, len(c.parsed.Prompt))
	if err != nil {
		c.fault("record call", err)
		return c.passthrough(rewrite.Fault)
	}
	c.ticket = t
	c.decision = ledger.Decision{Mode: rewrite.Observe, Reason: c.parsed.Reason}
	c.say(c.decision.Mode, c.decision.Reason)
	c.parsed.Format = rewrite.StreamJSON // shown as it comes, whatever it is
	a, st, err := c.runPlan(rewrite.Plan{Args: c.parsed.Args, Prompt: c.parsed.Prompt, Whole: true})
	if err != nil {
		c.fault("start the tool", err)
		return c.passthrough(rewrite.Fault)
	}
	c.finish(a, st)
	return st.leave()
}

// withScratch returns the plan with a private directory in the place of
// rewrite.Scratch, and what removes the directory. Nothing is made where the plan has
// no use for it.
func withScratch(plan rewrite.Plan) (rewrite.Plan, func() error, error) {
	used := func(arg string) bool { return arg != plan.Prompt && scratchAt(arg) >= 0 }
	needs := slices.ContainsFunc(plan.Args, used) ||
		slices.ContainsFunc(plan.Follow, func(f rewrite.Follow) bool { return scratchAt(f.Dir) >= 0 })
	if !needs {
		return plan, func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp("", "reprise-*")
	if err != nil {
		return plan, nil, fmt.Errorf("make scratch folder: %w", err)
	}
	plan.Args = slices.Clone(plan.Args)
	for i, arg := range plan.Args {
		if used(arg) {
			plan.Args[i] = inScratch(arg, dir)
		}
	}
	plan.Follow = slices.Clone(plan.Follow)
	for i, f := range plan.Follow {
		plan.Follow[i].Dir = inScratch(f.Dir, dir)
	}
	return plan, func() error { return os.RemoveAll(dir) }, nil
}

func inScratch(arg, dir string) string {
	if at := scratchAt(arg); at >= 0 {
		return arg[:at] + dir + arg[at+len(rewrite.Scratch):]
	}
	return arg
}

// scratchAt tells where an argument names the directory: at its start, or as the
// value in --option=VALUE; -1 where it does not. Elsewhere the word is the
// caller's own.
func scratchAt(arg string) int {
	at := strings.Index(arg, rewrite.Scratch)
	if at > 0 && (arg[0] != '-' || strings.IndexByte(arg, '=') != at-1) {
		return -1
	}
	return at
}
