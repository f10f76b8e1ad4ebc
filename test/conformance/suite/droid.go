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
	inside: "REPRISE_INSIDE=droid:1",
	pause:  "SLOW",
	modest: true,
	own: map[string]call{
		"stream": {Args: list(
			"exec|--output-format=stream-json|hi remember number 456")},
		"bad format":           {Args: list("exec|-o|xml|hi")},
		"unknown fork, stream": {Args: list("exec|-o|stream-json|--fork|" + unknownID + "|hi")},
		"stdin only, stream": {Args: list("exec|-o|stream-json"),
			Stdin: "\nhi remember number 9\n\n"},
		"two prompts":       {Args: list("exec|hi|there")},
		"prompt after --":   {Args: list("exec|--|hi")},
		"slash command":     {Args: list("exec|/help")},
		"another directory": {Args: list("exec|--cwd|..|hi")},
		"a prompt in a file": {Args: list("exec|-f|there.txt"),
			Files: map[string]string{"there.txt": "remember number 5\n"}},
		"help": {Args: list("exec|--help")},
	},
	then: map[string]call{
		"own fork, json": {Args: list("exec|-o|json|--fork|{id}|what number")},
	},
	again: func(f format, id, prompt string) []string {
		return append(append(list("exec|-s"), id, prompt), f.args...)
	},
	guard: guard{file: ".factory/settings.json", start: "SessionStart"},
}
