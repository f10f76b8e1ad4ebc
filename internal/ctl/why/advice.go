package why

import (
	"cmp"
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
	"reprise/rewrite/models"
	"reprise/rewrite/reason"
	"reprise/shim"
)

// Case has the facts of a call that advice depends on.
type Case struct {
	Reason reason.Code
	Made   bool   // it is about calls that were made, maybe under another configuration
	Rule   string // that matched
	Task   string
	Chain  int64
	Before int64 // the call that ended the session badly, 0 if it is not known
	// length of the prompt's text that identifies the job; 0 if it is not known
	Bytes int
	// the reason in the call's own end that makes later calls fresh, "" for none
	End       reason.Code
	Continues bool
	HeldOut   bool // rollout holds the chain out
	// the figures that the limits were compared with; unless HasSession nothing is known
	HasSession bool
	Idle, Age  time.Duration // of the session
	Context    rewrite.Context
	Model      string
}

// advise returns the advice on a decision, without settings that the configuration has by now. A
// resumed call needs no advice.
func advise(cfg config.Config, d Case) view.AdviceReport {
	report := view.AdviceFor(d.Reason, d.Chain, d.Before)
	if d.Continues {
		report.Advice = ""
		report.Set("")
		return report
	}
	if d.Task != "" && report.Command == reason.NameTask {
		report.Command = ""
	}
	dependsOnCall(&report, cfg, d)
	if setting, raised, known := limitSetting(cfg, d); known {
		if report.Set(setting); raised {
			report.Advice += ". The limit has been raised since"
		}
	}
	dropMade(&report, cfg, d)
	return report
}

func dependsOnCall(report *view.AdviceReport, cfg config.Config, d Case) {
	switch d.Reason {
	case reason.NoEvidence:
		if d.Rule != "" {
			report.Advice = "Name the task, or leave strict = true out of the rule"
		}
	case reason.Disabled:
		for _, tool := range rewrite.Names {
			if cfg.Enabled && !cfg.Tools[tool].Enabled {
				report.Set("tool." + tool + ".enabled = true")
			}
		}
	case reason.Never:
		if d.Rule != "" && !slices.ContainsFunc(cfg.Rules,
			func(r config.Rule) bool { return r.Name == d.Rule }) {
			report.Command = "shimctl config set presets_off " +
				strings.Join(append(slices.Clone(cfg.PresetsOff), d.Rule), " ")
		}
	case reason.Pruned:
		if cfg.Prune.KeepWithin > 30*24*time.Hour {
			report.Set("")
		}
	case reason.Ambiguous:
		if d.Task != "" && d.Chain != 0 {
			report.Advice = "Reset the chain; later calls resume a new session"
			report.Command = fmt.Sprintf("shimctl reset --yes c%d", d.Chain)
		}
	case reason.FirstCall, reason.NewJob:
		if next := nextFresh(cfg, d); next != "" {
			report.Advice = fmt.Sprintf("The next call that continues it is fresh too (%s: %s)",
				next, view.MeaningOf(next))
		}
	}
}

// nextFresh returns why a call that continues the first one of its job is fresh, "" if it is not.
func nextFresh(cfg config.Config, d Case) reason.Code {
	switch policy := rulePolicy(cfg, d.Rule); {
	case d.End != "":
		return d.End
	case d.Task == "" && policy.Unnamed == rewrite.UnnamedOff:
		return reason.UnnamedOff
	case d.Task == "" && d.Bytes > 0 && d.Bytes < shim.LeastBase(policy):
		return reason.BaseTooSmall
	case d.HeldOut, policy.Rollout == 0: // last, as in the decision
		return reason.HeldOut
	}
	return ""
}

// dropMade takes a setting out of a report that holds for the call's rule by now, and the command
// that cannot make it because the rule has a separate policy.
func dropMade(report *view.AdviceReport, cfg config.Config, d Case) {
	set := func(key string) bool {
		return strings.HasPrefix(report.Command, "shimctl config set "+key)
	}
	ruled := cfg
	ruled.Policy = rulePolicy(cfg, d.Rule)
	key, value, _ := strings.Cut(report.Setting, " = ")
	if slices.ContainsFunc(ruled.Values(), func(v config.Value) bool {
		return v.Key == key && v.Value == value
	}) {
		if d.Made {
			report.Advice += ". The configuration has " + report.Setting + " now"
		}
		if report.Setting = ""; set(key + " ") {
			report.Command = ""
		}
	}
	if config.IsRuled(key) && report.Setting != "" && ruled.Policy != cfg.Policy && set("") {
		report.Command = ""
	}
}

// limitSetting returns the setting that would have allowed the resume; "" if none would, or if the
// limit has been raised since. known is false if the call's reason is no such limit, or if the
// compared figures are not known.
func limitSetting(cfg config.Config, d Case) (setting string, raised, known bool) {
	policy := rulePolicy(cfg, d.Rule)
	longer := func(key string, since, limit time.Duration) (string, bool, bool) {
		if limit > since {
			return "", since >= 0, true // before the session's last use the clock was set back
		}
		return fmt.Sprintf(`%s = "%dh"`, key, max(0, since)/time.Hour+1), false, true
	}
	if !d.HasSession {
		return "", false, false
	}
	switch d.Reason {
	case reason.Idle:
		return longer("ttl", d.Idle, policy.TTL)
	case reason.TooOld:
		return longer("max_age", d.Age, policy.MaxAge)
	case reason.ContextFull:
		window, _ := contextWindow(d.Context, d.Model)
		share := math.Ceil(100*float64(d.Context.Used)/float64(window)) / 100
		if d.Context.Used >= window || cfg.ContextLimit >= share {
			return "", d.Context.Used < window, true
		}
		return fmt.Sprintf("context_limit = %.2f", share), false, true
	}
	return "", false, false
}

// NearlyFull says how full a session's context is, and how full it can get.
func NearlyFull(c rewrite.Context, model string, limit float64) string {
	window, why := contextWindow(c, model)
	return fmt.Sprintf("the session has used %d of %d tokens of context%s; above %.0f it is not "+
		"resumed any more",
		c.Used, window, why, limit*float64(window))
}

// contextWindow returns the window of a session with a model and, if it is assumed, why.
func contextWindow(c rewrite.Context, model string) (tokens int64, why string) {
	tokens, assumed := decide.Window(c, model)
	switch {
	case !assumed:
		return tokens, ""
	case models.Window(model) != 0:
		return tokens, fmt.Sprintf(" (the window of %s; the tool reports none)", model)
	}
	return tokens, fmt.Sprintf(" (assumed: the tool reports no window, and none is known of %s)",
		modelWords(model))
}

// SessionModel returns the model that a session runs with, "" if not known.
func SessionModel(s history.SessionRow) string { return cmp.Or(s.Answered, s.Model) }

// rulePolicy returns the policy of the user's rule, or else the policy of the file: no preset has a
// separate one.
func rulePolicy(c config.Config, rule string) config.Policy {
	for _, r := range c.Rules {
		if r.Name == rule {
			return r.Policy
		}
	}
	return c.Policy
}

func modelWords(model string) string { return cmp.Or(model, "the tool's own model") }

// SavedWords returns the saving by asking for an hour in words, "" if no call asked.
func SavedWords(r history.HourRow) string {
	if r.Calls == 0 {
		return ""
	}
	what := "less"
	if r.Saved < 0 {
		what = "more"
	}
	return fmt.Sprintf("%s: %s asked the provider to keep the prompt for an hour: by the pauses "+
		"between them, about %s weighted tokens %s",
		r.Tool, view.Count(r.Calls, "call"), view.Amount("tokens", view.Number(math.Abs(r.Saved))),
		what)
}

// MissedWords returns the saving that asking for an hour would have brought, "" for none.
func MissedWords(r history.HourRow) string {
	if r.Chains == 0 {
		return ""
	}
	return fmt.Sprintf("%s: after pauses of 5 to 60 minutes the provider no longer had the "+
		"prompts of %s: cache_ttl = \"auto\" would have saved about %s weighted tokens",
		r.Tool, view.Count(r.Chains, "chain"), view.Amount("tokens", view.Number(r.Missed)))
}
