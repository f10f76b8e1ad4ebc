package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"reprise/config"
	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/models"
	"reprise/shim"
)

// A warning is about a reason that keeps calls from being resumed, or soon will.
type warning struct {
	Kind  string        `json:"kind" doc:"configuration, quality, repeats, context, dearer, cache_lost, cache, cache_ttl, refused, failed, price, too_many_calls, budget_spent or tokens_spent"`
	Chain int64         `json:"chain,omitempty" doc:"its chain"`
	Tool  string        `json:"tool,omitempty" doc:"name of the tool"`
	Rule  string        `json:"rule,omitempty" doc:"the rule"`
	Model string        `json:"model,omitempty" doc:"the requested model; of a price, the one that answered"`
	Price *pricesReport `json:"prices,omitempty" doc:"cost of the runs, if resumes cost more"`
	Says  string        `json:"says" doc:"the warning"`
}

// A pricesReport is what an average run costs, resumed and fresh.
type pricesReport struct {
	Unit        string    `json:"unit" doc:"nano_usd, or tokens weighted by what they cost"`
	Resumed     float64   `json:"resumed" doc:"mean of the resumed runs"`
	Fresh       float64   `json:"fresh" doc:"mean of the fresh runs"`
	ResumedRuns int       `json:"resumed_runs" doc:"resumed runs"`
	FreshRuns   int       `json:"fresh_runs" doc:"fresh runs"`
	FirstRuns   bool      `json:"first_runs" doc:"whether the fresh runs are first runs: an estimate"`
	TriedAgain  time.Time `json:"tried_again" doc:"when a resume is tried again"`
}

func pricesJSON(p decide.Prices) *pricesReport {
	unit := "tokens"
	if p.Money {
		unit = "nano_usd"
	}
	return &pricesReport{unit, p.Resumed, p.Fresh, p.ResumedRuns, p.FreshRuns, p.FirstRuns, p.Until().Time()}
}

// prices returns them as one line.
func (a *app) prices(p decide.Prices) string {
	r := pricesJSON(p)
	unit, fresh := "", "fresh"
	if !p.Money {
		unit = " weighted tokens"
	}
	if p.FirstRuns {
		fresh = "first"
	}
	return fmt.Sprintf("a resume took %s%s on average of %s, a fresh run %s of %s; tried again in %s",
		ui.Amount(r.Unit, p.Resumed), unit, ui.Count(int64(p.ResumedRuns), "run"),
		ui.Amount(r.Unit, p.Fresh), ui.Count(int64(p.FreshRuns), fresh+" run"), strings.TrimSuffix(r.TriedAgain.Sub(a.now).Round(time.Minute).String(), "0s"))
}

// nearlyFull says how full a session's context is, and how full it may get.
func nearlyFull(c rewrite.Context, model string, limit float64) string {
	window, why := contextWindow(c, model)
	return fmt.Sprintf("the session has used %d of %d tokens of context%s; above %.0f it is not resumed any more",
		c.Used, window, why, limit*float64(window))
}

// contextWindow returns the window of a session with a model and, if it is assumed, why.
func contextWindow(c rewrite.Context, model string) (tokens int64, why string) {
	tokens, assumed := decide.Limits{UnknownWindow: shim.UnknownWindow}.Window(c, model)
	switch {
	case !assumed:
		return tokens, ""
	case models.Window(model) != 0:
		return tokens, fmt.Sprintf(" (the window of %s; the tool reports none)", model)
	}
	return tokens, fmt.Sprintf(" (assumed: the tool reports no window, and none is known of %s)", modelWords(model))
}

// sessionModel returns the model that a session runs with, "" if not known.
func sessionModel(s ledger.SessionRow) string { return cmp.Or(s.Answered, s.Model) }

// contextWarnings returns warnings on sessions that will soon be too full to resume.
func contextWarnings(c config.Config, chains []ledger.ChainRow) []warning {
	limits := decide.Limits{ContextShare: c.ContextLimit, UnknownWindow: shim.UnknownWindow}
	warnings := []warning{}
	for _, c := range chains {
		if s := newest(c); s.State == decide.Live && limits.NearlyFull(s.Context, sessionModel(s)) {
			warnings = append(warnings, warning{Kind: "context", Chain: c.ID, Tool: c.Tool, Rule: c.Last.Rule,
				Says: fmt.Sprintf("chain %d: %s", c.ID, nearlyFull(s.Context, sessionModel(s), limits.ContextShare))})
		}
	}
	return warnings
}

// configured returns the configuration, or the defaults if the file cannot be read. Then
// configuration returns a warning.
func (a *app) configured() config.Config {
	c, _ := a.configuration()
	return c
}

// configuration returns the configuration and warnings about it.
func (a *app) configuration() (c config.Config, wrong []warning) {
	path, err := config.ConfigFile(a.own)
	if err == nil {
		c, err = config.Load(path)
	}
	if err != nil {
		return config.Default(), []warning{{Kind: "configuration", Says: err.Error() + "; every call is passed through"}}
	}
	if !c.Enabled {
		wrong = []warning{{Kind: "configuration", Says: a.tilde(path) + " switches reprise off"}}
	}
	return c, wrong
}

// decisionWarnings returns warnings on recent decisions.
func decisionWarnings(calls []ledger.Invocation) (warnings []warning) {
	refused, failed := 0, 0
	for _, i := range calls {
		if i.FellBack != "" {
			refused++
		}
		if i.Outcome == "failed" {
			failed++
		}
	}
	last := ui.Count(int64(len(calls)), "call")
	if refused > 0 {
		warnings = append(warnings, warning{Kind: "refused", Says: fmt.Sprintf("%d of the last %s could not be resumed as meant", refused, last)})
	}
	if 2*failed > len(calls) {
		warnings = append(warnings, warning{Kind: "failed", Says: fmt.Sprintf("%d of the last %s failed", failed, last)})
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
func (a *app) repeatWarnings(l *ledger.Ledger, c config.Config, f ledger.Filter) (warnings []warning, err error) {
	since, err := l.Bounded(max(f.Times().Since, decide.Millis(a.now.Add(-proposedPeriod).UnixMilli())), maxRepeating)
	if err != nil {
		return nil, err
	}
	frames, err := l.Frames(since, decide.Millis(c.TTL.Milliseconds()))
	if err != nil {
		return nil, err
	}
	for _, t := range frames {
		if len(warnings) == maxRepeats || t.Resumed < 2 || t.SavedBytes < leastSaved || f.Tool != "" && f.Tool != t.Tool || !f.SelectsSession(t.Cwd, t.Last.Time()) {
			continue
		}
		p := promptOf(t.Latest, l.Key())
		sent := config.Subject{Tool: t.Tool, Cwd: t.Cwd, Env: func(string) string { return "" }}
		if p != nil {
			sent.Prompt = p.Text
		}
		if c.Match(sent).Name != "" {
			continue
		}
		warnings = append(warnings, warning{Kind: "repeats", Tool: t.Tool,
			Says: fmt.Sprintf("%s: %s; shimctl rule add --from %d names them, so that they are resumed",
				callerWords(t.Latest), sameBut(t.Calls, p, t.Place), t.Latest.ID)})
	}
	return warnings, nil
}

// dearerWarnings returns warnings on rules whose resumes are suspended.
func (a *app) dearerWarnings(c config.Config, meters []ledger.MeterRow) []warning {
	now := decide.Millis(a.now.UnixMilli())
	var warnings []warning
	for _, m := range meters {
		p, ok := m.Prices(now)
		if !ok || !p.Suspended(now) || rulePolicy(c, m.Rule).Dearer == config.DearerResume {
			continue
		}
		whose := ofRule(m.Tool, m.Rule)
		if m.Model != "" {
			whose += ", model " + m.Model
		}
		warnings = append(warnings, warning{Kind: "dearer", Tool: m.Tool, Rule: m.Rule, Model: m.Model, Price: pricesJSON(p),
			Says: fmt.Sprintf("%s: resumes are suspended, they cost more than fresh runs: %s", whose, a.prices(p))})
	}
	return warnings
}

// ofRule names a rule's calls of a tool.
func ofRule(tool, rule string) string {
	if rule == "" {
		return tool
	}
	return tool + ", rule " + rule
}

// cacheLostWarnings returns warnings on calls that were kept fresh because a resume loses the cache.
func cacheLostWarnings(c config.Config, rows []ledger.CacheLostRow) (warnings []warning) {
	for _, r := range rows {
		if rulePolicy(c, r.Rule).Dearer == config.DearerResume {
			continue
		}
		kept := ui.Count(r.Calls, "call") + " kept fresh"
		warnings = append(warnings, warning{Kind: "cache_lost", Tool: r.Tool, Rule: r.Rule,
			Says: fmt.Sprintf("%s: %s: a resume loses the provider's cache, and no figures showed that it pays; dearer = \"resume\" resumes all the same",
				ofRule(r.Tool, r.Rule), kept)})
	}
	return warnings
}

// rulePolicy returns the policy of a rule of the user's, and otherwise that of the file: no preset has
// one of its own.
func rulePolicy(c config.Config, rule string) config.Policy {
	for _, r := range c.Rules {
		if r.Name == rule {
			return r.Policy
		}
	}
	return c.Policy
}

// priceWarnings looks for models whose calls have no cost because no price is known.
func (a *app) priceWarnings(b bill) (warnings []warning) {
	for _, model := range slices.Sorted(maps.Keys(b.unlisted)) {
		warnings = append(warnings, warning{Kind: "price", Model: model,
			Says: fmt.Sprintf("the cost of %s is not known: %s", ui.Count(b.unlisted[model], "call"), a.missingPrice(model))})
	}
	return warnings
}
