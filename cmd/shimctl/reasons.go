package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"reprise/config"
	"reprise/rewrite"
)

// meanings explains each reason.
var meanings = map[rewrite.Reason]string{
	rewrite.NotManaged:      "a tool or a subcommand that is not managed",
	rewrite.Interactive:     "the call is interactive",
	rewrite.Admin:           "a subcommand, or a question about the tool itself",
	rewrite.CallerSession:   "the caller chose a session itself",
	rewrite.OptedOut:        "the caller wants no session kept",
	rewrite.Nested:          "the tool was called from inside a run",
	rewrite.UnknownOption:   "an option that neither reprise nor the tool's --help knows",
	rewrite.UnmanagedOption: "an option that makes the call something else",
	rewrite.BadUsage:        "the tool will reject this command line",
	rewrite.SlashCommand:    "the prompt is a slash command",
	rewrite.MessageContent:  "the first message of the conversation is not a plain text",
	rewrite.ControlRequest:  "the caller changed the session by a request",
	rewrite.NoMessage:       "the caller sent no message",
	rewrite.NextTurn:        "a later message of a conversation that goes on in one process",
	rewrite.StdinOpen:       "stdin is open and silent: the prompt is not known",
	rewrite.StdinTooBig:     "stdin exceeds the limit",
	rewrite.StdoutGone:      "stdout is closed, or its reader is gone",
	rewrite.VerboseSetting:  "a settings file may change the json format",
	rewrite.HookSetting:     "a settings file may change what the session stores",
	rewrite.FileNotRegular:  "a settings file is a pipe or a device, which only the tool may read",
	rewrite.FileTooLarge:    "a settings file exceeds the limit",
	rewrite.SwitchedOff:     "REPRISE_OFF is set",
	rewrite.NoResume:        "this version of the tool cannot resume a session",
	rewrite.Fault:           "something in reprise failed; the log says what",

	rewrite.FirstCall:           "the first call of its chain",
	rewrite.ForcedFresh:         "the caller asked for a fresh session",
	rewrite.Disabled:            "the configuration switched resuming off",
	rewrite.Ambiguous:           "more than one session fits",
	rewrite.NoEvidence:          "nothing shows that the prompt continues the session's own work; the task has no name",
	rewrite.NewRole:             "the prompt assigns a new role, asks for a judgement or refers to another agent's work; the task has no name",
	rewrite.CleanStart:          "the prompt asks for a clean start or for independent answers; the task has no name",
	rewrite.UnnamedOff:          "unnamed = \"off\": calls without a name are not resumed",
	rewrite.BaseTooSmall:        "the prompt is too short to distinguish the job from others",
	rewrite.BaseChanged:         "the prompt does not repeat everything the session was sent",
	rewrite.HistoryEdited:       "the transcript's earlier part differs from the session",
	rewrite.ModelChanged:        "another model was requested",
	rewrite.SettingsChanged:     "settings changed: system prompt, tools, permissions, MCP servers, variables",
	rewrite.RuntimeChanged:      "the tool's binary changed",
	rewrite.AuthChanged:         "the account changed, or how it is reached: credentials, cloud project, region, proxy",
	rewrite.InstructionsChanged: "an instruction file changed: CLAUDE.md, AGENTS.md, GEMINI.md",
	rewrite.DirectoryReplaced:   "the directory or its repository is another one under the same name",
	rewrite.BranchChanged:       "another branch is checked out",
	rewrite.CommitGone:          "the commit that the session's last run left is no longer part of the branch",
	rewrite.JobChanged:          "the variables name another CI job, run or tenant; the task has no name",
	rewrite.UserChanged:         "another user makes the call",
	rewrite.PreviousFailed:      "the session's last run failed",
	rewrite.PreviousKilled:      "a signal ended the session's last run",
	rewrite.PreviousUnknown:     "the end of the session's last run was not recorded",
	rewrite.TurnLimit:           "the session's last run reached its limit of turns",
	rewrite.SessionDead:         "the session cannot be resumed any more",
	rewrite.SessionGone:         "the tool no longer has the session",
	rewrite.Pruned:              "shimctl prune has removed the session",
	rewrite.CallersOwn:          "the caller resumed the session by its ID, and has owned it since",
	rewrite.SessionMoved:        "another process has written to the session",
	rewrite.Idle:                "the session was idle for longer than ttl",
	rewrite.TooOld:              "the session was started longer ago than max_age",
	rewrite.ContextFull:         "the session has used more of the context than context_limit",
	rewrite.ErrorLimit:          "error_limit runs from this session failed",
	rewrite.Leased:              "another process was using the session",
	rewrite.NothingToFork:       "no run of the session has ended yet",
	rewrite.NoForkPoint:         "no message was found where the session's last run ended",
	rewrite.Never:               "a rule keeps such calls fresh",
	rewrite.AttemptReset:        "the caller restarted its count of attempts",
	rewrite.ContextReset:        "a prompt, an answer or shimctl reset ended the session",
	rewrite.Dearer:              "resumes of this rule, tool and model have cost more than fresh runs",
	rewrite.TooManyCalls:        "the job made more calls in an hour than budget.calls_per_hour",
	rewrite.BudgetSpent:         "the job cost as much in 24 hours as budget.dollars_per_day",
	rewrite.HeldOut:             "rollout keeps this chain fresh, for comparison",

	rewrite.Identical: "the prompt was repeated",
	rewrite.Extends:   "the prompt repeats everything the session was sent, and adds something",
	rewrite.Revises:   "the prompt repeats most of what the session was sent; the task is named",
	rewrite.Unrelated: "the prompt is another template; the task is named",

	rewrite.RefusedUnknown:  "the tool did not know the session",
	rewrite.RefusedOtherID:  "the tool answered under another ID",
	rewrite.RefusedBusy:     "the tool found the session in use",
	rewrite.RefusedNoResume: "the tool does not resume",
	rewrite.RefusedContext:  "the session's context was exceeded",
	rewrite.RefusedBroken:   "the tool could not read the session's transcript",
	rewrite.RefusedSilent:   "the tool refused the session without a reason",
	rewrite.LateStdin:       "more of the prompt came on stdin after the tool was started",

	rewrite.DeltaOff:         "the configuration requires the whole prompt",
	rewrite.Compacted:        "the tool has shortened the session's history",
	rewrite.OtherTemplate:    "the session knows little of the prompt",
	rewrite.NothingNew:       "the prompt is identical, and the configuration resumes it",
	rewrite.ShortPrompt:      "the prompt is short",
	rewrite.SavesTooLittle:   "a delta would save less than a third",
	rewrite.SentAgain:        "a rule or the tool requires a part that the session has to be sent in each turn",
	rewrite.NoCleanCut:       "the new part cannot be separated from the known part",
	rewrite.LooksLikeCommand: "the tool would take the new part for a command",
}

// meaning says in a sentence what a reason means.
func meaning(r rewrite.Reason) string {
	if sentence, ok := meanings[r]; ok {
		return sentence
	}
	return "a reason that this shimctl does not know: " + strings.ReplaceAll(string(r), "_", " ")
}

// checkReason refuses a reason that there is not.
func checkReason(r rewrite.Reason) error {
	if _, known := meanings[r]; known || r == "" {
		return nil
	}
	var known []string
	for reason := range meanings {
		known = append(known, string(reason))
	}
	hint := "docs/reference/reasons.md lists the reasons"
	slices.Sort(known)
	if near := config.Nearest(string(r), known); near != "" {
		hint = fmt.Sprintf("did you mean %q", near)
	}
	return usageError{fmt.Sprintf("there is no reason %q", r), hint}
}

func reasonCompletions() (list []string) {
	for _, r := range slices.Sorted(maps.Keys(meanings)) {
		list = append(list, string(r)+"\t"+meanings[r])
	}
	return list
}
