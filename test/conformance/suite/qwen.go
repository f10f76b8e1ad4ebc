package suite

func init() { clis["qwen"] = qwen }

var qwen = cli{
	formats: []format{
		{"text", nil, false},
		{"json", list("-o|json"), false},
		{"stream", list("-o|stream-json"), false},
	},
	ask: func(f format, prompt string) []string {
		return append([]string{"-p", prompt}, f.args...)
	},
	stdin:  list("-o|text"),
	tools:  list("--yolo"),
	nested: "qwen -p hi </dev/null 2>/dev/null",
	inside: "QWEN_CODE=1",
	pause:  "SLOW",
	modest: true,
	own: map[string]call{
		"a word": {Args: list("hi remember number 456")},
		"stream": {Args: list(
			"--output-format=stream-json|-p|hi remember number 456")},
		"partial messages": {Args: list(
			"-o|stream-json|--include-partial-messages|-p|hi remember number 456")},
		"no such tool, text":       {Args: list("-p|RUNTOOL please")},
		"chosen session":           {Args: list("-p|hi|-o|json|--session-id|" + unknownID)},
		"no session kept":          {Args: list("-p|hi|--no-chat-recording")},
		"no option":                {Stdin: "hi remember number 9\n"},
		"stdin and positional":     {Args: list("look|here"), Stdin: "hi remember number 9"},
		"two formats":              {Args: list("-p|hi|-o|json|-o|text")},
		"two prompts":              {Args: list("-p|hi|there")},
		"prompt after --":          {Args: list("--|hi")},
		"no prompt":                {Args: list("-o|json")},
		"slash command":            {Args: list("-p|/nosuch thing")},
		"slash command of its own": {Args: list("-p|/help")},
		"a file that is not there": {Args: list("-p|@nosuch.txt look")},
		"a file": {Args: list("-p|@there.txt look"),
			Files: map[string]string{"there.txt": "remember number 5\n"}},
		"turn limit": {Args: list("-p|RUNTOOL please|--yolo|--max-session-turns|1")},
		"wall time":  {Args: list("-p|HANG|--max-wall-time|2s")},
		"help":       {Args: list("--help")},
	},
	then: map[string]call{
		"own continue":   {Args: list("-p|what number|-c|-o|stream-json")},
		"own fork, json": {Args: list("-p|what number|-r|{id}|--fork-session|-o|json")},
		"id in use":      {Args: list("-p|what number|--session-id|{id}")},
	},
	jobs: map[string][]call{
		"other directory": {{Args: list("-p|remember number 7"),
			Files: map[string]string{"a": ""}},
			{Args: list("-p|what number|-r|{id}"), Dir: ".git"}},
		"settings migrated": {{Args: list("-p|hi"),
			Files: map[string]string{".env": "", "QWEN.md": "Be brief."}},
			{Args: list("-p|hi there")}},
		"resumed in all ways": {{Args: list("-p|remember number 7|-o|json")},
			{Args: list("-p|what number|-o|json|-r|{id}")}},
	},
	again: func(f format, id, prompt string) []string {
		return append([]string{"--resume", id, "-p", prompt}, f.args...)
	},
	guard: guard{file: ".qwen/settings.json", prompt: "UserPromptSubmit", start: "SessionStart"},
}
