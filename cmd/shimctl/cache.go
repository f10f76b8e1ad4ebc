package main

import (
	"fmt"

	"reprise/internal/ui"
	"reprise/ledger"
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
	t := ui.NewTable("TOOL", "MODEL", "IDLE", "CALLS", "EXPECTED", "FROM-CACHE", "JUDGED", "MISSED")
	for _, r := range rows {
		t.Add(ui.TextCell(r.Tool), ui.TextCell(r.Model), ui.TextCell(idleNames[r.Idle]), ui.NumberCell(r.Calls),
			ui.AmountCell("share", expectedRate(r)), ui.AmountCell("share", readRate(r)), ui.NumberCell(r.Judged), ui.NumberCell(r.Missed))
	}
	t.Print(a.stdout)
}

type cacheReport struct {
	Tool      string   `json:"tool" doc:"name of the tool"`
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
		reports = append(reports, cacheReport{r.Tool, r.Model, idleNames[r.Idle], r.Calls, number(expectedRate(r)), number(readRate(r)), r.Judged, r.Missed})
	}
	return reports
}

// minMissed is how many resumed calls must have missed the cache, besides being most of them, for a warning.
const minMissed = 3

// cacheWarnings returns warnings on resumed calls that keep missing the provider's cache.
func cacheWarnings(rows []ledger.CacheRow) (warnings []warning) {
	for _, r := range rows {
		if r.Missed < minMissed || 2*r.Missed <= r.Judged {
			continue
		}
		whose := r.Tool
		if r.Model != "" {
			whose += ", model " + r.Model
		}
		warnings = append(warnings, warning{Kind: "cache", Tool: r.Tool, Model: r.Model,
			Says: fmt.Sprintf("%s: %d of %s resumed after %s found little in the provider's cache: %s",
				whose, r.Missed, ui.Count(r.Judged, "call"), idleNames[r.Idle], missCause(r))})
	}
	return warnings
}

// missCause returns why such calls miss, and what the user can do.
func missCause(r ledger.CacheRow) string {
	claude := r.Tool == "claude"
	switch {
	case r.Idle == ledger.Longer:
		return "no provider keeps a prompt for so long; with ttl = \"1h\" or less such calls are fresh"
	case r.Idle == ledger.Within && claude:
		return "with an API key it is kept for 5 minutes; CLAUDE_CODE_PROMPT_CACHE_TTL=1h (before claude 2.1.242 ENABLE_PROMPT_CACHING_1H=1) " +
			"keeps it for an hour, and writing a token then costs twice an input token instead of 1.25 times"
	case r.Idle == ledger.Within:
		return "its entries had probably expired; shorter pauses between the rounds would find them"
	case claude:
		return "the beginning of the prompt changed; before 2.1.277 it has git's status in it, so that each commit changes it, and some " +
			"versions send a resumed session in another form (anthropics/claude-code#93490): try another version of claude"
	}
	return "the beginning of the prompt changed, or the provider dropped it early"
}
