package view

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"reprise/rewrite/reason"
)

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
