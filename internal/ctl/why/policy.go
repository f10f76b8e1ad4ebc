package why

import (
	"cmp"
	"fmt"

	"reprise/config"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/models"
	"reprise/shim"
)

// NearlyFull says how full a session's context is, and how full it may get.
func NearlyFull(c rewrite.Context, model string, limit float64) string {
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

// SessionModel returns the model that a session runs with, "" if not known.
func SessionModel(s ledger.SessionRow) string { return cmp.Or(s.Answered, s.Model) }

// RulePolicy returns the policy of a rule of the user's, and otherwise that of the file: no preset has
// one of its own.
func RulePolicy(c config.Config, rule string) config.Policy {
	for _, r := range c.Rules {
		if r.Name == rule {
			return r.Policy
		}
	}
	return c.Policy
}

func modelWords(model string) string { return cmp.Or(model, "the tool's own model") }
