package why

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"reprise/config"
	"reprise/internal/ctl/view"
	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim"
)

// Case has the facts of a call that advice depends on.
type Case struct {
	Reason reason.Code
	Detail reason.Code
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
	Measures
}

// Measures is the figures that the limits were compared with. Unless HasSession nothing is known.
type Measures struct {
	HasSession bool
	Idle, Age  time.Duration // of the session
	Context    rewrite.Context
	Model      string
	Failed     int // runs
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

// dependsOnCall changes the advice of the reasons where it depends on the call.
func dependsOnCall(report *view.AdviceReport, cfg config.Config, d Case) {
	switch d.Reason {
	case reason.NoEvidence:
		if d.Rule != "" {
			report.Advice = "Name the task, or leave strict = true out of the rule"
		}
	case reason.Disabled:
		if tool := disabledTool(cfg); tool != "" {
			report.Set("tool." + tool + ".enabled = true")
		}
	case reason.Never:
		if d.Rule != "" && !slices.ContainsFunc(cfg.Rules, d.isRule) {
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

// disabledTool returns the tool that is switched off alone, "" if all are.
func disabledTool(cfg config.Config) (disabled string) {
	for _, tool := range rewrite.Names {
		if cfg.Enabled && !cfg.Tools[tool].Enabled {
			disabled = tool
		}
	}
	return disabled
}

func (d *Case) isRule(r config.Rule) bool { return r.Name == d.Rule }

// nextFresh returns why a call that continues the first one of its job is fresh, "" if it is not.
func nextFresh(cfg config.Config, d Case) reason.Code {
	switch policy := rulePolicy(cfg, d.Rule); {
	case d.End != "":
		return d.End
	case d.Task == "" && policy.Unnamed == config.UnnamedOff:
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
	if has, known := ruled.Value(key); known && has == value {
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
