package suite

import "time"

func init() { clis["gemini"] = gemini }

// geminiCalls are single calls of gemini and its forks.
var geminiCalls = map[string]call{
	"stream": {Args: list(
		"--output-format=stream-json|-p|hi remember number 456")},
	"two formats":              {Args: list("-p|hi|-o|json|-o|text")},
	"two prompts":              {Args: list("-p|hi|there")},
	"chosen session":           {Args: list("-p|hi|-o|json|--session-id|" + unknownID)},
	"no option":                {Stdin: "hi remember number 9\n"},
	"stdin and positional":     {Args: list("look|here"), Stdin: "hi remember number 9"},
	"no prompt":                {Args: list("-o|json")},
	"slash command":            {Args: list("-p|/nosuch thing")},
	"a file that is not there": {Args: list("-p|@nosuch.txt look")},
	"help":                     {Args: list("--help")},
	"positional and -p":        {Args: list("look|-p|hi")},
}

var gemini = cli{
	formats: []format{
		{"text", nil, true},
		{"json", list("-o|json"), false},
		{"stream", list("-o|stream-json"), true},
	},
	ask:    promptOption,
	stdin:  list("-o|text"),
	tools:  list("--yolo"),
	nested: "gemini -p hi </dev/null 2>/dev/null",
	inside: "GEMINI_CLI=1",
	pause:  "SLOW",
	modest: true,
	// with --session-id it waits for its own lock for 100 and 200 ms (0.61.0, strace)
	waits:            300 * time.Millisecond,
	exitsBeforeFlush: true,
	own:              geminiCalls,
	then: map[string]call{
		"own resume, latest": {Args: list("-p|what number|-r|latest|-o|stream-json")},
		"id in use":          {Args: list("-p|what number|--session-id|{id}")},
	},
	again: resumeOption,
	guard: guard{file: ".gemini/settings.json", prompt: "BeforeAgent", start: "SessionStart",
		each: "0 resumed"},
}
