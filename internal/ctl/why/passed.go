package why

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"reprise/internal/ctl/view"
	"reprise/ledger/history"
	"reprise/rewrite/reason"
)

// A PassthroughReport is about the headless calls that were passed through for one reason.
type PassthroughReport struct {
	Reason      reason.Code `json:"reason" doc:"the reason"`
	Calls       int64       `json:"calls" doc:"number of calls"`
	Last        time.Time   `json:"last" doc:"when the latest was made"`
	Tools       []string    `json:"tools" doc:"the tools that were called"`
	Directories []string    `json:"directories" doc:"where, the latest first"`
	Detail      string      `json:"detail,omitempty" doc:"of the latest: where the configuration had a mistake, or what failed"`
	Advice      string      `json:"advice" doc:"what to do"`
}

// PassthroughReports adds up rows, the last passed first, by their reasons.
func PassthroughReports(rows []history.PassthroughRow) []PassthroughReport {
	list := []PassthroughReport{}
	for _, row := range rows {
		at := slices.IndexFunc(list, func(p PassthroughReport) bool {
			return p.Reason == row.Reason
		})
		if at < 0 {
			at = len(list)
			advice := view.AdviceFor(row.Reason, 0, 0).Advice
			// which is not recorded
			if row.Reason == reason.UnknownOption || row.Reason == reason.UnmanagedOption {
				advice += ". shimctl why --, typed before the call, names it"
			}
			list = append(list, PassthroughReport{Reason: row.Reason, Last: row.When.Time(),
				Detail: row.Detail, Advice: advice})
		}
		p := &list[at]
		p.Calls += row.Calls
		if !slices.Contains(p.Tools, row.Tool) {
			p.Tools = append(p.Tools, row.Tool)
		}
		if !slices.Contains(p.Directories, row.Cwd) {
			p.Directories = append(p.Directories, row.Cwd)
		}
	}
	return list
}

// Brief names the missed calls.
func (p PassthroughReport) Brief() string {
	return fmt.Sprintf("%s of %s passed through: %s", view.Count(p.Calls, "call"),
		strings.Join(p.Tools, " and "), view.MeaningOf(p.Reason))
}

// Words names the missed calls, the time of the last one, and the remedy, as in "4 calls of claude
// passed through, last 3m ago: stdin is open. Add </dev/null".
func (p PassthroughReport) Words(last string) string {
	text := fmt.Sprintf("%s of %s passed through, last %s: %s", view.Count(p.Calls, "call"),
		strings.Join(p.Tools, " and "), last, view.MeaningOf(p.Reason))
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	if p.Advice != "" {
		text += ". " + p.Advice
	}
	return text
}
