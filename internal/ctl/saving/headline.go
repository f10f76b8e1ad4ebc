package saving

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"reprise/internal/ctl/view"
)

// Headline returns the saving in one sentence, without a full stop. It says what was counted, then what
// that saved in money or tokens, and on what that rests. A resume that was dearer is said to be so. Tokens come first if most calls
// were made with a login: a subscription has no price for a call.
//
// Of what was measured in weighted tokens it says 0.84 to 1.18 times as much in 47 of 56 jobs of claude, codex, gemini, qwen and vibe
// (test/savings). With cache_ttl = "auto" it says 0.5 to 1.3 times as much, since it takes what the hour saves first calls for granted;
// single requests, which save next to nothing, 0.7 to 1.8.
func (s Saving) Headline() string {
	a := s.AtLeast
	switch {
	case a.Calls == 0:
		return "no managed call has been made"
	case a.Resumed == 0 && a.Calls == 1:
		return "the only call was not resumed"
	case a.Resumed == 0:
		return fmt.Sprintf("none of the %s was resumed", view.Count(a.Calls, "call"))
	}
	words := fmt.Sprintf("resumed %s of %s", view.Thousands(a.Resumed), view.Count(a.Calls, "call"))
	if prompts := a.words(); prompts != "" {
		words += "; " + prompts
	}
	figures := []string{s.lessOf(Cost), s.lessOf(Weighted)}
	if 2*a.byLogin > a.Resumed {
		slices.Reverse(figures)
	}
	return words + cmp.Or(figures...)
}

// words say how much of the resumed calls' prompts was left out. Sizes are rounded down.
func (a AtLeast) words() string {
	switch one := a.Resumed == 1; {
	case a.LeftOutBytes > 0 && one:
		return fmt.Sprintf("at least %s of its prompt were left out, since the session held them", view.Size(a.LeftOutBytes))
	case a.LeftOutBytes > 0:
		return fmt.Sprintf("at least %s of their prompts were left out, since the sessions held them", view.Size(a.LeftOutBytes))
	case one:
		return "its prompt was sent whole"
	}
	return "their prompts were sent whole"
}

// lessOf says how much less or more of a figure the calls took; "" if that is not known. Where chains were held out, it also says
// what that measured.
func (s Saving) lessOf(key string) (words string) {
	if f := s.estimated(key); f.Saved.Known() {
		words = "; " + s.Estimate.words(f, s.AtLeast.Resumed)
	}
	if s.Comparison != nil {
		words += s.Comparison.words(key)
	}
	return words
}

func (c *Comparison) words(key string) string {
	for _, f := range c.Figures {
		share := f.Difference.Mean / f.Control.Mean
		if f.Key != key || !share.Known() {
			continue
		}
		change := "no clear difference in " + f.Title()
		if f.clear() {
			change = fmt.Sprintf("%s %+.0f %% a call", f.Title(), 100*share)
		}
		return fmt.Sprintf("; measured against %s held out: %s", view.Count(c.ControlCalls, "call"), change)
	}
	return ""
}

func (e *Estimate) words(f SavedFigure, resumed int64) string {
	who := "they"
	switch {
	case f.Calls < resumed:
		who = fmt.Sprintf("%s of them", view.Thousands(f.Calls))
	case resumed == 1:
		who = "it"
	}
	fresh, kind := "fresh call", "estimate"
	if e.ByFirst == e.Resumed {
		fresh = "first call"
	}
	if e.Rough {
		kind = "rough estimate"
	}
	than := view.Amount(f.Unit, view.Number(math.Abs(float64(f.Saved))))
	if f.Unit != "nano_usd" {
		than += " " + f.Title()
	}
	switch {
	case f.Saved < 0:
		than += " more than"
	case f.Saved == 0:
		than = "as much as"
	default:
		than += " less than"
	}
	return fmt.Sprintf("%s cost about %s %s would have (%s from %s)", who, than, view.Count(f.Calls, fresh), kind, view.Count(e.Fresh, fresh))
}
