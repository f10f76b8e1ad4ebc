package ctl

import (
	"fmt"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/internal/ctl/why"
	"reprise/internal/prices"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite/reason"
	"reprise/shim"
)

// budgetWarnings returns warnings on jobs that are over their budget. What a tool did not report is
// counted at list price.
func budgetWarnings(a *app.App, c config.Config, r view.Reporter, rows []ledger.JobSpending) (warnings []warning) {
	for len(rows) > 0 {
		job, n := rows[0], 1
		for n < len(rows) && rows[n].SameJob(job) {
			n++
		}
		reported := decide.Spending{JobTokens: job.JobTokens}
		var cost view.Sum
		for _, row := range rows[:n] {
			reported.Calls, reported.Cost, reported.Tokens = reported.Calls+row.Calls, reported.Cost+row.Cost, reported.Tokens+row.Tokens
			cost = cost.Plus(spentOn(a, r, row))
		}
		rows = rows[n:]
		budget, spent := why.RulePolicy(c, job.Rule).Budget, reported
		spent.Cost = cost.Nano
		exceeded := exceededBy(budget, spent)
		if exceeded == "" {
			continue
		}
		says := ""
		switch exceeded {
		case reason.TooManyCalls:
			says = fmt.Sprintf("made %s within an hour; budget.calls_per_hour is %d", view.Count(spent.Calls, "call"), budget.CallsPerHour)
		case reason.BudgetSpent:
			says = fmt.Sprintf("cost %s within 24 hours; budget.dollars_per_day is %g", cost.Human(), budget.DollarsPerDay)
		case reason.TokensSpent:
			says = shim.TokensSpent(budget, spent)
		}
		if budget.Stop && exceededBy(budget, reported) != "" {
			says += "; further calls are stopped"
		}
		warnings = append(warnings, warning{Kind: string(exceeded), Chain: job.Chain, Tool: job.Tool, Rule: job.Rule, Says: jobName(a, job) + " " + says})
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

func spentOn(a *app.App, r view.Reporter, j ledger.JobSpending) view.Sum {
	reported := view.Sum{Known: j.Cost > 0, Nano: j.Cost, Most: j.Cost}
	u := prices.Usage{Input: j.Input, Cached: j.CacheRead, Write: j.CacheWrite, Output: j.Output}
	p, ok := r.Prices.Find(j.Model, a.Now)
	if !ok || u == (prices.Usage{}) {
		return reported
	}
	return reported.Plus(view.ListPrice(p, u, false))
}

func jobName(a *app.App, j ledger.JobSpending) string {
	if j.Chain != 0 {
		return fmt.Sprintf("chain %d", j.Chain)
	}
	return fmt.Sprintf("repeated prompts to %s in %s", j.Tool, a.Tilde(j.Cwd))
}
