package why

import (
	"cmp"
	"fmt"
	"math"

	"reprise/config"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite"
	"reprise/rewrite/models"
	"reprise/shim"
)

// NearlyFull says how full a session's context is, and how full it can get.
func NearlyFull(c rewrite.Context, model string, limit float64) string {
	window, why := contextWindow(c, model)
	return fmt.Sprintf("the session has used %d of %d tokens of context%s; above %.0f it is not "+
		"resumed any more",
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

// RestatedWords returns the cost of resumes of sessions of one request, in words.
func RestatedWords(model string) string {
	return "with " + model + " claude resumes a session of one request in another form than it " +
		"was sent (anthropics/claude-code#93490), so the " +
		"provider's cache has only the system prompt and tools of it; runs that use tools, and " +
		"models up to claude-opus-4-6 and claude-sonnet-4-6, find theirs"
}

// Restates reports whether a resume of the call's session is expected to miss the cache for the
// form.
func Restates(i ledger.Record) bool {
	return i.Tool == "claude" && i.OneRequest() && models.Restated(i.Model)
}
