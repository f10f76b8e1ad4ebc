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
	says := ""
	switch c.decision.Reason {
	case reason.TooManyCalls:
		says = fmt.Sprintf("made %d calls within an hour, and budget.calls_per_hour is %d", spent.Calls-1, c.rule.Budget.CallsPerHour)
	case reason.BudgetSpent:
		says = fmt.Sprintf("cost $%.2f within 24 hours, and budget.dollars_per_day is %g", float64(spent.Cost)/1e9, c.rule.Budget.DollarsPerDay)
	case reason.TokensSpent:
		says = TokensSpent(c.rule.Budget, spent)
	}
	return fmt.Sprintf("%s %s. The model was not asked. To go on, change [budget] in the user's configuration of reprise (shimctl config path).", job, says)
}

// TokensSpent says which limit of tokens a job has reached.
func TokensSpent(b config.Budget, s decide.Spending) string {
	if b.TokensPerDay > 0 && s.Tokens >= b.TokensPerDay {
		return fmt.Sprintf("used %d weighted tokens within 24 hours; budget.tokens_per_day is %d", s.Tokens, b.TokensPerDay)
	}
	return fmt.Sprintf("used %d weighted tokens; budget.tokens_per_job is %d", s.JobTokens, b.TokensPerJob)
}
