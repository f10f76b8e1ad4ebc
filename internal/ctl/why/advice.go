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
	Before     int64 // the call that ended the session badly, 0 if it is not known
	Bytes      int   // of the prompt's text, as it is compared with what identifies a job
	Continues  bool
	Measured
}

// Measured is what the limits were compared with. Unless HasSession only Spent is known.
type Measured struct {
	Spent      decide.Spending // by the job, with the call
	HasSession bool
	Idle, Age  time.Duration // of the session
	Context    rewrite.Context
	Model      string
	Failed     int // runs
}

// Advise returns what is said about a decision, without what the configuration has by now.
func Advise(cfg config.Config, d Decided) view.AdviceReport {
	report := view.AdviceFor(d.Reason, d.Chain, d.Before)
	if d.Continues { // the reason is no obstacle
		fresh := view.AdviceFor(reason.Extends, d.Chain, 0)
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
	case d.Task == "" && (d.Reason == reason.FirstCall || d.Reason == reason.NewJob):
		if next := nextFresh(cfg, d); next != "" {
			then := view.AdviceFor(next, 0, 0)
			then.Advice = fmt.Sprintf("The next call that continues it is fresh too (%s: %s). %s", next, then.Meaning, then.Advice)
			report.Advice, report.Setting, report.Command = then.Advice, then.Setting, then.Command
		}
	}
	if setting, known := limitSetting(cfg, d); known {
		report.Set(setting)
	}
	dropMade(&report, cfg, d.Rule)
	return report
}

// nextFresh returns why a call that continues the first one of its job is fresh if nothing names the task, "" if it is not.
func nextFresh(cfg config.Config, d Decided) reason.Code {
	switch policy := RulePolicy(cfg, d.Rule); {
	case policy.Unnamed == config.UnnamedOff:
		return reason.UnnamedOff
	case d.Bytes < shim.LeastBase(policy):
		return reason.BaseTooSmall
	}
	return ""
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
// none would, or if the limit has been raised since. known is false if the call's reason is no such limit, or if it is not known
// what was compared.
func limitSetting(cfg config.Config, d Decided) (setting string, known bool) {
	policy := RulePolicy(cfg, d.Rule)
	longer := func(key string, since, limit time.Duration) string {
		if limit > since {
			return ""
		}
		return fmt.Sprintf(`%s = "%dh"`, key, max(0, since)/time.Hour+1)
	}
	switch budget := d.Reason == reason.TooManyCalls || d.Reason == reason.BudgetSpent || d.Reason == reason.TokensSpent; {
	case budget && d.Spent != decide.Spending{}:
		return budgetSetting(d.Reason, shim.Budget(policy.Budget).Passed(d.Spent)), true
	case !d.HasSession:
		return "", false
	}
	switch d.Reason {
	case reason.Idle:
		return longer("ttl", d.Idle, policy.TTL), true
	case reason.TooOld:
		return longer("max_age", d.Age, policy.MaxAge), true
	case reason.ErrorLimit:
		if cfg.ErrorLimit == 0 || cfg.ErrorLimit > d.Failed {
			return "", true
		}
		return fmt.Sprintf("error_limit = %d", 2*d.Failed), true
	case reason.ContextFull:
		window, _ := contextWindow(d.Context, d.Model)
		share := math.Ceil(100*float64(d.Context.Used)/float64(window)) / 100
		if d.Context.Used >= window || cfg.ContextLimit >= share {
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
