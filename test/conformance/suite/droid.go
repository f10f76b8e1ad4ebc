package suite

func init() { clis["droid"] = droid }

var droid = cli{
	formats: []format{
		{"text", nil, false},
		{"json", list("-o|json"), false},
		{"stream", list("-o|stream-json"), true},
	},
	ask: func(f format, prompt string) []string {
		return append(append([]string{"exec"}, f.args...), prompt)
	},
	stdin:  list("exec"),
	tools:  list("--skip-permissions-unsafe"),
	nested: "droid exec hi </dev/null 2>/dev/null",
	pause:  "SLOW",
	modest: true,
	rows: map[string]row{
		"tool use":        {prompt: "RUNTOOL please", options: list("--auto|high")},
		"unknown session": {prompt: "hi", options: list("-s|" + unknownID)},
	},
	own: map[string]call{
		"json": {Args: list("exec|-o|json|hi remember number 456")},
		"stream-json": {Args: list(
			"exec|--output-format=stream-json|hi remember number 456")},
		"broken, stream":       {Args: list("exec|-o|stream-json|BADTOOL")},
		"bad format":           {Args: list("exec|-o|xml|hi")},
		"unknown fork, stream": {Args: list("exec|-o|stream-json|--fork|" + unknownID + "|hi")},
		"stdin only":           {Args: list("exec"), Stdin: "hi remember number 9\n"},
		"stdin only, stream": {Args: list("exec|-o|stream-json"),
			Stdin: "\nhi remember number 9\n\n"},
		"two prompts":       {Args: list("exec|hi|there")},
		"prompt after --":   {Args: list("exec|--|hi")},
		"no prompt":         {Args: list("exec")},
		"slash command":     {Args: list("exec|/help")},
		"another directory": {Args: list("exec|--cwd|..|hi")},
		"a prompt in a file": {Args: list("exec|-f|there.txt"),
			Files: map[string]string{"there.txt": "remember number 5\n"}},
		"nested": {Args: list("exec|hi"), Env: []string{"REPRISE_INSIDE=droid:1"}},
		"help":   {Args: list("exec|--help")},
	},
	jobs: map[string][]call{
		"own resume, text": {{Args: list("exec|remember number 7")},
			{Args: list("exec|-s|{id}|what number")}},
		"own resume, json": {{Args: list("exec|remember number 7")},
			{Args: list("exec|-o|json|-s|{id}|what number")}},
		"own resume, stream": {{Args: list("exec|remember number 7")},
			{Args: list("exec|-o|stream-json|--session-id={id}|what number")}},
		"own fork, json": {{Args: list("exec|remember number 7")},
			{Args: list("exec|-o|json|--fork|{id}|what number")}},
		"two jobs": {{Args: list("exec|remember number 7")},
			{Args: list("exec|what number")}},
		"after an overflow": {{Args: list("exec|remember number 7")},
			{Args: list("exec|-s|{id}|TOOBIG")}, {Args: list("exec|-s|{id}|what number")}},
	},
	resume: func(id string) []string {
		return []string{"exec", "--fork", id, "what number was it?"}
	},
	managed: list("text|json|stream-json|stdin only|401, text"),
}
