package suite

func init() { clis["copilot"] = copilot }

var copilot = cli{
	formats: []format{
		{"text", nil, true},
		{"silent", list("-s"), true},
		{"json", list("--output-format|json"), true},
	},
	ask:    promptOption,
	stdin:  list("--no-color"),
	tools:  list("--allow-all-tools"),
	nested: "copilot -p hi </dev/null 2>/dev/null",
	inside: "COPILOT_CLI=1",
	pause:  "HANG",
	modest: true,
	own: map[string]call{
		"silent":        {Args: list("-sp|hi remember number 456")},
		"json":          {Args: list("--output-format=json|-phi remember number 456")},
		"json, silent":  {Args: list("--output-format=json|--silent|-p|hi")},
		"stdin only":    {Stdin: "\nhi remember number 9\n\n"},
		"stdin, silent": {Args: list("-s"), Stdin: "hi remember number 9"},
		"stdin, json": {Args: list("--output-format|json"),
			Stdin: "hi <remember> & number 9\n"},
		"tool use, json":     {Args: list("-p|RUNTOOL please|--yolo|--output-format|json")},
		"no streaming, json": {Args: list("-p|hi|--stream|off|--output-format|json")},
		"403, silent":        {Args: list("-p|HTTP403|-s")},
		"bad format":         {Args: list("-p|hi|--output-format|xml")},
		"chosen session": {Args: list("-p|hi|--output-format|json|--session-id|" +
			unknownID)},
		"two prompts":          {Args: list("-s|-p|hi|-p|hi remember number 3")},
		"no prompt":            {Args: list("-s|-p|")},
		"words":                {Args: list("-s|what|number")},
		"slash command":        {Args: list("-s|-p|/nosuch thing")},
		"a file mentioned":     {Args: list("-s|-p|see @nosuch.txt")},
		"a key in the prompt":  {Args: list("--output-format|json|-p|hi stand-in")},
		"the caller's figures": {Args: list("-s|-p|hi|--usage-output-file|usage.json")},
		"another directory":    {Args: list("-s|-p|hi|-C|..")},
		"unknown directory":    {Args: list("-s|-p|hi|-C|nosuch")},
	},
	then: map[string]call{
		"the last session":   {Args: list("-p|what number|-s|--continue")},
		"resumed elsewhere":  {Args: list("-C|..|-s|-p|what number|--resume={id}")},
		"an id in use, json": {Args: list("-p|what number|--output-format|json|--session-id|{id}")},
	},
	again: resumeOption,
	guard: guard{file: "~/.copilot/hooks/guard.json", prompt: "userPromptSubmitted",
		start: "sessionStart", matcher: "startup|new", blocked: "2 resumed",
		text: `{"version":1,"hooks":{"EVENT":[` +
			`{"type":"command","bash":"COMMAND","matcher":"MATCHER"}]}}`},
}
