package shim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	stdin, err := c.stdinFor(plan)
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
		plan: plan, tool: c.tool, pinned: c.pin, fault: c.log.fault, signals: c.signals,
		stream: c.tool.Stream(c.parsed, plan, c.ticket.Totals),
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

func (c *call) stdinFor(plan rewrite.Plan) (*os.File, error) {
	if plan.HasStdin {
		return stdinOf(plan.Stdin)
	}
	f, err := c.stdin.file()
	if f == nil && err == nil {
		return c.env.Stdin, nil
	}
	return f, err
}

// pinPause is how long a note waits that found the ledger in use.
const pinPause = 50 * time.Millisecond

// pin notes the session's id and the tool's process while it runs. The ledger must not
// hold up the tool's output, so it is written beside it.
func (c *call) pin(id string, pid int) {
	session := c.ticket.Session
	if session == 0 {
		return // observed: the session is the caller's
	}
	go func() {
		err := c.ledger.Pin(session, id, pid)
		for ; errors.Is(err, ledger.ErrLocked); err = c.ledger.Pin(session, id, pid) {
			time.Sleep(pinPause)
		}
		if err != nil {
			c.log.fault("note session id", err)
		}
		if err := c.ledger.Fold(); err != nil {
			c.log.fault("tidy up ledger", err)
		}
	}()
}

// finish records how the run ended.
func (c *call) finish(a *attempt, st status) {
	seen := *a.stream.Seen()
	seen.Failed = seen.Failed || a.broken
	o := ledger.Outcome{
		Now: millis(c.env.Now()), Exit: st.exit, Signal: int(st.signal), Seen: seen,
		IDFormat: rewrite.StreamJSON, Sent: len(a.plan.Prompt),
	}
	if c.rule.Rule != nil {
		o.Resets = c.rule.ResetBy(seen.Answer)
	}
	if a.stopped != 0 && st != (status{}) {
		o.Seen.Answer, o.Seen.Texts = "", nil // cut short, and the caller does not wait for digests of what it did not want
	}
	o.File, o.FileSize = c.sessionFile(seen.ID)
	o.Place = c.place(c.record.Cwd)
	if o.Seen.ID != "" && o.File == "" {
		c.log.fault("find session file", os.ErrNotExist)
	}
	if err := c.ledger.Finish(c.ticket, &o); err != nil {
		c.log.fault("record outcome", err)
	}
	c.log.done(c.decision, c.record.Rule, &o)
	a.process.witness.close()
}

// sessionFile finds where the tool keeps the session, and how large it is now. Of
// the files of one pattern it is the last by name.
func (c *call) sessionFile(id string) (string, int64) {
	if id == "" {
		return "", 0
	}
	for _, pattern := range c.tool.SessionPaths(c.record.Home, c.record.Cwd, id) {
		for _, path := range slices.Backward(sessionFiles(c.tool, matches(pattern))) {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return path, info.Size()
			}
		}
	}
	return "", 0
}

// matches returns the files of a pattern, none where a directory's name reads as a broken one.
// A name without a pattern in directories with one is only asked for: a directory of a tool's may
// have thousands of sessions, and filepath.Glob reads and sorts them all.
func matches(pattern string) []string {
	dir, name := filepath.Split(pattern)
	if strings.ContainsAny(name, `*?[\`) {
		found, _ := filepath.Glob(pattern)
		return found
	}
	dirs, _ := filepath.Glob(filepath.Clean(dir))
	var found []string
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			found = append(found, path)
		}
	}
	return found
}

// noteNoResume remembers a binary that does not know the option.
func (c *call) noteNoResume(why rewrite.Reason) {
	if why != rewrite.RefusedNoResume {
		return
	}
	probe := rewrite.Probe{Known: true}
	if err := c.ledger.SetProbe(c.real.fingerprint(), probe, millis(c.env.Now())); err != nil {
		c.log.fault("keep probe", err)
	}
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
