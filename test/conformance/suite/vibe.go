package suite

func init() { clis["vibe"] = vibe }

var vibe = cli{
	formats: []format{
		{"text", nil, false},
		{"json", list("--output|json"), false},
		{"streaming", list("--output|streaming"), true},
	},
	ask: func(f format, prompt string) []string {
		return append([]string{"-p", prompt}, f.args...)
	},
	stdin:  list("-p"),
	tools:  list("--auto-approve"),
	nested: "vibe -p hi </dev/null 2>/dev/null",
	pause:  "HANG",
	modest: true,
	rows: map[string]row{
		"tool use":        {prompt: "RUNTOOL please", options: list("--auto-approve")},
		"unknown session": {prompt: "hi", options: list("--resume=" + unknownID)},
	},
	own: map[string]call{
		"json":      {Args: list("--output|json|-p|hi remember number 456")},
		"streaming": {Args: list("-phi remember number 456|--output=streaming")},
		"stdin":     {Args: list("-p"), Stdin: "\nhi remember number 9\n\n"},
		"stdin, streaming": {Args: list("--output|streaming|--prompt="),
			Stdin: "hi remember number 9"},
		"stdin without -p":    {Stdin: "hi\n"},
		"max turns, text":     {Args: list("-p|RUNTOOL please|--yolo|--max-turns|1")},
		"500, json":           {Args: list("-p|HTTP500|--output|json")},
		"bad format":          {Args: list("-p|hi|--output|xml")},
		"two prompts":         {Args: list("-p|hi|-p|hi remember number 3|there")},
		"no prompt":           {Args: list("-p")},
		"slash command":       {Args: list("-p|/status")},
		"another directory":   {Args: list("-p|hi|--workdir|..")},
		"the caller's export": {Args: list("-p|hi|--output|json|--output-dir|out")},
		"nested":              {Args: list("-p|hi"), Env: []string{"REPRISE_INSIDE=vibe:1"}},
	},
	jobs: map[string][]call{
		"own resume, text": {{Args: list("-p|remember number 7")},
			{Args: list("-p|what number|--resume={id}")}},
		"own resume, json": {{Args: list("-p|remember number 7")},
			{Args: list("-p|what number|--output|json|--resume={id}")}},
		"own resume, streaming": {{Args: list("-p|remember number 7")},
			{Args: list("-p|what number|--output|streaming|--resume={id}")}},
		"two jobs": {{Args: list("-p|remember number 7")},
			{Args: list("-p|what number")}},
	},
	resume: func(id string) []string {
		return []string{"--resume", id, "-p", "what number was it?"}
	},
	managed: list("text|json|streaming|stdin|401, text"),
}
