package main

import (
	"fmt"

	"reprise/config"
	"reprise/internal/prices"
	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite/reason"
	"reprise/shim"
)

// budgetWarnings returns warnings on jobs that are over their budget. What a tool did not report is
// counted at list price.
func (a *app) budgetWarnings(c config.Config, r reporter, rows []ledger.JobSpending) (warnings []warning) {
	for len(rows) > 0 {
		job, n := rows[0], 1
		for n < len(rows) && rows[n].SameJob(job) {
			n++
		}
		reported := decide.Spending{JobTokens: job.JobTokens}
		var cost sum
		for _, row := range rows[:n] {
			reported.Calls, reported.Cost, reported.Tokens = reported.Calls+row.Calls, reported.Cost+row.Cost, reported.Tokens+row.Tokens
			cost = cost.plus(a.spentOn(r, row))
		}
		rows = rows[n:]
		budget, spent := rulePolicy(c, job.Rule).Budget, reported
		spent.Cost = cost.nano
		exceeded := exceededBy(budget, spent)
		if exceeded == "" {
			continue
		}
		says := ""
		switch exceeded {
		case reason.TooManyCalls:
			says = fmt.Sprintf("made %s within an hour; budget.calls_per_hour is %d", ui.Count(spent.Calls, "call"), budget.CallsPerHour)
		case reason.BudgetSpent:
			says = fmt.Sprintf("cost %s within 24 hours; budget.dollars_per_day is %g", cost.human(), budget.DollarsPerDay)
		case reason.TokensSpent:
			says = shim.TokensSpent(budget, spent)
		}
		if budget.Stop && exceededBy(budget, reported) != "" {
			says += "; further calls are stopped"
		}
		warnings = append(warnings, warning{Kind: string(exceeded), Chain: job.Chain, Tool: job.Tool, Rule: job.Rule, Says: a.jobName(job) + " " + says})
	}
	return warnings
}

// exceededBy returns which limit a job has exceeded, or with its next call would, if that is stopped.
func exceededBy(b config.Budget, spent decide.Spending) reason.Code {
	if b.Stop {
		spent.Calls++
	}
	return shim.Budget(b).Exceeded(spent)
}

func (a *app) spentOn(r reporter, j ledger.JobSpending) sum {
	reported := sum{known: j.Cost > 0, nano: j.Cost, most: j.Cost}
	u := prices.Usage{Input: j.Input, Cached: j.CacheRead, Write: j.CacheWrite, Output: j.Output}
	p, ok := r.prices.Find(j.Model, a.now)
	if !ok || u == (prices.Usage{}) {
		return reported
	}
	return reported.plus(listPrice(p, u, false))
}

func (a *app) jobName(j ledger.JobSpending) string {
	if j.Chain != 0 {
		return fmt.Sprintf("chain %d", j.Chain)
	}
	return fmt.Sprintf("repeated prompts to %s in %s", j.Tool, a.tilde(j.Cwd))
}
