package suite

import "time"

func init() { clis["gemini"] = gemini }

var gemini = cli{
	formats: []format{
		{"text", nil, true},
		{"json", list("-o|json"), false},
		{"stream", list("-o|stream-json"), true},
	},
	ask: func(f format, prompt string) []string {
		return append([]string{"-p", prompt}, f.args...)
	},
	stdin:  list("-o|text"),
	tools:  list("--yolo"),
	nested: "gemini -p hi </dev/null 2>/dev/null",
	pause:  "SLOW",
	modest: true,
	// with --session-id it waits for its own lock for 100 and 200 ms (0.61.0, strace)
	waits:            300 * time.Millisecond,
	exitsBeforeFlush: true,
	rows: map[string]row{
		"tool use":        {prompt: "RUNTOOL please", options: list("--yolo")},
		"404":             {prompt: "HTTP404"},
		"unknown session": {prompt: "hi", options: list("--resume|" + unknownID)},
	},
	own: map[string]call{
		"json": {Args: list("-p|hi remember number 456|-o|json")},
		"stream-json": {Args: list(
			"--output-format=stream-json|-p|hi remember number 456")},
		"429, json":                {Args: list("-p|HTTP429|-o|json")},
		"two formats":              {Args: list("-p|hi|-o|json|-o|text")},
		"two prompts":              {Args: list("-p|hi|there")},
		"chosen session":           {Args: list("-p|hi|-o|json|--session-id|" + unknownID)},
		"stdin only":               {Stdin: "hi remember number 9\n"},
		"stdin and positional":     {Args: list("look|here"), Stdin: "hi remember number 9"},
		"no prompt":                {Args: list("-o|json")},
		"slash command":            {Args: list("-p|/nosuch thing")},
		"a file that is not there": {Args: list("-p|@nosuch.txt look")},
		"nested":                   {Args: list("-p|hi"), Env: []string{"GEMINI_CLI=1"}},
		"help":                     {Args: list("--help")},
		"400, text":                {Args: list("-p|HTTP400")},
		"positional and -p":        {Args: list("look|-p|hi")},
	},
	jobs: map[string][]call{
		"own resume, text": {{Args: list("-p|remember number 7")},
			{Args: list("-p|what number|-r|{id}")}},
		"own resume, stream": {{Args: list("-p|remember number 7")},
			{Args: list("-p|what number|-r|latest|-o|stream-json")}},
		"own resume, json": {{Args: list("-p|remember number 7")},
			{Args: list("-p|what number|-r|{id}|-o|json")}},
		"resume after overflow": {{Args: list("-p|remember number 7")},
			{Args: list("-p|TOOBIG|-r|{id}")}, {Args: list("-p|what number|-r|{id}")}},
		"id in use": {{Args: list("-p|remember number 7")},
			{Args: list("-p|what number|--session-id|{id}")}},
		"two jobs": {{Args: list("-p|remember number 7")},
			{Args: list("-p|what number")}},
	},
	resume: func(id string) []string {
		return []string{"--resume", id, "-p", "what number was it?"}
	},
	managed: list("text|json|stream-json|stdin only|401, text"),
}
