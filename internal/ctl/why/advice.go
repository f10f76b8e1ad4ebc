package why

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"reprise/config"
	"reprise/internal/ctl/view"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/shim"
)

// A Decided call is what advice depends on.
type Decided struct {
	Reason     reason.Code
	Rule       string // that matched
	Task, Role string
	Chain      int64
	Continues  bool
}

// Advise returns what is said about a decision, without what the configuration has by now.
func Advise(cfg config.Config, d Decided) view.AdviceReport {
	report := view.AdviceFor(d.Reason, d.Chain)
	if d.Continues { // the reason is no obstacle
		fresh := view.AdviceFor(reason.Extends, d.Chain)
		report.Advice, report.Setting, report.Command = fresh.Advice, fresh.Setting, fresh.Command
		return report
	}
	row, known := d.Reason.Lookup()
	if known && d.Task != "" && row.Named != "" {
		report.Advice, report.Command = row.Named, ""
		if row.Role != "" && !isNamed(d.Role) {
			report.Advice, report.Command = row.Role, reason.NameRole
		}
	}
	builtIn := d.Rule != "" && !slices.ContainsFunc(cfg.Rules, func(r config.Rule) bool { return r.Name == d.Rule })
	switch {
	case d.Reason == reason.Disabled && cfg.Enabled:
		for _, tool := range rewrite.Names {
			if !cfg.Tools[tool].Enabled {
				report.Set("tool." + tool + ".enabled = true")
			}
		}
	case d.Reason == reason.Never && builtIn:
		report.Command = "shimctl config set presets_off " + strings.Join(append(slices.Clone(cfg.PresetsOff), d.Rule), " ")
	}
	dropMade(&report, cfg, d.Rule)
	return report
}

// isNamed reports whether a role has a name, and not only that of a text.
func isNamed(role string) bool { return role != "" && !strings.HasPrefix(role, prompt.RoleTextMark) }

// dropMade takes a setting out of a report that the configuration has by now, and the command that cannot make it because a
// rule has a policy of its own.
func dropMade(report *view.AdviceReport, cfg config.Config, rule string) {
	key, value, _ := strings.Cut(report.Setting, " = ")
	if has, known := cfg.Value(key); known && has == value {
		report.Advice += ": " + report.Setting + " is set by now"
		report.Set("")
	}
	if report.Setting != "" && RulePolicy(cfg, rule) != cfg.Policy && strings.HasPrefix(report.Command, "shimctl config set ") {
		report.Command = ""
	}
}

// limitSetting returns the setting with which a limit would not have kept the call from being resumed, or from running; "" if
// none would, or if the limit has been raised since. known is false if the call's reason is no such limit.
func limitSetting(cfg config.Config, i history.Invocation, f whyFacts) (setting string, known bool) {
	policy := RulePolicy(cfg, i.Rule)
	longer := func(key string, since, limit time.Duration) string {
		if limit > since {
			return ""
		}
		return fmt.Sprintf(`%s = "%dh"`, key, max(0, since)/time.Hour+1)
	}
	if i.Reason == reason.TooManyCalls || i.Reason == reason.BudgetSpent || i.Reason == reason.TokensSpent {
		return budgetSetting(i.Reason, shim.Budget(policy.Budget).Passed(f.spent)), true
	}
	if f.before == nil {
		return "", false
	}
	since := func(m decide.Millis) time.Duration { return time.Duration(i.Started-m) * time.Millisecond }
	c := f.before.Context
	window, _ := contextWindow(c, SessionModel(*f.before))
	switch i.Reason {
	case reason.Idle:
		return longer("ttl", since(f.before.LastUsed), policy.TTL), true
	case reason.TooOld:
		return longer("max_age", since(f.before.Created), policy.MaxAge), true
	case reason.ErrorLimit:
		if cfg.ErrorLimit == 0 || cfg.ErrorLimit > f.failed {
			return "", true
		}
		return fmt.Sprintf("error_limit = %d", 2*f.failed), true
	case reason.ContextFull:
		share := math.Ceil(100*float64(c.Used)/float64(window)) / 100
		if c.Used >= window || cfg.ContextLimit >= share {
			return "", true
		}
		return fmt.Sprintf("context_limit = %.2f", share), true
	}
	return "", false
}

// budgetSetting returns the setting that doubles the limit for a reason, if it is the only one that a job has exceeded.
func budgetSetting(why reason.Code, passed []decide.Passed) string {
	if len(passed) != 1 || passed[0].Reason != why {
		return ""
	}
	limit := 2 * passed[0].Used
	switch passed[0].Reason {
	case reason.TooManyCalls:
		limit = min(limit, 1000) // the highest that is allowed
	case reason.BudgetSpent:
		limit = limit/1_000_000_000 + 1
	}
	return fmt.Sprintf("budget.%s = %d", passed[0].Key, limit)
}
