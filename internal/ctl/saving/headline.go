package saving

import (
	"fmt"
	"math"

	"reprise/internal/ctl/view"
)

// Headline returns the saving in one sentence, without a full stop: in money, or in tokens if no
// price is known.
//
// Beside measured weighted tokens of jobs with claude, codex, gemini, qwen and vibe see
// test/savings.
func (s Saving) Headline() string {
	switch {
	case s.Calls == 0:
		return "no managed call has been made"
	case s.Resumed == 0 && s.Calls == 1:
		return "the only call was not resumed"
	case s.Resumed == 0:
		return fmt.Sprintf("none of the %s was resumed", view.Count(s.Calls, "call"))
	}
	words := fmt.Sprintf("%s of %s resumed", view.Thousands(s.Resumed), view.Count(s.Calls, "call"))
	a := s.Cost
	if !a.Saved.Known() {
		a = s.Tokens
	}
	if !a.Saved.Known() {
		return words + "; the saving is not known, no similar fresh call ended well"
	}
	unit := ""
	if a.Unit == "tokens" {
		unit = " " + a.Name
	}
	saved := view.Amount(a.Unit, view.Number(math.Abs(float64(a.Saved))))
	if a.Saved < 0 {
		return fmt.Sprintf("%s, cost about %s%s more than without (estimate)", words, saved, unit)
	}
	return fmt.Sprintf("%s, saved about %s of %s%s (estimate)", words, saved,
		view.Amount(a.Unit, a.Instead), unit)
}

// Basis names the calls that the estimate rests on.
func (s Saving) Basis() string {
	if s.FirstOnly {
		return view.Count(s.Fresh, "first call")
	}
	return view.Count(s.Fresh, "fresh call")
}

// Words names the calls behind the estimate.
func (s Saving) Words() string {
	if s.Compared == 0 {
		return "no similar fresh call ended well"
	}
	return fmt.Sprintf("an estimate: %s against %s", view.Count(s.Compared, "resumed call"),
		s.Basis())
}

// A Summary is a saving in JSON. Cost and tokens are negative if resuming was dearer.
type Summary struct {
	Headline     string      `json:"headline" doc:"the saving in one sentence"`
	Calls        int64       `json:"managed_calls" doc:"managed calls"`
	Resumed      int64       `json:"resumed_calls" doc:"of these, the resumed calls"`
	LeftOutBytes int64       `json:"left_out_bytes" doc:"counted: what the prompts of resumed calls left out, since the session held it"`
	Compared     int64       `json:"compared_calls" doc:"resumed calls that were compared"`
	Fresh        int64       `json:"fresh_calls" doc:"fresh calls of the same tool, role and model that they were compared with"`
	Cost         view.Number `json:"cost_nano_usd" doc:"cost in billionths of a dollar"`
	CostInstead  view.Number `json:"cost_without_nano_usd" doc:"estimated cost of all calls without resuming"`
	Tokens       view.Number `json:"weighted_tokens" doc:"estimated saving in tokens, weighted by what their kinds cost"`
}

// Summary returns the saving in JSON.
func (s Saving) Summary() Summary {
	return Summary{s.Headline(), s.Calls, s.Resumed, s.LeftOutBytes, s.Compared, s.Fresh,
		s.Cost.Saved, s.Cost.Instead, s.Tokens.Saved}
}
