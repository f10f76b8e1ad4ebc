package ctl

import (
	"fmt"
	"maps"
	"slices"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/doctor"
	"reprise/internal/ctl/view"
	"reprise/internal/ctl/why"
	"reprise/internal/tested"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite/models"
	"reprise/rewrite/reason"
)

// A warning is about a reason that keeps calls from being resumed, or soon will.
type warning struct {
	Kind    string `json:"kind" doc:"configuration, shell, ledger, version, context, dearer, cache, cache_ttl, refused, failed or price"`
	Chain   int64  `json:"chain,omitempty" doc:"its chain"`
	Tool    string `json:"tool,omitempty" doc:"name of the tool"`
	Rule    string `json:"rule,omitempty" doc:"the rule"`
	Model   string `json:"model,omitempty" doc:"the requested model; of a price, the model that answered"`
	Says    string `json:"text" doc:"the warning"`
	Command string `json:"command" doc:"the command that explains it"`
}

// versionWarnings returns warnings on versions of tools that the shim can do less with.
func versionWarnings(l *ledger.Ledger) (warnings []warning, err error) {
	notes, err := doctor.Versions(l)
	for _, n := range notes {
		warnings = append(warnings, warning{Kind: "version", Tool: n.Tool, Says: n.Says,
			Command: "shimctl doctor"})
	}
	return warnings, err
}

// contextWarnings returns warnings on sessions that will soon be too full to resume.
func contextWarnings(c config.Config, chains []history.ChainRow) []warning {
	limits := decide.Limits{ContextShare: c.ContextLimit}
	warnings := []warning{}
	for _, c := range chains {
		if s := view.Newest(c); s.State == decide.Live &&
			limits.NearlyFull(s.Context, why.SessionModel(s)) {
			warnings = append(warnings, warning{Kind: "context", Chain: c.ID, Tool: c.Tool,
				Rule: c.Last.Rule, Command: fmt.Sprintf("shimctl show c%d", c.ID),
				Says: fmt.Sprintf("chain c%d: %s", c.ID,
					why.NearlyFull(s.Context, why.SessionModel(s), limits.ContextShare))})
		}
	}
	return warnings
}

// decisionWarnings returns warnings on ends of the last calls.
func decisionWarnings(calls []ledger.Record) (warnings []warning) {
	warn := func(least int, kind, command, says string, is func(ledger.Record) bool) {
		found := len(slices.DeleteFunc(slices.Clone(calls), func(i ledger.Record) bool {
			return !is(i)
		}))
		if found >= least {
			warnings = append(warnings, warning{Kind: kind, Command: command,
				Says: fmt.Sprintf("%d of the last %s %s", found,
					view.Count(int64(len(calls)), "call"), says)})
		}
	}
	warn(1, "refused", "shimctl log", "could not be resumed as meant",
		func(i ledger.Record) bool {
			return i.FellBack != "" && i.FellBack != reason.AddedRefused
		})
	warn(1, "dearer", "shimctl why dearer", "were fresh because resumes cost more",
		func(i ledger.Record) bool { return i.Reason == reason.Dearer })
	warn(len(calls)/2+1, "failed", "shimctl log", "failed",
		func(i ledger.Record) bool { return i.Outcome == "failed" })
	return warnings
}

// priceWarnings looks for models without a known price, and so without a cost.
func priceWarnings(a *app.App, b view.Bill) (warnings []warning) {
	for _, model := range slices.Sorted(maps.Keys(b.Unlisted)) {
		warnings = append(warnings, warning{Kind: "price", Model: model,
			Command: "shimctl stats --by model",
			Says: fmt.Sprintf("the cost of %s is not known: %s",
				view.Count(b.Unlisted[model], "call"), a.MissingPrice(model))})
	}
	return warnings
}

// idleNames name the times that a session was idle before a call resumed it.
var idleNames = map[history.Idle]string{history.Briefly: "under 5 min",
	history.Within: "5 to 60 min", history.Longer: "over 60 min"}

// printCache prints the shares of resumed calls that came from the provider's cache.
func printCache(a *app.App, rows []cacheReport) {
	if len(rows) == 0 {
		return
	}
	a.Stdout.Notice("", "provider's cache, resumed calls")
	t := view.NewTable("TOOL", "VERSION", "MODEL", "IDLE", "CALLS", "EXPECTED", "FROM-CACHE",
		"JUDGED", "MISSED")
	for _, r := range rows {
		t.Add(view.TextCell(r.Tool), view.TextCell(r.Version), view.TextCell(r.Model),
			view.TextCell(r.Idle), view.NumberCell(r.Calls),
			view.AmountCell("share", r.Expected), view.AmountCell("share", r.FromCache),
			view.NumberCell(r.Judged), view.NumberCell(r.Missed))
	}
	t.Print(a.Stdout)
}

type cacheReport struct {
	Tool      string      `json:"tool" doc:"name of the tool"`
	Version   string      `json:"version,omitempty" doc:"version of the tool"`
	Model     string      `json:"model" doc:"the model that answered"`
	Idle      string      `json:"idle" doc:"how long their sessions had not been used: under 5 min, 5 to 60 min or over 60 min"`
	Calls     int64       `json:"calls" doc:"resumed calls that ended well"`
	Expected  view.Number `json:"expected_rate" doc:"share of their prompts that their sessions had been sent before, null if the tool reports only sums"`
	FromCache view.Number `json:"from_cache_rate" doc:"share of their prompts that came from the cache"`
	Judged    int64       `json:"judged_calls" doc:"calls of sessions that were long enough to be cached"`
	Missed    int64       `json:"missed_calls" doc:"judged calls that read less than three quarters of it from the cache"`
}

func cacheReports(rows []history.CacheRow) []cacheReport {
	return view.Mapped(rows, func(r history.CacheRow) cacheReport {
		return cacheReport{r.Tool, r.Version, r.Model, idleNames[r.Idle], r.Calls,
			view.Rate(r.HeldTokens, r.Whole), view.Rate(r.Read, r.Prompt), r.Judged, r.Missed}
	})
}

// minMissed is how many resumed calls must have missed the cache, besides being most of them, for a
// warning.
const minMissed = 3

// cacheWarnings returns warnings on resumed calls that keep missing the provider's cache, and on
// savings that asking for an hour would have brought.
func cacheWarnings(rows []history.CacheRow, hour []history.HourRow) (warnings []warning) {
	for _, r := range hour {
		if says := why.MissedWords(r); says != "" {
			warnings = append(warnings, warning{Kind: "cache_ttl", Tool: r.Tool, Says: says,
				Command: "shimctl stats"})
		}
	}
	explained := func(r history.CacheRow) bool {
		return r.Idle == history.Within && slices.ContainsFunc(warnings, func(w warning) bool {
			return w.Kind == "cache_ttl" && w.Tool == r.Tool
		})
	}
	for _, r := range rows {
		if r.Missed < minMissed || 2*r.Missed <= r.Judged || explained(r) {
			continue
		}
		build := r.Tool
		if r.Version != "" {
			build += " " + r.Version
		}
		if r.Model != "" {
			build += ", model " + r.Model
		}
		warnings = append(warnings, warning{Kind: "cache", Tool: r.Tool, Model: r.Model,
			Command: "shimctl stats",
			Says: fmt.Sprintf("%s: %d of %s found little in the provider's cache, idle %s: %s",
				build, r.Missed, view.Count(r.Judged, "resumed call"), idleNames[r.Idle],
				missCause(r))})
	}
	return warnings
}

// steadyVersion is the first claude with a system prompt without git's status.
const steadyVersion = "2.1.277"

// missCause returns why such calls miss, and a remedy.
func missCause(r history.CacheRow) string {
	claude := r.Tool == "claude"
	switch {
	case r.Idle == history.Longer:
		return "no provider keeps a prompt for so long; with ttl = \"1h\" or less such calls " +
			"are fresh"
	case r.Idle == history.Within:
		return "its entries had probably expired; shorter pauses between the rounds would find them"
	case claude && r.Version != "" && tested.Compare(r.Version, steadyVersion) < 0:
		return "version " + r.Version + " has git's status in its system prompt, so that each " +
			"commit changes it: update claude"
	case claude && 2*r.Single > r.Missed && models.Restated(r.Model):
		return "claude resumes a session of one request in another form than it was sent " +
			"(anthropics/claude-code#93490)"
	}
	return "the beginning of the prompt changed, or the provider dropped it early"
}

// printHour prints the saving by asking for an hour, and the possible one.
func printHour(a *app.App, rows []history.HourRow) {
	for _, r := range rows {
		for _, line := range []string{why.SavedWords(r), why.MissedWords(r)} {
			if line != "" {
				a.Stdout.Notice("", line)
			}
		}
	}
}
