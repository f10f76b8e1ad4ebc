package shim

import (
	"crypto/rand"
	"errors"
	"fmt"

	"reprise/rewrite"
)

// stop ends a call that the user's budget stops, as if the tool's API had refused it. It is the only call for which the
// real binary does not run.
func (c *call) stop() int {
	c.printVerbose(c.decision.Mode, c.decision.Reason)
	f := c.tool.Stopped(c.parsed, rewrite.Stop{
		Message: c.stopMessage(), ID: newSessionID(), Cwd: c.record.Cwd, Prompt: c.record.Prompt.Text,
		Time: c.env.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
	})
	_, errOut := c.env.Stdout.WriteString(f.Stdout)
	_, errErr := c.env.Stderr.WriteString(f.Stderr)
	if err := errors.Join(errOut, errErr); err != nil {
		c.log.fault("show that the call is stopped", err)
	}
	c.log.stopped(c.decision, c.record.Rule)
	return f.Exit
}

// stopMessage says who stopped the call, why, and how to go on.
func (c *call) stopMessage() string {
	job, spent := fmt.Sprintf("chain %d", c.decision.Chain), c.decision.Spent
	if c.decision.Chain == 0 {
		job = "this repeated prompt"
	}
	says := fmt.Sprintf("made %d calls within an hour, and budget.calls_per_hour is %d", spent.Calls-1, c.rule.Budget.CallsPerHour)
	if c.decision.Reason == rewrite.BudgetSpent {
		says = fmt.Sprintf("cost $%.2f within 24 hours, and budget.dollars_per_day is %g", float64(spent.Cost)/1e9, c.rule.Budget.DollarsPerDay)
	}
	return fmt.Sprintf("reprise stopped this call: %s %s. The model was not asked. To go on, change [budget] in the user's configuration of reprise (shimctl config path).", job, says)
}

// newSessionID returns a random UUID, which names no session.
func newSessionID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
