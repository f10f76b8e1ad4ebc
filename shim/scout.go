package shim

import (
	"slices"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/binary"
	"reprise/shim/supervise"
)

// scout starts the tool for a caller that needs the answer before it sends a prompt. The tool starts
// fresh, and makes no session before the first message. If the decision on that message is fresh,
// the run continues. If it is to resume, the scout is ended, and the resumed run gets everything
// that the scout was sent.
func (c *call) scout() int {
	c.signals.Catch()
	c.unset = c.config.Tools[c.name].UnsetEnv
	c.facts = c.fingerprints()
	a, st, err := c.runPlan(c.tool.Plan(c.parsed, rewrite.ToFresh("")))
	switch {
	case err != nil:
		return c.passthrough(c.fault("start the tool", err))
	case a.Input.Talk.Retired && a.Stopped == 0:
		a.Close()
		return c.run()
	case c.ticket == nil: // the caller sent no message
		a.Close()
		return st.Leave()
	}
	c.finish(a, st)
	c.startPrune()
	return a.Shown(st).Leave()
}

// opened decides on a conversation with a tool that runs already, and reports whether the run continues. It
// reads all facts anew, since the caller might have waited for long.
func (c *call) opened(a *supervise.Attempt) (stays bool) {
	c.real, c.search = binary.Program{}, newCall(c.env).search
	unset := c.unset
	reason := c.runSteps(c.parse, c.key, c.factsStand, c.decide)
	if reason == "" && c.parsed.Mode == rewrite.Observe {
		reason = c.parsed.Reason
	}
	if reason == "" {
		a.Plan.Prompt, a.Pinned = c.record.Prompt.Text, c.pin
		plan := c.plan() // a rule can take variables away, and ask for others and for options
		if stays = !c.decision.Mode.Continues() && slices.Equal(unset, c.unset) && slices.Equal(plan.Env, a.Plan.Env) && slices.Equal(plan.Args, a.Plan.Args); stays {
			c.printVerbose(c.decision.Mode, c.decision.Reason)
		}
		return stays
	}
	c.log.passthrough(reason)
	c.printVerbose(rewrite.Observe, reason)
	c.decision = decide.Decision{Mode: rewrite.Observe, Reason: reason}
	if c.record == nil || c.ticket != nil || c.slow {
		return true
	}
	var err error
	if c.ticket, err = c.ledger.Observe(c.record, reason, "", 0); err != nil {
		c.fault("record call", err)
	}
	return true
}

// factsStand returns a reason if the facts have changed since the tool was started.
func (c *call) factsStand() reason.Code {
	c.record.Now = decide.MillisOf(c.env.Now())
	if c.fingerprints() != c.facts {
		return reason.SettingsChanged
	}
	return ""
}
