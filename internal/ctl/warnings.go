package ctl

import (
	"fmt"
	"maps"
	"slices"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/rule"
	"reprise/internal/ctl/view"
	"reprise/internal/ctl/why"
	"reprise/internal/prices"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite/reason"
	"reprise/shim"
)

// A warning is about a reason that keeps calls from being resumed, or soon will.
type warning struct {
	Kind  string             `json:"kind" doc:"configuration, quality, repeats, context, dearer, cache, cache_ttl, refused, failed, price, too_many_calls, budget_spent or tokens_spent"`
	Chain int64              `json:"chain,omitempty" doc:"its chain"`
	Tool  string             `json:"tool,omitempty" doc:"name of the tool"`
	Rule  string             `json:"rule,omitempty" doc:"the rule"`
	Model string             `json:"model,omitempty" doc:"the requested model; of a price, the one that answered"`
	Price *view.PricesReport `json:"prices,omitempty" doc:"cost of the runs, if resumes cost more"`
	Says  string             `json:"says" doc:"the warning"`

	Command string `json:"command" doc:"the command that explains it"`

	urgency int // 1 if calls are stopped or none is managed: these come first
}

func (w warning) words() string {
	if w.Kind == "repeats" {
		return w.Says + ": " + w.Command
	}
	return w.Says
}

// contextWarnings returns warnings on sessions that will soon be too full to resume.
func contextWarnings(c config.Config, chains []history.ChainRow) []warning {
	limits := decide.Limits{ContextShare: c.ContextLimit, UnknownWindow: shim.UnknownWindow}
	warnings := []warning{}
	for _, c := range chains {
		if s := view.Newest(c); s.State == decide.Live && limits.NearlyFull(s.Context, why.SessionModel(s)) {
			warnings = append(warnings, warning{Kind: "context", Chain: c.ID, Tool: c.Tool, Rule: c.Last.Rule, Command: fmt.Sprintf("shimctl show %d", c.ID),
				Says: fmt.Sprintf("chain %d: %s", c.ID, why.NearlyFull(s.Context, why.SessionModel(s), limits.ContextShare))})
		}
	}
	return warnings
}

// decisionWarnings returns warnings on recent decisions.
func decisionWarnings(calls []history.Invocation) (warnings []warning) {
	refused, failed, dearer := 0, 0, 0
	for _, i := range calls {
		if i.FellBack != "" {
			refused++
		}
		if i.Outcome == "failed" {
			failed++
		}
		if i.Reason == reason.Dearer {
			dearer++
		}
	}
	last := view.Count(int64(len(calls)), "call")
	if refused > 0 {
		warnings = append(warnings, warning{Kind: "refused", Command: "shimctl log", Says: fmt.Sprintf("%d of the last %s could not be resumed as meant", refused, last)})
	}
	if dearer > 0 {
		warnings = append(warnings, warning{Kind: "dearer", Command: "shimctl why dearer", Says: fmt.Sprintf("%d of the last %s were fresh because resumes cost more", dearer, last)})
	}
	if 2*failed > len(calls) {
		warnings = append(warnings, warning{Kind: "failed", Command: "shimctl log --outcome failed", Says: fmt.Sprintf("%d of the last %s failed", failed, last)})
	}
	return warnings
}

// Bounds of the search for callers that repeat their prompts.
const (
	maxRepeating = 2000 // of the latest calls
	maxRepeats   = 3    // warnings
)

// repeatWarnings returns warnings on callers that repeat their prompts but for one place and are not resumed, though a name
// would have them resumed. A rule that matches them by now ends the warning.
func repeatWarnings(a *app.App, l *ledger.Ledger, f history.Filter) (warnings []warning, err error) {
	since, err := history.Bounded(l, max(f.Times().Since, decide.MillisOf(a.Now.Add(-rule.ProposedPeriod))), maxRepeating)
	if err != nil {
		return nil, err
	}
	past, err := rule.ReadPast(a, l, since)
	if err != nil {
		return nil, err
	}
	for _, t := range past.Templates() {
		if len(warnings) == maxRepeats || t.Resumed < 2 || t.PromptBytes < rule.LeastPrompts || f.Tool != "" && f.Tool != t.Tool || !f.SelectsSession(t.Cwd, t.Last.Time()) {
			continue
		}
		if says, command := past.Advice(t); command != "" {
			warnings = append(warnings, warning{Kind: "repeats", Tool: t.Tool, Says: says, Command: command})
		}
	}
	return warnings, nil
}

// dearerWarnings returns warnings on rules whose resumes are suspended.
func dearerWarnings(a *app.App, c config.Config, meters []ledger.MeterRow) []warning {
	now := decide.MillisOf(a.Now)
	var warnings []warning
	for _, m := range meters {
		p, ok := m.Prices(now)
		if !ok || !p.Suspended(now) || why.RulePolicy(c, m.Rule).ResumeDearer {
			continue
		}
		whose := m.Tool
		if m.Rule != "" {
			whose += ", rule " + m.Rule
		}
		if m.Model != "" {
			whose += ", model " + m.Model
		}
		warnings = append(warnings, warning{Kind: "dearer", Tool: m.Tool, Rule: m.Rule, Model: m.Model, Price: view.PricesJSON(p), Command: "shimctl stats --by rule",
			Says: fmt.Sprintf("%s: resumes are suspended, they cost more than fresh runs: %s", whose, view.PricesLine(a.Now, p))})
	}
	return warnings
}

// priceWarnings looks for models whose calls have no cost because no price is known.
func priceWarnings(a *app.App, b view.Bill) (warnings []warning) {
	for _, model := range slices.Sorted(maps.Keys(b.Unlisted)) {
		warnings = append(warnings, warning{Kind: "price", Model: model, Command: "shimctl stats --by model",
			Says: fmt.Sprintf("the cost of %s is not known: %s", view.Count(b.Unlisted[model], "call"), a.MissingPrice(model))})
	}
	return warnings
}

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
		says := shim.Spent(exceeded, budget, spent)
		if exceeded == reason.BudgetSpent { // in part at list price
			says = fmt.Sprintf("cost %s within 24 hours; budget.dollars_per_day is %g", cost.Human(), budget.DollarsPerDay)
		}
		w := warning{Kind: string(exceeded), Chain: job.Chain, Tool: job.Tool, Rule: job.Rule, Command: "shimctl stats"}
		if budget.Stop && exceededBy(budget, reported) != "" {
			says, w.urgency = says+"; further calls are stopped", 1
		}
		if w.Says = fmt.Sprintf("repeated prompts to %s in %s %s", job.Tool, a.Tilde(job.Cwd), says); job.Chain != 0 {
			w.Says, w.Command = fmt.Sprintf("chain %d %s", job.Chain, says), fmt.Sprintf("shimctl show %d", job.Chain)
		}
		warnings = append(warnings, w)
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
