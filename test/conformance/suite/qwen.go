package suite

import "maps"

// qwen is a fork of gemini.
func init() {
	maps.Copy(qwen.own, geminiCalls)
	clis["qwen"] = qwen
}

var qwen = cli{
	formats: []format{
		{"text", nil, false},
		{"json", list("-o|json"), false},
		{"stream", list("-o|stream-json"), false},
	},
	ask:    promptOption,
	stdin:  list("-o|text"),
	tools:  list("--yolo"),
	nested: "qwen -p hi </dev/null 2>/dev/null",
	inside: "QWEN_CODE=1",
	pause:  "SLOW",
	modest: true,
	own: map[string]call{
		"a word": {Args: list("hi remember number 456")},
		"partial messages": {Args: list(
			"-o|stream-json|--include-partial-messages|-p|hi remember number 456")},
		"no such tool, text":       {Args: list("-p|RUNTOOL please")},
		"no session kept":          {Args: list("-p|hi|--no-chat-recording")},
		"prompt after --":          {Args: list("--|hi")},
		"slash command of its own": {Args: list("-p|/help")},
		"a file": {Args: list("-p|@there.txt look"),
			Files: map[string]string{"there.txt": "remember number 5\n"}},
		"turn limit": {Args: list("-p|RUNTOOL please|--yolo|--max-session-turns|1")},
		"wall time":  {Args: list("-p|HANG|--max-wall-time|2s")},
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
	again: resumeOption,
	guard: guard{file: ".qwen/settings.json", prompt: "UserPromptSubmit", start: "SessionStart"},
}
