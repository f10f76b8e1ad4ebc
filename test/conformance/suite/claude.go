package suite

import (
	"regexp"
	"strings"

	"reprise/test/harness"
)

func init() { clis["claude"] = claude }

var claude = cli{
	formats: []format{
		{name: "text"},
		{"json", list("--output-format|json"), false},
		{"verbose", list("--output-format|json|--verbose"), false},
		{"stream", list("--output-format|stream-json|--verbose|--include-partial-messages"), true},
	},
	others: []format{{"stream", list("--output-format|stream-json|--verbose"), true}},
	ask:    promptOption,
	stdin:  list("-p"),
	tools:  list("--allowedTools|Bash"),
	same:   list("--thinking-display|summarized"),
	nested: "claude -p hi </dev/null",
	inside: "CLAUDECODE=1",
	pause:  "HANG",
	rows: map[string]row{
		"max turns": {prompt: "RUNTOOL please", options: list("--max-turns|1")},
	},
	own: claudeCalls,
	then: map[string]call{
		"own continue": {Args: list("-cp|what number")},
		"own fork": {Args: list(
			"-p|what number|--resume|{id}|--fork-session|--output-format|json")},
		"resume elsewhere": {Args: list("-p|what number|-r|{id}"), Dir: ".git"},
		"own fork, stream": {Args: list(
			"-p|what number|--resume|{id}|--fork-session|--output-format|stream-json|--verbose")},
		"resume elsewhere, stream": {Dir: ".git", Args: list(
			"-p|what number|-r|{id}|--output-format|stream-json|--verbose")},
	},
	jobs: map[string][]call{
		"own resume, frames": {{Args: frames(),
			Stdin: initialize + message("remember number 7")},
			{Args: frames("--resume={id}"), Stdin: initialize + message("what number")}},
		"resume after overflow, stream": {{Args: list("-p|remember number 7")},
			{Args: list("-p|TOOBIG|-r|{id}|--output-format|stream-json|--verbose")},
			{Args: list("-p|what number|-r|{id}|--output-format|stream-json|--verbose")}},
	},
	again: func(f format, id, prompt string) []string {
		return append([]string{"-p", prompt, "--resume", id}, f.args...)
	},
	guard: guard{file: ".claude/settings.json", prompt: "UserPromptSubmit",
		start: "SessionStart"},
	window: claudeWindow,
}

var claudeWindows = regexp.MustCompile(
	`"model":"[^"]*"|"[^"]*":\{"inputTokens"|"contextWindow":\d+`)

// claudeWindow returns the model that claude says it uses, and the context windows of the models
// that it has used.
func claudeWindow(r harness.Result) string {
	return strings.Join(claudeWindows.FindAllString(r.Stdout, -1), "\n")
}

// claudeCalls are single calls.
var claudeCalls = map[string]call{
	"stream-json, not verbose": {Args: list("-p|hi|--output-format|stream-json")},
	"partial messages": {Args: list(
		"-p|hi|--output-format|stream-json|--verbose|--include-partial-messages")},
	"partial messages as text": {Args: list("-p|hi|--include-partial-messages")},
	"hook events as text":      {Args: list("-p|hi|--include-hook-events")},
	"budget, text":             {Args: list("-p|RUNTOOL please|--max-budget-usd|0.0001")},
	"bad format":               {Args: list("-p|hi|--output-format|xml")},
	"chosen session": {Args: list("-p|hi|--session-id|" + unknownID +
		"|--output-format|json")},
	"stdin without -p": {Stdin: "hi remember number 9\n"},
	"stdin only, json": {Args: list("-p|--output-format|json"),
		Stdin: "hi remember number 9\n"},
	"tools behind the prompt":   {Args: list("-p|hi|--allowedTools|Bash|Edit")},
	"tools before the prompt":   {Args: list("-p|--allowedTools|Bash|Edit|hi")},
	"tools, then --":            {Args: list("-p|--allowedTools|Bash|Edit|--|hi")},
	"system prompt":             {Args: list("-p|hi|--append-system-prompt|Be brief.")},
	"no session kept":           {Args: list("-p|hi|--no-session-persistence")},
	"slash command":             {Args: list("-p|/cost")},
	"two prompts":               {Args: list("-p|hi|there")},
	"mcp list":                  {Args: list("mcp|list")},
	"help":                      {Args: list("--help")},
	"error on a terminal, text": {Args: list("-p|HTTP429"), To: harness.Terminal},
	"error on a terminal, json": {Args: list("-p|HTTP429|--output-format|json"),
		To: harness.Terminal},
	"max turns on a terminal": {Args: list("-p|RUNTOOL x|--max-turns|1"), To: harness.Terminal},
	"unknown session, partial": {Args: list("-p|hi|--resume|" + unknownID +
		"|--output-format|stream-json|--verbose|--include-partial-messages")},
	"stdin only, stream": {Args: list("-p|--output-format|stream-json|--verbose"),
		Stdin: "hi remember number 9\n"},
	"slash command, json": {Args: list("-p|/cost|--output-format|json")},
}
