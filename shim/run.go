package shim

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/shim/binary"
	"reprise/shim/supervise"
	"reprise/shim/variables"

	"golang.org/x/sys/unix"
)

// Main carries out the call and returns the exit code. If this process becomes the real
// binary, Main does not return.
func Main(env Env) int {
	supervise.HandleAsCaller()
	c := newCall(env)
	if !startPoller() {
		return c.execReal(nil) // at once: opening any file would end the process
	}
	if c.name == binary.Npx {
		return c.search.Npx()
	}
	if env.Get("REPRISE_OFF") == "1" {
		return c.passthrough(reason.SwitchedOff)
	}
	if reason := c.runSteps(c.parse, c.key, c.decide); reason != "" {
		return c.passthrough(reason)
	}
	if c.parsed.Mode == rewrite.Observe {
		return c.observe()
	}
	if c.talk != nil && c.talk.Waits {
		return c.scout()
	}
	return c.run()
}

// Main runs in the process's first thread. An exec from another thread would lose signals that
// are pending for the first one, and a tool that another thread has started would be killed
// when that thread ends.
func init() { runtime.LockOSThread() }

// run runs the tool as decided, and once more, fresh, if it refuses the resume. It returns the
// exit code.
func (c *call) run() int {
	var plan rewrite.Plan
	if reason := c.runSteps(func() reason.Code { plan = c.plan(); return "" }); reason != "" {
		return c.passthrough(reason)
	}
	c.signals.Catch()
	mode, why := c.decision.Mode, c.decision.Reason
	lost := c.book().restore()
	if lost == "" {
		lost = c.runSteps(func() reason.Code { return c.copySession(plan) })
	}
	if lost != "" {
		c.fallBack(lost)
		mode, why, plan = rewrite.Fresh, lost, c.freshPlan()
	}
	c.printVerbose(mode, why)
	a, st, err := c.runPlan(plan)
	if err == nil && a.Refused() && a.Stopped == 0 && (plan.Resume != "" || plan.Trial) && c.parsed.ChosenID != "" {
		c.copied, _ = c.sessionFile(c.parsed.ChosenID) // it was not there before, and the tool begins no session twice
	}
	if err != nil || a.Refused() {
		c.removeCopy()
	}
	if err == nil && a.Refused() && a.Stopped == 0 && plan.Resume != "" {
		a.Close()
		c.stdin.Again(a.LateStdin)
		c.fallBack(a.Refusal)
		c.noteNoResume(a.Refusal)
		plan = c.freshPlan()
		a, st, err = c.runPlan(plan)
	}
	if err == nil && plan.Trial {
		a, st, err = c.endTrial(a, st)
	}
	if err != nil {
		// The tool did not start. The attempt to become it will fail with the error that the
		// caller knows.
		return c.passthrough(c.fault("start the tool", err))
	}
	c.finish(a, st)
	c.startPrune()
	return a.Shown(st).Leave()
}

// plan returns the command line that carries out the decision.
func (c *call) plan() rewrite.Plan { return c.planFor(newTarget(c.record.Prompt, c.decision)) }

// freshPlan returns the command line of a run that begins anew, whatever was decided.
func (c *call) freshPlan() rewrite.Plan { return c.planFor(rewrite.ToFresh(c.record.Prompt.Text)) }

func (c *call) planFor(t rewrite.Target) rewrite.Plan {
	c.parsed.Hour = c.ticket != nil && c.ticket.Hour
	plan := c.tool.Plan(c.parsed, t.Beginning(c.env.NewID()))
	plan.WhyWhole = t.Why()
	if plan.Resume != "" {
		plan.Least = c.leastFirst(len(plan.Prompt))
	}
	plan.Trial = plan.Resume == "" && c.talk == nil && !c.known.Accepts && (len(plan.Env) > 0 || !slices.Equal(plan.Args, c.parsed.Args))
	return plan
}

// leastFirst returns how long the first request of a run must be that resumes the decision's session with a prompt of sent
// bytes, 0 if that is not known.
func (c *call) leastFirst(sent int) int64 {
	session := c.decision.Session
	first, err := inTime(c, func() (int64, error) { return c.ledger.FirstPrompt(session) })
	if err != nil {
		c.log.fault("read first request", err)
	}
	if !rewrite.CountsRequests(first, len(c.record.Prompt.Text)) {
		return 0
	}
	return rewrite.LeastFirst(first, c.decision.Context.Used, sent)
}

// endTrial records whether the binary accepts the plan's additions to the call. If the run failed before it was
// accepted, the call runs once more as the caller wrote it. Only if that gets further was it the additions.
func (c *call) endTrial(a *supervise.Attempt, st supervise.Status) (*supervise.Attempt, supervise.Status, error) {
	if !a.Refused() || a.Stopped != 0 {
		if a.Accepted() {
			c.learnBinary(c.real.Fingerprint(), func(b *ledger.Binary) { b.Accepts = true })
		}
		return a, st, nil
	}
	a.Close()
	c.stdin.Again(a.LateStdin)
	c.unset = nil
	c.parsed.Format = rewrite.StreamJSON // the output is shown as it is in any format
	a, st, err := c.runPlan(rewrite.Plan{Args: c.parsed.Args, Prompt: c.record.Prompt.Text, Whole: true})
	if err == nil && (st == supervise.Status{} || a.Accepted()) {
		c.learnBinary(c.real.Fingerprint(), func(b *ledger.Binary) { b.Refuses = true })
		c.fallBack(reason.AddedRefused)
	}
	return a, st, err
}

// newTarget returns the target of the decision: a fresh session, or one to be resumed or forked.
func newTarget(prompt *prompt.Prompt, d decide.Decision) rewrite.Target {
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

// runPlan runs the tool as planned. It fails if the tool cannot be started.
func (c *call) runPlan(plan rewrite.Plan) (*supervise.Attempt, supervise.Status, error) {
	in, err := c.stdin.ForRun(plan)
	if err != nil {
		return nil, supervise.Status{}, err
	}
	defer in.Close(c.env.Stdin)
	plan, remove, err := supervise.WithScratch(plan)
	if err != nil {
		return nil, supervise.Status{}, err
	}
	defer func() {
		if err := remove(); err != nil {
			c.log.fault("remove scratch directory", err)
		}
	}()
	plan.Started = c.env.Now().UnixMilli()
	a := &supervise.Attempt{
		Plan: plan, Tool: c.tool, Fault: c.log.fault, Signals: c.signals, Input: in,
		FinishEarly: c.finishEarly,
	}
	if c.ticket == nil {
		a.Stream = c.tool.Stream(c.parsed, plan, "")
		in.Talk.Scout = func() bool { return c.opened(a) }
	} else {
		a.Stream, a.Pinned = c.tool.Stream(c.parsed, plan, c.ticket.Totals), c.pin
	}
	if id := c.resumed(plan); id != "" {
		if a.Sweep = c.sweeper(id); a.Sweep != nil {
			a.Sweep()
			defer a.Sweep()
		}
	} else if c.parsed.Mode == rewrite.Observe {
		// If the caller has asked for the latest session, only the run shows which one that is.
		defer func() {
			if sweep := c.sweeper(a.Stream.Seen().ID); sweep != nil {
				sweep()
			}
		}()
	}
	environ := variables.Set(variables.Unset(c.env.Environ, c.unset...), rewrite.NestedEnv, fmt.Sprintf("%s:%d", c.name, os.Getpid()))
	environ = c.search.Guarded(environ)
	for _, entry := range plan.Env {
		name, value, _ := strings.Cut(entry, "=")
		environ = variables.Set(environ, name, value)
	}
	args := append([]string{c.env.Args[0]}, plan.Args...)
	files := [3]*os.File{in.File, c.env.Stdout, c.env.Stderr}
	st, err := a.Run(c.real.Path, args, environ, files, c.config.GateTimeout)
	if err == nil && !a.Refused() && in.End > 0 {
		// The next program of the caller's group reads on where the tool would have left the file.
		_, err := unix.Seek(int(c.env.Stdin.Fd()), in.End, io.SeekStart)
		if err != nil {
			c.log.fault("move to the end of stdin", err)
		}
	}
	return a, st, err
}

// resumed returns the session that a run resumes, by the decision or by the caller's own
// option; "" if there is none or it is not known yet.
func (c *call) resumed(plan rewrite.Plan) string {
	switch {
	case plan.WriteCopy:
		return plan.NewID
	case plan.Resume == "" && c.parsed.Mode == rewrite.Observe && c.tool.ValidID(c.parsed.SessionID):
		return c.parsed.SessionID
	}
	return plan.Resume
}

// observe runs a call of a session that the caller manages, or that found the ledger locked. It changes nothing, and
// records ID and usage.
func (c *call) observe() int {
	c.signals.Catch()
	plan := rewrite.Plan{Args: c.parsed.Args, Prompt: c.parsed.Prompt, Whole: true}
	if c.ticket == nil {
		why, id, size := c.parsed.Reason, c.parsed.SessionID, len(plan.Prompt)
		var err error
		c.ticket, err = inTime(c, func() (*ledger.Ticket, error) { return c.ledger.Observe(c.record, why, id, size) })
		if err != nil {
			return c.passthrough(c.fault("record call", err))
		}
	} else {
		plan.Prompt = c.record.Prompt.Text
	}
	c.decision = decide.Decision{Mode: rewrite.Observe, Reason: c.parsed.Reason}
	c.printVerbose(c.decision.Mode, c.decision.Reason)
	c.parsed.Format = rewrite.StreamJSON // the output is shown as it is in any format
	a, st, err := c.runPlan(plan)
	if err != nil {
		return c.passthrough(c.fault("start the tool", err))
	}
	c.finish(a, st)
	return a.Shown(st).Leave()
}

// fallBack records that a resume is abandoned.
func (c *call) fallBack(why reason.Code) {
	c.log.refused(c.decision, why)
	if err := c.book().fallBack(why); err != nil {
		c.log.fault("record refusal", err)
	}
}
