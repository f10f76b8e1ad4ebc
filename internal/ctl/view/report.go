package view

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"reprise/internal/prices"
	"reprise/ledger"
	"reprise/ledger/history"
	"reprise/rewrite/reason"
)

// The JSON of several commands. A field is never renamed and never changes the meaning within a
// schema; new ones can come. docs/reference/shimctl.schema.json is made from the doc tags.

// A ChainReport is a chain with the facts that follow from the record.
type ChainReport struct {
	history.ChainRow
	Created  time.Time       `json:"created" doc:"when its first call started"`
	Updated  time.Time       `json:"updated" doc:"when its last call started or ended"`
	Last     CallReport      `json:"last" doc:"its last call"`
	Sessions []SessionReport `json:"sessions" doc:"its sessions, the newest first"`
}

// Chain returns the report of a chain.
func (r Reporter) Chain(c history.ChainRow) ChainReport {
	c.Role = RoleName(c.Role)
	return ChainReport{c, c.Created.Time(), c.Updated.Time(), r.Call(c.Last),
		Mapped(c.Sessions, sessionJSON)}
}

// A SessionReport is a session with the facts that follow from the record.
type SessionReport struct {
	history.SessionRow
	ContextTokens int64     `json:"context_tokens" doc:"tokens of the context in use"`
	ContextLimit  *int64    `json:"context_limit" doc:"size of the context in tokens"`
	Created       time.Time `json:"created" doc:"when it started"`
	LastUsed      time.Time `json:"last_used" doc:"when it was last used"`
}

func sessionJSON(s history.SessionRow) SessionReport {
	return SessionReport{s, s.Context.Used, nonZero(s.Context.Limit), s.Created.Time(),
		s.LastUsed.Time()}
}

// A CallReport is a call with the facts that follow from the record.
type CallReport struct {
	ledger.Record
	Class    reason.Class `json:"class,omitempty" doc:"class of the reason"`
	Started  time.Time    `json:"started" doc:"when it started"`
	Chain    *int64       `json:"chain" doc:"its chain, null if none"`
	Outcome  *string      `json:"outcome" doc:"ok, failed, unread or killed; null while it runs"`
	Caller   string       `json:"caller" doc:"name of the program that made it, empty if a person did or it is not known"`
	Evidence []string     `json:"evidence,omitempty" doc:"what showed that it continued its session, in sentences"`
	MoneyReport
}

// A MoneyReport is an amount and its source.
type MoneyReport struct {
	CostNanoUSD *int64 `json:"cost_nano_usd" doc:"cost in billionths of a dollar"`
	CostMost    *int64 `json:"cost_at_most_nano_usd,omitempty" doc:"the same, if every request with a possibly long prompt was billed as long"`
	CostSource  string `json:"cost_source,omitempty" doc:"tool: its own figure; list: tokens at list price; mixed: some of each"`
}

// MoneyJSON returns the report of a sum, which is empty if the sum is not known.
func MoneyJSON(s Sum) MoneyReport {
	if !s.Known {
		return MoneyReport{}
	}
	r := MoneyReport{CostNanoUSD: &s.Nano, CostSource: s.Source}
	if s.Most > s.Nano {
		r.CostMost = &s.Most
	}
	return r
}

// A Reporter knows prices.
type Reporter struct{ Prices *prices.List }

// Call returns the report of a call.
func (r Reporter) Call(i ledger.Record) CallReport {
	cost := CallCost(r.Prices, i)
	i.Role = RoleName(i.Role)
	report := CallReport{Record: i, Class: cmp.Or(i.FellBack, i.Reason).Class(),
		Started: i.Started.Time(), Chain: nonZero(i.Chain), Caller: i.Caller.Run().Name,
		Evidence: i.Evidence.Sentences(), MoneyReport: MoneyJSON(cost)}
	if i.Outcome != "" {
		report.Outcome = &i.Outcome
	}
	return report
}

func nonZero(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

// Mapped applies f to each element. It never returns nil, which JSON would have as null.
func Mapped[T, R any](list []T, f func(T) R) []R {
	out := make([]R, 0, len(list))
	for _, item := range list {
		out = append(out, f(item))
	}
	return out
}

// MeaningOf returns the meaning of a reason, a sentence.
func MeaningOf(r reason.Code) string {
	if text, ok := r.Lookup(); ok {
		return text.Meaning
	}
	return "a reason that this shimctl does not know: " + strings.ReplaceAll(string(r), "_", " ")
}

// SentWords says how much of a prompt is sent, and if it is the whole, why a resume sends that.
func SentWords(prompt, sent int64, whole reason.Code) string {
	if sent < prompt {
		return fmt.Sprintf("the new part, %s of %s", Size(sent), Size(prompt))
	}
	words := "the whole prompt, " + Size(prompt)
	if whole != "" {
		words += ": " + WholeWords(whole)
	}
	return words
}

// WholeWords says why a resume sends the whole prompt, "" if it does not.
func WholeWords(whole reason.Code) string {
	if whole == "" {
		return ""
	}
	return fmt.Sprintf("%s (%s)", MeaningOf(whole), whole)
}

// An AdviceReport has the meaning of a reason and a way to change the decision.
type AdviceReport struct {
	Class   reason.Class `json:"class,omitempty" doc:"class of the reason"`
	Meaning string       `json:"meaning" doc:"the reason's meaning"`
	Advice  string       `json:"advice,omitempty" doc:"a way to have the call resumed, or fresh if it is resumed"`
	Setting string       `json:"setting,omitempty" doc:"a line of the configuration file that does so"`
	Command string       `json:"command,omitempty" doc:"a command that does so, or shows the subject of the advice"`
}

// AdviceFor returns the advice about a reason; chain, and the call that ended the session badly,
// are 0 if there is none.
func AdviceFor(r reason.Code, chain, before int64) AdviceReport {
	text, ok := r.Lookup()
	if !ok {
		text = &reason.Row{}
	}
	report := AdviceReport{Class: text.Class, Meaning: MeaningOf(r), Advice: text.Advice}
	if report.Advice == "" && report.Class != reason.ClassContinues {
		report.Advice = "Nothing needs to be done"
	}
	report.Set(text.Setting)
	command := text.Command
	for name, number := range map[string]int64{"{chain}": chain, "{before}": before} {
		if strings.Contains(command, name) && number == 0 {
			return report
		}
		command = strings.ReplaceAll(command, name, fmt.Sprint(number))
	}
	report.Command = cmp.Or(command, report.Command)
	return report
}

// Set advises a setting, a line of the configuration file, and the command that makes it; "" for
// none.
func (r *AdviceReport) Set(setting string) {
	r.Setting, r.Command = setting, ""
	if key, value, ok := strings.Cut(setting, " = "); ok {
		if text, err := strconv.Unquote(value); err == nil {
			value = text
		}
		r.Command = "shimctl config set " + key + " " + ShellQuote(value)
	}
}
