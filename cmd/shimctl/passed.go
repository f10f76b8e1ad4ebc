package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/rewrite"
)

// advice says, for each reason why a headless call is passed through, what to do.
var advice = map[rewrite.Reason]string{
	rewrite.AppServer:       "Nothing can be done about it: a process of an app server has many sessions and no prompt of its own",
	rewrite.CallerSession:   "Nothing is missed: the caller resumes its sessions itself",
	rewrite.OptedOut:        "Leave --no-session-persistence or --ephemeral out if the calls continue each other",
	rewrite.UnknownOption:   "Leave the option out, or update reprise",
	rewrite.UnmanagedOption: "Leave the option out",
	rewrite.BadUsage:        "Correct the command line: the tool says on stderr what is wrong",
	rewrite.SlashCommand:    "Nothing is missed: the tool itself answers its commands",
	rewrite.MessageContent:  "Only a first message of plain text can be compared",
	rewrite.ControlRequest:  "Set model and permissions by options, not by requests before the first message",
	rewrite.StdinOpen:       "Add </dev/null",
	rewrite.StdinTooBig:     "Put the data into a file, and name it in the prompt",
	rewrite.StdoutGone:      "Have the caller read the output",
	rewrite.VerboseSetting:  "Ask for the stream-json format, or take the setting of the output format out of the tool's settings",
	rewrite.HookSetting:     "Take the SessionStart hook out of the tool's settings",
	rewrite.FileNotRegular:  "Name a file instead of <(...) or a pipe",
	rewrite.FileTooLarge:    "Make the settings file smaller",
	rewrite.NoResume:        "Update the tool",
	rewrite.Fault:           "shimctl doctor finds the cause, and shim.log has it",
}

// statusAdvice adds how to find what is not recorded of a call.
func statusAdvice(r rewrite.Reason) string {
	switch r {
	case rewrite.UnknownOption, rewrite.UnmanagedOption:
		return advice[r] + ". shimctl explain -- CALL names it"
	}
	return advice[r]
}

// A passedReport is about the headless calls that were passed through for one reason.
type passedReport struct {
	Reason      rewrite.Reason `json:"reason" doc:"the reason"`
	Calls       int64          `json:"calls" doc:"number of calls"`
	Last        time.Time      `json:"last" doc:"when the latest was made"`
	Tools       []string       `json:"tools" doc:"the tools that were called"`
	Directories []string       `json:"directories" doc:"where, the latest first"`
	Advice      string         `json:"advice" doc:"what to do"`
}

// passedReports adds up rows, the last passed first, by their reasons.
func passedReports(rows []ledger.PassedRow) []passedReport {
	list := []passedReport{}
	for _, row := range rows {
		at := slices.IndexFunc(list, func(p passedReport) bool { return p.Reason == row.Reason })
		if at < 0 {
			at = len(list)
			list = append(list, passedReport{Reason: row.Reason, Last: row.When.Time(), Advice: statusAdvice(row.Reason)})
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

// words says what was missed, when it was last, and what to do, as in "4 calls of claude passed through, last 3m ago: stdin
// is open. Add </dev/null".
func (p passedReport) words(last string) string {
	text := fmt.Sprintf("%s of %s passed through, last %s: %s", ui.Count(p.Calls, "call"), strings.Join(p.Tools, " and "), last, meaning(p.Reason))
	if p.Advice != "" {
		text += ". " + p.Advice
	}
	return text
}
