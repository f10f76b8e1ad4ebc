package suite

func init() { clis["opencode"] = opencode }

var opencode = cli{
	formats: []format{
		{"text", nil, true},
		{"json", list("--format|json"), true},
	},
	ask: func(f format, prompt string) []string {
		return append([]string{"run", prompt}, f.args...)
	},
	stdin:  list("run"),
	tools:  list("--auto"),
	nested: "opencode run hi </dev/null 2>/dev/null",
	inside: "OPENCODE=1",
	pause:  "HANG",
	modest: true,
	// on a busy machine it prints one to three of them without the shim too
	brokenPipes: true,
	rows: map[string]row{
		"unknown session": {prompt: "hi", options: list("-s|ses_0123456789abcdefghijklmnop")},
	},
	own: map[string]call{
		"several words":  {Args: list(`run|hi|"remember" number 4|--|-x|--y z`)},
		"stdin only":     {Args: list("run"), Stdin: "\nhi remember number 9\n\n"},
		"stdin, json":    {Args: list("run|--format=json"), Stdin: "hi remember number 9"},
		"tool use, json": {Args: list("run|RUNTOOL please|--format|json")},
		"a log as output, text": {Args: list(
			"run|RUN<<grep -m1 created $HOME/.local/share/opencode/log/opencode.log>>|--auto")},
		"thinking":          {Args: list("run|hi|--thinking")},
		"own log, text":     {Args: list("run|hi|--print-logs")},
		"quiet log, text":   {Args: list("run|hi|--log-level|ERROR")},
		"bad format":        {Args: list("run|hi|--format|xml")},
		"unknown agent":     {Args: list("run|hi|--agent|nobody")},
		"unknown model":     {Args: list("run|hi|-m|nobody/nothing")},
		"slash command":     {Args: list("run|/status")},
		"another directory": {Args: list("run|hi|--dir|..")},
		"a file":            {Args: list("run|hi|-f|.git/HEAD")},
		"list of sessions":  {Args: list("session|list")},
		"help":              {Args: list("run|--help")},
	},
	then: map[string]call{
		"own copy, json":   {Args: list("run|what number|--format|json|--session={id}|--fork")},
		"the latest, text": {Args: list("run|what number|-c")},
	},
	again: func(f format, id, prompt string) []string {
		return append([]string{"run", prompt, "-s", id}, f.args...)
	},
	guard: guard{file: ".opencode/plugin/guard.js", prompt: "chat.message", start: "load",
		text: `import { appendFileSync } from "fs";
const ran = () => appendFileSync("hook.log", "ran\n");
export const Guard = async () => {
	if ("EVENT" == "load") ran();
	return { "EVENT": async (_, { parts }) => {
		const prompt = parts.map(part => part.text).join("");
		const [round] = prompt.match(/Rejection \d/g)?.reverse() ?? [];
		ran();
		appendFileSync("hook.prompts", prompt);
		if ("COMMAND".endsWith(" blocks") && round == "Rejection 1") throw new Error("blocked");
	} };
}`},
}
