package suite

func init() { clis["codex"] = codex }

var codex = cli{
	formats: []format{
		{name: "text"},
		{"json", list("--json"), true},
	},
	ask: func(f format, prompt string) []string {
		return append(append(list("exec"), f.args...), prompt)
	},
	stdin:  list("exec"),
	tools:  list("--dangerously-bypass-approvals-and-sandbox"),
	nested: "codex exec hi </dev/null 2>/dev/null",
	inside: "CODEX_THREAD_ID=" + unknownID,
	pause:  "HANG",
	own: map[string]call{
		"json by its old name": {Args: list("exec|hi|--experimental-json")},
		"alias":                {Args: list("e|hi")},
		"stdin by dash":        {Args: list("exec|-"), Stdin: "hi remember number 9\n"},
		"stdin by dash, json":  {Args: list("exec|--json|-"), Stdin: "hi remember number 9\n"},
		"stdin, no newline":    {Args: list("exec|look here"), Stdin: "hi remember number 9"},
		"stdin is only space":  {Args: list("exec|look here"), Stdin: " \n\n"},
		"empty prompt":         {Args: []string{"exec", ""}},
		"colours":              {Args: list("exec|--color|always|hi")},
		"tool use, json":       {Args: list("exec|--json|--yolo|RUNTOOL please")},
		"options before exec":  {Args: list("-m|gpt-5.4|-a|never|exec|hi")},
		"options around": {Args: list(
			"exec|-s|read-only|hi|-mgpt-5.4|-c=model_reasoning_effort=low")},
		"unknown flag before":       {Args: list("--no-such-flag|exec|hi")},
		"flag given twice":          {Args: list("exec|--json|--json|hi")},
		"bad value":                 {Args: list("exec|-s|nowhere|hi")},
		"value missing":             {Args: list("exec|hi|-m")},
		"two prompts":               {Args: list("exec|hi|there")},
		"prompt like an option":     {Args: list("exec|--|--json")},
		"prompt like a command":     {Args: list("exec|--|resume")},
		"prompt like a slash":       {Args: list("exec|/status")},
		"unknown session, text":     {Args: list("exec|resume|" + unknownID + "|hi")},
		"unknown session, json":     {Args: list("exec|--json|resume|" + unknownID + "|hi")},
		"not a session, json":       {Args: list("exec|--json|resume|nonsense|hi")},
		"no session kept":           {Args: list("exec|--ephemeral|hi")},
		"one stream, several lines": {Args: list("exec|MULTI"), Mixed: true},
		"other settings' answer":    {Args: list("exec|hi|-o|LAST")},
		"not a session, text":       {Args: list("exec|resume|nonsense|hi")},
		"no prompt to resume with":  {Args: list("exec|resume|" + unknownID)},
		"help":                      {Args: list("exec|--help")},
		"top help":                  {Args: list("--help")},
		"mcp list":                  {Args: list("mcp|list")},
		"answer's file": {Args: list(
			"exec|MULTI|--json|--output-schema|schema.json|--output-last-message=LAST"),
			Files: map[string]string{"schema.json": anyObject}},
	},
	then: map[string]call{
		"own resume, dash":            {Args: list("exec|resume|{id}|-"), Stdin: "what number\n"},
		"own resume, last":            {Args: list("exec|resume|--last|what number")},
		"own resume, other model":     {Args: list("exec|-m|gpt-5.4|resume|{id}|what number")},
		"own resume, no session kept": {Args: list("exec|--ephemeral|resume|{id}|what number")},
		"own fork":                    {Args: list("exec|fork|{id}|what number")},
		"own fork, json":              {Args: list("exec|--json|fork|{id}|what number")},
		"own resume, stdin": {Args: list("exec|resume|{id}|what number"),
			Stdin: "look here\n"},
		"own resume, stdin, json": {Args: list("exec|--json|resume|{id}|what number"),
			Stdin: "look here\n"},
		"own resume, option behind":   {Args: list("exec|resume|{id}|-s|read-only|what number")},
		"own resume, option in front": {Args: list("exec|-s|read-only|resume|{id}|what number")},
		"own resume, elsewhere":       {Args: list("exec|resume|{id}|what number"), Dir: ".git"},
	},
	jobs: map[string][]call{
		"resume after overflow, json": {{Args: list("exec|remember number 7")},
			{Args: list("exec|--json|resume|{id}|TOOBIG")},
			{Args: list("exec|--json|resume|{id}|what number")}},
	},
	again: func(f format, id, prompt string) []string {
		return append(append(list("exec"), f.args...), "resume", id, prompt)
	},
	guard: guard{file: "~/.codex/hooks.json", prompt: "UserPromptSubmit", start: "SessionStart",
		options: list("--dangerously-bypass-hook-trust")},
}

// anyObject is a schema for an answer.
const anyObject = `{"type":"object","properties":{},"additionalProperties":false}`
