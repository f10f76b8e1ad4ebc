package shim

import (
	"fmt"

	"reprise/config"
	"reprise/ledger/decide"
	"reprise/rewrite/reason"
)

// exitStopped is the exit status of a call that the user's budget stops.
const exitStopped = 1

// stop ends a call that the user's budget stops, with a line on stderr. It is the only call for which the real binary
// does not run.
func (c *call) stop() int {
	c.printVerbose(c.decision.Mode, c.decision.Reason)
	if _, err := fmt.Fprintln(c.env.Stderr, "reprise: over budget: "+c.overBudget()); err != nil {
		c.log.fault("show that the call is stopped", err)
	}
	c.log.stopped(c.decision, c.record.Rule)
	return exitStopped
}

// overBudget says which job is over its budget, and how to go on.
func (c *call) overBudget() string {
	job, spent := fmt.Sprintf("chain %d", c.decision.Chain), c.decision.Spent
	if c.decision.Chain == 0 {
		job = "this repeated prompt"
	}
	spent.Calls-- // this one was not made
	return fmt.Sprintf("%s %s. The model was not asked. To go on, change [budget] in the user's configuration of reprise (shimctl config path).",
		job, Spent(c.decision.Reason, c.rule.Budget, spent))
}

// Spent says what a job has used up, and which limit of its budget it has reached.
func Spent(why reason.Code, b config.Budget, s decide.Spending) string {
	switch {
	case why == reason.TooManyCalls && s.Calls == 1:
		return fmt.Sprintf("made 1 call within an hour; budget.calls_per_hour is %d", b.CallsPerHour)
	case why == reason.TooManyCalls:
		return fmt.Sprintf("made %d calls within an hour; budget.calls_per_hour is %d", s.Calls, b.CallsPerHour)
	case why == reason.BudgetSpent:
		return fmt.Sprintf("cost $%.2f within 24 hours; budget.dollars_per_day is %g", float64(s.Cost)/1e9, b.DollarsPerDay)
	case b.TokensPerDay > 0 && s.Tokens >= b.TokensPerDay:
		return fmt.Sprintf("used %d weighted tokens within 24 hours; budget.tokens_per_day is %d", s.Tokens, b.TokensPerDay)
	}
	return fmt.Sprintf("used %d weighted tokens; budget.tokens_per_job is %d", s.JobTokens, b.TokensPerJob)
}
