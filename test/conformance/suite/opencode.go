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
	pause:  "HANG",
	modest: true,
	rows: map[string]row{
		"unknown session": {prompt: "hi", options: list("-s|ses_0123456789abcdefghijklmnop")},
		"tool use":        {prompt: "RUNTOOL please", options: list("--auto")},
	},
	own: map[string]call{
		"json":           {Args: list("run|--format|json|hi remember number 456")},
		"several words":  {Args: list(`run|hi|"remember" number 4|--|-x|--y z`)},
		"stdin":          {Args: list("run"), Stdin: "\nhi remember number 9\n\n"},
		"stdin, json":    {Args: list("run|--format=json"), Stdin: "hi remember number 9"},
		"tool use, json": {Args: list("run|RUNTOOL please|--format|json")},
		"a log as output, text": {Args: list(
			"run|RUN<<grep -m1 created $HOME/.local/share/opencode/log/opencode.log>>|--auto")},
		"thinking":          {Args: list("run|hi|--thinking")},
		"own log, text":     {Args: list("run|hi|--print-logs")},
		"quiet log, text":   {Args: list("run|hi|--log-level|ERROR")},
		"bad history, text": {Args: list("run|BADTOOL")},
		"bad format":        {Args: list("run|hi|--format|xml")},
		"unknown agent":     {Args: list("run|hi|--agent|nobody")},
		"unknown model":     {Args: list("run|hi|-m|nobody/nothing")},
		"no prompt":         {Args: list("run")},
		"slash command":     {Args: list("run|/status")},
		"another directory": {Args: list("run|hi|--dir|..")},
		"a file":            {Args: list("run|hi|-f|.git/HEAD")},
		"nested":            {Args: list("run|hi"), Env: []string{"OPENCODE=1"}},
		"list of sessions":  {Args: list("session|list")},
		"help":              {Args: list("run|--help")},
	},
	jobs: map[string][]call{
		"own resume, text": {{Args: list("run|remember number 7")},
			{Args: list("run|what number|-s|{id}")}},
		"own resume, json": {{Args: list("run|remember number 7")},
			{Args: list("run|what number|--format|json|--session={id}")}},
		"own copy, json": {{Args: list("run|remember number 7")},
			{Args: list("run|what number|--format|json|--session={id}|--fork")}},
		"the latest, text": {{Args: list("run|remember number 7")},
			{Args: list("run|what number|-c")}},
		"two jobs": {{Args: list("run|remember number 7")},
			{Args: list("run|what number")}},
	},
	resume:  func(id string) []string { return []string{"run", "-s", id, "what number was it?"} },
	managed: list("text|json|stdin|401, text"),
}
