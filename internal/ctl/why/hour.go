package why

import (
	"fmt"
	"math"

	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/rewrite"
)

type HourReport struct {
	Tool   string  `json:"tool" doc:"name of the tool"`
	Calls  int64   `json:"calls" doc:"calls for which the provider was asked to keep the prompt for an hour"`
	Saved  float64 `json:"weighted_tokens_saved" doc:"what that saved their chains, by the pauses between their calls; negative if it cost more"`
	Chains int64   `json:"other_chains" doc:"other chains for which it would have been cheaper"`
	Missed float64 `json:"weighted_tokens_missed" doc:"what it would have saved these"`
}

// HourJSON returns the rows of the tools that can ask the provider for an hour.
func HourJSON(rows []ledger.HourRow) []HourReport {
	reports := []HourReport{}
	for _, r := range rows {
		if tool, known := rewrite.Lookup(r.Tool); known && tool.Descriptor().KeepsHour && r.Calls+r.Chains > 0 {
			reports = append(reports, HourReport(r))
		}
	}
	return reports
}

// SavedWords says what asking for an hour saved, "" if no call did.
func (r HourReport) SavedWords() string {
	if r.Calls == 0 {
		return ""
	}
	what := "less"
	if r.Saved < 0 {
		what = "more"
	}
	return fmt.Sprintf("%s: %s asked the provider to keep the prompt for an hour: by the pauses between them, about %s weighted tokens %s",
		r.Tool, view.Count(r.Calls, "call"), view.Amount("tokens", math.Abs(r.Saved)), what)
}

// MissedWords says what asking for an hour would have saved, "" if nothing.
func (r HourReport) MissedWords() string {
	if r.Chains == 0 {
		return ""
	}
	return fmt.Sprintf("%s: after pauses of 5 to 60 minutes the provider no longer had the prompts of %s: cache_ttl = \"auto\" would have saved about %s weighted tokens",
		r.Tool, view.Count(r.Chains, "chain"), view.Amount("tokens", r.Missed))
}
