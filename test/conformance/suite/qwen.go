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
	pause:  "SLOW",
	modest: true,
	rows: map[string]row{
		"tool use":        {prompt: "RUNTOOL please", options: list("--yolo")},
		"unknown session": {prompt: "hi", options: list("--resume|" + unknownID)},
	},
	own: map[string]call{
		"a word": {Args: list("hi remember number 456")},
		"json":   {Args: list("-p|hi remember number 456|-o|json")},
		"stream-json": {Args: list(
			"--output-format=stream-json|-p|hi remember number 456")},
		"partial messages": {Args: list(
			"-o|stream-json|--include-partial-messages|-p|hi remember number 456")},
		"no such tool, text":       {Args: list("-p|RUNTOOL please")},
		"broken, text":             {Args: list("-p|BADTOOL")},
		"chosen session":           {Args: list("-p|hi|-o|json|--session-id|" + unknownID)},
		"no session kept":          {Args: list("-p|hi|--no-chat-recording")},
		"stdin only":               {Stdin: "hi remember number 9\n"},
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
		"nested":     {Args: list("-p|hi"), Env: []string{"QWEN_CODE=1"}},
		"help":       {Args: list("--help")},
	},
	jobs: map[string][]call{
		"own resume, text": {{Args: list("-p|remember number 7")},
			{Args: list("-p|what number|-r|{id}")}},
		"own resume, stream": {{Args: list("-p|remember number 7")},
			{Args: list("-p|what number|-c|-o|stream-json")}},
		"own fork, json": {{Args: list("-p|remember number 7")},
			{Args: list("-p|what number|-r|{id}|--fork-session|-o|json")}},
		"other directory": {{Args: list("-p|remember number 7"),
			Files: map[string]string{"a": ""}},
			{Args: list("-p|what number|-r|{id}"), Dir: ".git"}},
		"id in use": {{Args: list("-p|remember number 7")},
			{Args: list("-p|what number|--session-id|{id}")}},
		"two jobs": {{Args: list("-p|remember number 7")},
			{Args: list("-p|what number")}},
		"after an overflow": {{Args: list("-p|remember number 7")},
			{Args: list("-p|TOOBIG|-r|{id}")}, {Args: list("-p|what number|-r|{id}")}},
		"settings migrated": {{Args: list("-p|hi"),
			Files: map[string]string{".env": "", "QWEN.md": "Be brief."}},
			{Args: list("-p|hi there")}},
		"resumed in all ways": {{Args: list("-p|remember number 7|-o|json")},
			{Args: list("-p|what number|-o|json|-r|{id}")}},
	},
	resume: func(id string) []string {
		return []string{"--resume", id, "-p", "what number was it?"}
	},
	managed: list("text|json|stream-json|stdin only|401, text"),
}
