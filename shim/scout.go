package shim

import (
	"slices"

	"reprise/ledger"
	"reprise/rewrite"
)

// scout starts the tool for a caller that waits for its answer before it sends a prompt. The tool is
// begun fresh, and has no session before its first message: if that makes the call a fresh one, it
// simply goes on; if it is to be resumed, the scout ends, and the resumed run is given all that
// it was given.
func (c *call) scout() int {
	c.signals.catch()
	c.unset = c.config.Tools[c.name].UnsetEnv
	c.facts = c.fingerprints()
	a, st, err := c.runPlan(c.tool.Plan(c.parsed, rewrite.ToFresh("")))
	switch {
	case err != nil:
		c.fault("start the tool", err)
		return c.passthrough(rewrite.Fault)
	case a.talk.retired && a.stopped == 0:
		a.process.witness.close()
		return c.run()
	case c.ticket == nil: // it never got a message
		a.process.witness.close()
		return st.leave()
	}
	c.finish(a, st)
	c.startPrune()
	return a.shown(st).leave()
}

// opened decides on a conversation whose tool runs already, and reports whether the run goes on. All
// that the decision depends on is read anew: the caller may have waited for long.
func (c *call) opened(a *attempt) (stays bool) {
	c.real = target{}
	unset := c.unset
	reason := c.runSteps(c.parse, c.key, c.factsStand, c.decide)
	if reason == "" {
		c.printVerbose(c.decision.Mode, c.decision.Reason)
		a.plan.Prompt, a.pinned = c.record.Prompt.Text, c.pin
		return !c.decision.Mode.Continues() && slices.Equal(unset, c.unset) // a rule may take variables away
	}
	c.log.passthrough(reason)
	c.printVerbose(rewrite.Observe, reason)
	c.decision = ledger.Decision{Mode: rewrite.Observe, Reason: reason}
	if c.record == nil {
		return true
	}
	var err error
	if c.ticket, err = c.ledger.Observe(c.record, reason, "", 0); err != nil {
		c.fault("record call", err)
	}
	return true
}

// factsStand gives a call up whose facts are others than those that its tool was started with.
func (c *call) factsStand() rewrite.Reason {
	c.record.Now = millis(c.env.Now())
	if c.fingerprints() != c.facts {
		return rewrite.SettingsChanged
	}
	return ""
}
