package view

import (
	"cmp"
	"fmt"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// MeaningOf says in a sentence what a reason means.
func MeaningOf(r reason.Code) string {
	if text, ok := r.Lookup(); ok {
		return text.Meaning
	}
	return "a reason that this shimctl does not know: " + strings.ReplaceAll(string(r), "_", " ")
}

// classOf returns a reason's class, "" if it is not known.
func classOf(r reason.Code) reason.Class {
	if text, ok := r.Lookup(); ok {
		return text.Class
	}
	return ""
}

// An AdviceReport says what a reason means and what would change the decision.
type AdviceReport struct {
	Class   reason.Class `json:"class,omitempty" doc:"class of the reason"`
	Meaning string       `json:"meaning" doc:"the reason's meaning"`
	Advice  string       `json:"advice,omitempty" doc:"what would have the call resumed, or fresh if it is resumed"`
	Setting string       `json:"setting,omitempty" doc:"a line of the configuration file that does so"`
	Command string       `json:"command,omitempty" doc:"a command that does so or shows more"`
}

// AdviceFor returns what is said about a reason; chain is 0 if there is none.
func AdviceFor(r reason.Code, tool string, chain int64) AdviceReport {
	text, ok := r.Lookup()
	if !ok {
		text = &reason.Row{}
	}
	return AdviceReport{text.Class, MeaningOf(r), text.Advice, text.Setting, commandFor(text.Command, tool, chain)}
}

// commandFor returns a reason's command for a tool's call in a chain, 0 for none.
func commandFor(command, tool string, chain int64) string {
	which := "CHAIN"
	if chain != 0 {
		which = fmt.Sprint(chain)
	}
	headless := []string{tool}
	if known, ok := rewrite.Lookup(tool); ok {
		headless = known.Descriptor().Headless
	}
	return strings.NewReplacer("{call}", strings.Join(headless, " ")+" <prompt.md", "{chain}", which).
		Replace(cmp.Or(command, "shimctl config path"))
}
