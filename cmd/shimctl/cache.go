package main

import (
	"fmt"
	"math"
	"slices"

	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/rewrite"
	"reprise/rewrite/models"
)

// idleNames name the times that a session was idle before a call resumed it.
var idleNames = map[ledger.Idle]string{ledger.Briefly: "under 5 min", ledger.Within: "5 to 60 min", ledger.Longer: "over 60 min"}

// expectedRate is the share of the prompts that the sessions had been sent before: a cache that still holds them
// returns this much.
func expectedRate(r ledger.CacheRow) float64 { return rate(r.Held, r.Whole) }

// readRate is the share of the prompts that came from the cache.
func readRate(r ledger.CacheRow) float64 { return rate(r.Read, r.Prompt) }

// printCache prints what resumed calls found in the provider's cache.
func (a *app) printCache(rows []ledger.CacheRow) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintln(a.stdout)
	a.stdout.Heading("provider's cache, resumed calls")
	t := ui.NewTable("TOOL", "VERSION", "MODEL", "IDLE", "CALLS", "EXPECTED", "FROM-CACHE", "JUDGED", "MISSED")
	for _, r := range rows {
		t.Add(ui.TextCell(r.Tool), ui.TextCell(r.Version), ui.TextCell(r.Model), ui.TextCell(idleNames[r.Idle]), ui.NumberCell(r.Calls),
			ui.AmountCell("share", expectedRate(r)), ui.AmountCell("share", readRate(r)), ui.NumberCell(r.Judged), ui.NumberCell(r.Missed))
	}
	t.Print(a.stdout)
}

type cacheReport struct {
	Tool      string   `json:"tool" doc:"name of the tool"`
	Version   string   `json:"version,omitempty" doc:"version of the tool"`
	Model     string   `json:"model" doc:"the model that answered"`
	Idle      string   `json:"idle" doc:"how long their sessions had not been used: under 5 min, 5 to 60 min or over 60 min"`
	Calls     int64    `json:"calls" doc:"resumed calls that ended well"`
	Expected  *float64 `json:"expected_rate" doc:"share of their prompts that their sessions had been sent before, null if the tool reports only sums"`
	FromCache *float64 `json:"from_cache_rate" doc:"share of their prompts that came from the cache"`
	Judged    int64    `json:"judged_calls" doc:"calls whose sessions were long enough to be cached"`
	Missed    int64    `json:"missed_calls" doc:"of these, those that read less than three quarters of it from the cache"`
}

func cacheJSON(rows []ledger.CacheRow) []cacheReport {
	reports := []cacheReport{}
	for _, r := range rows {
		reports = append(reports, cacheReport{r.Tool, r.Version, r.Model, idleNames[r.Idle], r.Calls, number(expectedRate(r)), number(readRate(r)), r.Judged, r.Missed})
	}
	return reports
}

// minMissed is how many resumed calls must have missed the cache, besides being most of them, for a warning.
const minMissed = 3

// cacheWarnings returns warnings on resumed calls that keep missing the provider's cache, and on what asking for an hour would have
// saved.
func cacheWarnings(rows []ledger.CacheRow, hour []ledger.HourRow) (warnings []warning) {
	for _, r := range hourJSON(hour) {
		if says := r.missed(); says != "" {
			warnings = append(warnings, warning{Kind: "cache_ttl", Tool: r.Tool, Says: says})
		}
	}
	explained := func(r ledger.CacheRow) bool {
		return r.Idle == ledger.Within && slices.ContainsFunc(warnings, func(w warning) bool { return w.Kind == "cache_ttl" && w.Tool == r.Tool })
	}
	for _, r := range rows {
		if r.Missed < minMissed || 2*r.Missed <= r.Judged || explained(r) {
			continue
		}
		whose := r.Tool
		if r.Version != "" {
			whose += " " + r.Version
		}
		if r.Model != "" {
			whose += ", model " + r.Model
		}
		warnings = append(warnings, warning{Kind: "cache", Tool: r.Tool, Model: r.Model,
			Says: fmt.Sprintf("%s: %d of %s resumed after %s found little in the provider's cache: %s",
				whose, r.Missed, ui.Count(r.Judged, "call"), idleNames[r.Idle], missCause(r))})
	}
	return warnings
}

// steadyVersion is the first claude whose system prompt is without git's status.
const steadyVersion = "2.1.277"

// restatedWords says what to expect of resumes of sessions that made one request.
func restatedWords(model string) string {
	return "with " + model + " claude resumes a session of one request in another form than it was sent (anthropics/claude-code#93490), so the " +
		"provider's cache has only the system prompt and tools of it; runs that use tools, and models up to claude-opus-4-6 and claude-sonnet-4-6, find theirs"
}

// restates reports whether a resume of the call's session is expected to miss the cache for its form.
func restates(i ledger.Invocation) bool {
	return i.Tool == "claude" && i.OneRequest && models.Restated(i.Model)
}

// missCause returns why such calls miss, and what the user can do.
func missCause(r ledger.CacheRow) string {
	claude := r.Tool == "claude"
	switch {
	case r.Idle == ledger.Longer:
		return "no provider keeps a prompt for so long; with ttl = \"1h\" or less such calls are fresh"
	case r.Idle == ledger.Within:
		return "its entries had probably expired; shorter pauses between the rounds would find them"
	case claude && r.Version != "" && older(r.Version, steadyVersion):
		return "version " + r.Version + " has git's status in its system prompt, so that each commit changes it: update claude, or set steady_prompt = true"
	case claude && 2*r.Single > r.Missed && models.Restated(r.Model):
		return restatedWords(r.Model)
	}
	return "the beginning of the prompt changed, or the provider dropped it early"
}

type hourReport struct {
	Tool   string  `json:"tool" doc:"name of the tool"`
	Calls  int64   `json:"calls" doc:"calls for which the provider was asked to keep the prompt for an hour"`
	Saved  float64 `json:"weighted_tokens_saved" doc:"what that saved their chains, by the pauses between their calls; negative if it cost more"`
	Chains int64   `json:"other_chains" doc:"other chains for which it would have been cheaper"`
	Missed float64 `json:"weighted_tokens_missed" doc:"what it would have saved these"`
}

// hourJSON returns the rows of the tools that can ask the provider for an hour.
func hourJSON(rows []ledger.HourRow) []hourReport {
	reports := []hourReport{}
	for _, r := range rows {
		if tool, known := rewrite.Lookup(r.Tool); known && tool.Descriptor().KeepsHour && r.Calls+r.Chains > 0 {
			reports = append(reports, hourReport(r))
		}
	}
	return reports
}

// saved says what asking for an hour saved, "" if no call did.
func (r hourReport) saved() string {
	if r.Calls == 0 {
		return ""
	}
	what := "less"
	if r.Saved < 0 {
		what = "more"
	}
	return fmt.Sprintf("%s: %s asked the provider to keep the prompt for an hour: by the pauses between them, about %s weighted tokens %s",
		r.Tool, ui.Count(r.Calls, "call"), ui.Amount("tokens", math.Abs(r.Saved)), what)
}

// missed says what asking for an hour would have saved, "" if nothing.
func (r hourReport) missed() string {
	if r.Chains == 0 {
		return ""
	}
	return fmt.Sprintf("%s: after pauses of 5 to 60 minutes the provider no longer had the prompts of %s: cache_ttl = \"auto\" would have saved about %s weighted tokens",
		r.Tool, ui.Count(r.Chains, "chain"), ui.Amount("tokens", r.Missed))
}

// printHour prints what asking for an hour saved, and what it would have saved.
func (a *app) printHour(rows []ledger.HourRow) {
	for _, r := range hourJSON(rows) {
		for _, line := range []string{r.saved(), r.missed()} {
			if line != "" {
				fmt.Fprintln(a.stdout)
				a.stdout.Sentences("CACHE", ui.Plain, line)
			}
		}
	}
}
