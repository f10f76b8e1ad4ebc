package suite

func init() { clis["vibe"] = vibe }

var vibe = cli{
	formats: []format{
		{"text", nil, false},
		{"json", list("--output|json"), false},
		{"streaming", list("--output|streaming"), true},
	},
	ask:    promptOption,
	stdin:  list("-p"),
	tools:  list("--auto-approve"),
	nested: "vibe -p hi </dev/null 2>/dev/null",
	inside: "REPRISE_INSIDE=vibe:1",
	pause:  "HANG",
	modest: true,
	own: map[string]call{
		"streaming":  {Args: list("-phi remember number 456|--output=streaming")},
		"stdin only": {Args: list("-p"), Stdin: "\nhi remember number 9\n\n"},
		"stdin, streaming": {Args: list("--output|streaming|--prompt="),
			Stdin: "hi remember number 9"},
		"stdin without -p":    {Stdin: "hi\n"},
		"max turns, text":     {Args: list("-p|RUNTOOL please|--yolo|--max-turns|1")},
		"bad format":          {Args: list("-p|hi|--output|xml")},
		"two prompts":         {Args: list("-p|hi|-p|hi remember number 3|there")},
		"slash command":       {Args: list("-p|/status")},
		"another directory":   {Args: list("-p|hi|--workdir|..")},
		"the caller's export": {Args: list("-p|hi|--output|json|--output-dir|out")},
	},
	again: resumeOption,
}
