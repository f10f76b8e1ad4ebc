package suite

import (
	"regexp"
	"strings"

	"reprise/test/harness"
)

var claude = cli{
	formats: []format{
		{name: "text"},
		{"json", list("--output-format|json"), false},
		{"verbose", list("--output-format|json|--verbose"), false},
		{"stream", list("--output-format|stream-json|--verbose|--include-partial-messages"), true},
	},
	ask:     func(f format, prompt string) []string { return append([]string{"-p", prompt}, f.args...) },
	stdin:   list("-p"),
	tools:   list("--allowedTools|Bash"),
	same:    list("--thinking-display|summarized"),
	nested:  "claude -p hi </dev/null",
	pause:   "HANG",
	own:     merged(claudeCalls, framesCalls),
	jobs:    claudeJobs,
	resume:  func(id string) []string { return []string{"-p", "what number was it?", "--resume", id} },
	window:  claudeWindow,
	passed:  list("version|unknown flag|unknown session, text"),
	managed: list("text|json|stream-json|stdin only|401, text|window of a resumed call"),
}

var claudeWindows = regexp.MustCompile(`"model":"[^"]*"|"[^"]*":\{"inputTokens"|"contextWindow":\d+`)

// claudeWindow returns the model that claude says it uses, and the context windows of those that it
// has used.
func claudeWindow(r harness.Result) string {
	return strings.Join(claudeWindows.FindAllString(r.Stdout, -1), "\n")
}

// claudeJobs are sequences of calls.
var claudeJobs = map[string][]call{
	"own resume, text":         {{Args: list("-p|remember number 7")}, {Args: list("-p|what number|--resume|{id}")}},
	"own resume, json":         {{Args: list("-p|remember number 7")}, {Args: list("-p|what number|--resume|{id}|--output-format|json")}},
	"own resume, stream":       {{Args: list("-p|remember number 7")}, {Args: list("-p|what number|--resume={id}|--output-format|stream-json|--verbose")}},
	"own continue":             {{Args: list("-p|remember number 7")}, {Args: list("-cp|what number")}},
	"own fork":                 {{Args: list("-p|remember number 7")}, {Args: list("-p|what number|--resume|{id}|--fork-session|--output-format|json")}},
	"resume after overflow":    {{Args: list("-p|remember number 7")}, {Args: list("-p|TOOBIG|-r|{id}")}, {Args: list("-p|what number|-r|{id}")}},
	"resume elsewhere":         {{Args: list("-p|remember number 7")}, {Args: list("-p|what number|-r|{id}"), Dir: ".git"}},
	"own resume, verbose":      {{Args: list("-p|remember number 7")}, {Args: list("-p|what number|--resume|{id}|--output-format|json|--verbose")}},
	"own resume, partial":      {{Args: list("-p|remember number 7")}, {Args: list("-p|what number|--resume|{id}|--output-format|stream-json|--verbose|--include-partial-messages")}},
	"own resume, frames":       {{Args: frames(), Stdin: initialize + message("remember number 7")}, {Args: frames("--resume={id}"), Stdin: initialize + message("what number")}},
	"own fork, stream":         {{Args: list("-p|remember number 7")}, {Args: list("-p|what number|--resume|{id}|--fork-session|--output-format|stream-json|--verbose")}},
	"resume elsewhere, stream": {{Args: list("-p|remember number 7")}, {Args: list("-p|what number|-r|{id}|--output-format|stream-json|--verbose"), Dir: ".git"}},
	"resume after overflow, stream": {{Args: list("-p|remember number 7")}, {Args: list("-p|TOOBIG|-r|{id}|--output-format|stream-json|--verbose")},
		{Args: list("-p|what number|-r|{id}|--output-format|stream-json|--verbose")}},
	"two jobs": {{Args: list("-p|remember number 7")}, {Args: list("-p|what number")}},
}

// claudeCalls are single calls.
var claudeCalls = map[string]call{
	"text":                       {Args: list("-p|hi remember number 456")},
	"json":                       {Args: list("-p|hi remember number 456|--output-format|json")},
	"json, verbose":              {Args: list("-p|hi remember number 456|--output-format|json|--verbose")},
	"stream-json":                {Args: list("-p|hi remember number 456|--output-format|stream-json|--verbose")},
	"stream-json, not verbose":   {Args: list("-p|hi|--output-format|stream-json")},
	"partial messages":           {Args: list("-p|hi|--output-format|stream-json|--verbose|--include-partial-messages")},
	"partial messages as text":   {Args: list("-p|hi|--include-partial-messages")},
	"hook events as text":        {Args: list("-p|hi|--include-hook-events")},
	"several lines, text":        {Args: list("-p|MULTI")},
	"several lines, json":        {Args: list("-p|MULTI|--output-format|json")},
	"several lines, verbose":     {Args: list("-p|MULTI|--output-format|json|--verbose")},
	"empty result, text":         {Args: list("-p|EMPTY")},
	"empty result, json":         {Args: list("-p|EMPTY|--output-format|json")},
	"tool use, text":             {Args: list("-p|RUNTOOL please")},
	"tool use, verbose":          {Args: list("-p|RUNTOOL please|--output-format|json|--verbose")},
	"max turns, text":            {Args: list("-p|RUNTOOL please|--max-turns|1")},
	"max turns, json":            {Args: list("-p|RUNTOOL please|--max-turns|1|--output-format|json")},
	"budget, text":               {Args: list("-p|RUNTOOL please|--max-budget-usd|0.0001")},
	"401, text":                  {Args: list("-p|HTTP401")},
	"401, json":                  {Args: list("-p|HTTP401|--output-format|json")},
	"429, text":                  {Args: list("-p|HTTP429")},
	"429, json":                  {Args: list("-p|HTTP429|--output-format|json")},
	"500, text":                  {Args: list("-p|HTTP500")},
	"500, json":                  {Args: list("-p|HTTP500|--output-format|json")},
	"overflow, text":             {Args: list("-p|TOOBIG")},
	"broken transcript, text":    {Args: list("-p|BADTOOL")},
	"unknown flag":               {Args: list("-p|hi|--no-such-flag")},
	"bad format":                 {Args: list("-p|hi|--output-format|xml")},
	"unknown session, text":      {Args: list("-p|hi|--resume|" + unknownID)},
	"unknown session, json":      {Args: list("-p|hi|--resume|" + unknownID + "|--output-format|json")},
	"unknown session, stream":    {Args: list("-p|hi|--resume|" + unknownID + "|--output-format|stream-json|--verbose")},
	"chosen session":             {Args: list("-p|hi|--session-id|" + unknownID + "|--output-format|json")},
	"stdin only":                 {Args: list("-p"), Stdin: "hi remember number 9\n"},
	"stdin without -p":           {Stdin: "hi remember number 9\n"},
	"stdin only, json":           {Args: list("-p|--output-format|json"), Stdin: "hi remember number 9\n"},
	"stdin and argument":         {Args: list("-p|look here"), Stdin: "hi remember number 9\n"},
	"no prompt":                  {Args: list("-p")},
	"tools behind the prompt":    {Args: list("-p|hi|--allowedTools|Bash|Edit")},
	"tools before the prompt":    {Args: list("-p|--allowedTools|Bash|Edit|hi")},
	"tools, then --":             {Args: list("-p|--allowedTools|Bash|Edit|--|hi")},
	"system prompt":              {Args: list("-p|hi|--append-system-prompt|Be brief.")},
	"no session kept":            {Args: list("-p|hi|--no-session-persistence")},
	"slash command":              {Args: list("-p|/cost")},
	"two prompts":                {Args: list("-p|hi|there")},
	"nested":                     {Args: list("-p|hi"), Env: []string{"CLAUDECODE=1"}},
	"mcp list":                   {Args: list("mcp|list")},
	"version":                    {Args: list("--version")},
	"help":                       {Args: list("--help")},
	"error on a terminal, text":  {Args: list("-p|HTTP429"), To: harness.Terminal},
	"error on a terminal, json":  {Args: list("-p|HTTP429|--output-format|json"), To: harness.Terminal},
	"max turns on a terminal":    {Args: list("-p|RUNTOOL x|--max-turns|1"), To: harness.Terminal},
	"broken transcript, json":    {Args: list("-p|BADTOOL|--output-format|json")},
	"overflow, json":             {Args: list("-p|TOOBIG|--output-format|json")},
	"overflow, stream":           {Args: list("-p|TOOBIG|--output-format|stream-json|--verbose")},
	"401, stream":                {Args: list("-p|HTTP401|--output-format|stream-json|--verbose")},
	"max turns, stream":          {Args: list("-p|RUNTOOL please|--max-turns|1|--output-format|stream-json|--verbose")},
	"several lines, stream":      {Args: list("-p|MULTI|--output-format|stream-json|--verbose")},
	"empty result, stream":       {Args: list("-p|EMPTY|--output-format|stream-json|--verbose")},
	"tool use, json":             {Args: list("-p|RUNTOOL please|--output-format|json")},
	"tool use, stream":           {Args: list("-p|RUNTOOL please|--output-format|stream-json|--verbose")},
	"429, stream":                {Args: list("-p|HTTP429|--output-format|stream-json|--verbose")},
	"500, stream":                {Args: list("-p|HTTP500|--output-format|stream-json|--verbose")},
	"broken transcript, stream":  {Args: list("-p|BADTOOL|--output-format|stream-json|--verbose")},
	"unknown session, verbose":   {Args: list("-p|hi|--resume|" + unknownID + "|--output-format|json|--verbose")},
	"unknown session, partial":   {Args: list("-p|hi|--resume|" + unknownID + "|--output-format|stream-json|--verbose|--include-partial-messages")},
	"stdin only, stream":         {Args: list("-p|--output-format|stream-json|--verbose"), Stdin: "hi remember number 9\n"},
	"stdin and argument, json":   {Args: list("-p|look here|--output-format|json"), Stdin: "hi remember number 9\n"},
	"stdin and argument, stream": {Args: list("-p|look here|--output-format|stream-json|--verbose"), Stdin: "hi remember number 9\n"},
	"slash command, json":        {Args: list("-p|/cost|--output-format|json")},
}
