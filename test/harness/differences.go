package harness

import (
	"regexp"
	"slices"
	"strings"
)

// A variation is a text that can differ between two runs of the same call, even without the shim.
type variation struct {
	pattern *regexp.Regexp
	with    string
	reason  string
}

// cursor lists the variations in the places where a terminal shows the cursor.
var cursor = variations([]struct{ pattern, with, reason string }{
	{`\x1b\[\?25l(\x1b\[\?25h)`, "$1",
		"claude at a terminal may hide its cursor for a moment before it ends"},
})

// differences lists everything else.
var differences = variations([]struct{ pattern, with, reason string }{
	{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "ID",
		"sessions, messages and requests have random IDs"},
	{`\b[0-9a-f]{64}\b`, "DIGEST", "gemini until 0.2x names a directory after the project's " +
		"path; vibe names the parts of an export after IDs and times in them"},
	{`"user_id": "[^\n]*"`, `"user_id": "ID"`, "claude generates a random user ID for each home"},
	{`\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)`, "TIME", "the time of day"},
	{`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d+Z`, "TIME", "the time of day in gemini's file names"},
	{`((duration|ttft|time_to|first_content)[a-z_]*":)\d+`, "${1}0",
		"claude reports its own timings"},
	{`(Total duration \([a-z]+\)|wall\)):\s+[\d.smh]+`, "$1: T", "claude reports its own timings"},
	{`vibe-scratchpad-[0-9a-z]+-\w+`, "SCRATCHPAD",
		"vibe, until 2.25, creates a directory with a random name for each run"},
	{`turn-[0-9a-f]{32}(-\d+)?`, "TURN",
		"vibe gives turns random numbers, and counts their entries over a session"},
	{`("type":"effect"[^\n]*"state":\{)"[^\n]*`, "$1",
		"vibe orders the keys of a tool's state differently in each run"},
	{`"REPRISE_(GUARD|INSIDE)",`, "", "vibe records the names of its variables; the shim's " +
		"marks must be among them, for nested calls"},
	{`("timestamp":)\d{13}`, "${1}0", "the time of droid's events"},
	{`("ttft_ms":)[\d.]+`, "${1}0", "droid reports how long the model took to begin"},
	{`"cache_read_input_tokens":\d+,"cache_creation_input_tokens":\d+,"factory_credits"`, "TOKENS",
		"those names are some tokens of droid's prompt"},
	{` REPRISE_(GUARD|INSIDE)\b`, "", "droid tells the model the names of its variables; the " +
		"shim's marks must be among them, for nested calls"},
	{`("(random_seed|time_unix_ms)":)\d+`, "${1}0",
		"vibe records random choices and times in an export"},
	{`(At"|durationMs"): ?[\d.]+`, "$1:0", "vibe reports its own timings"},
	{`\d{4}-\d\d-\d\d \d\d:\d\d[\d:.]*`, "TIME", "the time of day that vibe sends to the model"},
	{`((Ms|duration_ms)": ?)\d+`, "${1}0", "gemini reports its own timings"},
	{`(total duration: )\d+ms`, "${1}T", "gemini reports its hooks' timings"},
	{`\[STARTUP\].*\n`, "", "gemini warns about phases of its start in some runs, at a terminal " +
		"in the midst of a line too"},
	{`(\\u003c|<)available_skills.*?/available_skills`, "SKILLS",
		"gemini lists its skills in the order in which their files were read"},
	{`("enum": \[)\s+("skill-creator",\s+"antigravity-support"|"antigravity-support",\s+"skill-creator")|(agent skill by name \(Available: )[^)]*`, "${1}${3}SKILLS",
		"gemini lists its skills in the order in which their files were read"},
	{`(started_at_unix_ms\\":)\d+`, "${1}0",
		"codex sends the model the time at which a turn began"},
	{`((succeeded|exited -?\d+) in )\d+m?s`, "${1}0ms", "codex reports its tools' timings"},
	{`(Wall time: )[\d.]+`, "${1}0", "codex reports its tools' timings to the model too"},
	{`(Chunk ID: )[0-9a-f]+`, "${1}ID", "codex gives tool outputs random numbers"},
	{`\\"workspaces\\":\{.*?\}\},`, "", "codex includes git information only if git was fast"},
	{`(?m)^Package extraction took \d+ms\n`, "", "copilot reports that it unpacked itself slowly"},
	{`(?m)^\{"type":"(session\.background_tasks_changed|tool\.shell_output|tool\.execution_partial_result)".*\n`, "", "copilot reports what its shell does as it notices it"},
	{`(total retry wait time: )[\d.]+`, "${1}T",
		"copilot waits for a random time before it asks again"},
	{`(?m)^(Duration {3}).*`, "${1}T", "copilot reports its own timings"},
	{`(?m)(\(shell\)) +[\dhms. ]+$`, "$1 T", "copilot reports its own timings"},
	{`("context_current_tokens":)\d+`, "${1}0",
		"random IDs in copilot's prompt are some tokens more or fewer: direct calls alone differ"},
	{`chat_\d+|\bcall\d{5}\b|(msg|toolu|req)_[0-9a-zA-Z]+`, "call$1",
		"the stand-in numbers its answers over all requests, some of which are timed"},
	{`127\.0\.0\.1:\d+`, "MODEL", "each world has its own stand-in"},
	{`cch=[0-9a-f]+`, "cch", "claude's checksum over IDs and times"},
	{`cc-socks/\d+`, "cc-socks/PID", "process IDs"},
	{`("pid":)\d+`, "${1}0", "process IDs in claude's answer to initialize"},
	{`(thread '[a-z-]+' \()\d+`, "${1}ID", "codex names the thread that panics"},
	{`(Background PIDs|Process Group PGID): \d+`, "$1: PID", "process IDs"},
	{`(ses|prt)_[0-9a-f]{12}[0-9A-Za-z]{14}`, "$1", "opencode gives sessions and parts random IDs"},
	{`("(timestamp|start|end)":)\d{13}`, "${1}0", "the time of day in opencode's events"},
	{`("snapshot":")[0-9a-f]{40}`, "${1}COMMIT",
		"opencode commits the project's state to a repository of its own"},
	{`("callID":")call\d+`, "${1}call",
		"the stand-in numbers its answers over all requests, some of which are timed"},
	{`timestamp=TIME level=\w+ run=[0-9a-f]{8}`, "LOG", "opencode's log names its run"},
	{`\btime\.(created|updated)=\d{13}`, "time.$1=0", "the time of day in opencode's log"},
	{`\b(slug=|err_)[0-9a-z-]+`, "$1", "opencode names sessions and failures at random"},
	{`"date":"[^"]*"`, `"date":""`, "opencode shows the headers of a failed request"},
	{`(run_shell_command_)+\d+_`, "TOOL_", "gemini names a tool call after the time of day"},
})

func variations(list []struct{ pattern, with, reason string }) (all []variation) {
	for _, d := range list {
		all = append(all, variation{regexp.MustCompile(d.pattern), d.with, d.reason})
	}
	return all
}

// Mask removes everything from a text that can differ, and the world's own directory.
func (w *World) Mask(text string) string {
	text = mask(text, cursor) // also where it is among the digits
	text = strings.ReplaceAll(text, digits, "(10 KB)")
	text = strings.ReplaceAll(text, w.Root, "ROOT")
	text = strings.ReplaceAll(text, dashed.ReplaceAllString(w.Root, "-"), "ROOT")
	return mask(text, differences)
}

func mask(text string, list []variation) string {
	for _, v := range list {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	return text
}

// digits is a piece of the stand-in's 5 MB. Each pattern would search all of them for seconds.
var digits = strings.Repeat("0123456789", 1000)

// dashed matches the characters of a path that claude replaces to make a directory's name.
var dashed = regexp.MustCompile(`[^a-zA-Z0-9]`)

// A Difference is a call that can end otherwise with the shim, and why.
type Difference struct {
	tools, scenario string // with | between; a regexp
	Reason          string
	// it depends on chance; in all others the shim does better, in each run
	Chance bool
}

// deliberate is the list that docs/explanation/transparency.md shows to users.
var deliberate = []Difference{
	{"gemini", `^(TERM|INT|HUP) in the middle|^TERM at moment`,
		"gemini restarts itself as a child process and does not forward signals to it; the shim " +
			"does", false},
	{"gemini", `^KILL (in the middle|at the end)`,
		"if gemini is killed, that child process continues; if the shim is killed, the tool " +
			"ends too", false},
	{"qwen",
		`^(TERM|INT|HUP|KILL) in the middle|^Ctrl-C, at a terminal|^TERM at moment|^KILL at the end`, "if a signal ends qwen, the child process that it has restarted itself as continues; with the shim that ends too", false},
	{"qwen", `^(5 MB answer, text|reader leaves)$`, "qwen exits before a pipe has taken all of one",
		true},
	{"qwen", `^(401|overflow|nothing), (json|stream), at a terminal$`,
		"the shim reads the two streams of a terminal one by one: what qwen writes in the same " +
			"moment may change its order", true},
	{"codex|opencode", `^own resume of each id$`,
		"a copied session loses the cached prefix, so both calls share one session, which " +
			"contains both; once the caller resumes it, it is the caller's", false},
	{"copilot", `^(TERM|INT|HUP) (in the middle|at the end)|^TERM at moment`,
		"its npm package waits for the program and does not forward signals to it; the shim does",
		false},
	{"copilot", `^KILL at the end`, "if its npm package is killed, the program continues; if " +
		"the shim is killed, both end", false},
	{"copilot", `^(TERM|INT|HUP) to the group$`,
		"a signal for all ends its npm package first, and a quarter of a second later the " +
			"program's last line is cut off, as a background process's output", false},
	{"opencode", `^own log`, "opencode logs what it does at the same time in any order", true},
	{"copilot|vibe", `^own resume of each id$`,
		"it cannot copy a session, so both calls share one, which contains both; once the " +
			"caller resumes it, it is the caller's", false},
}

// Deliberate reports whether a call with the shim can differ in a scenario, and why.
func Deliberate(tool, scenario string) (d Difference, ok bool) {
	for _, d := range deliberate {
		if slices.Contains(strings.Split(d.tools, "|"), tool) &&
			regexp.MustCompile(d.scenario).MatchString(scenario) {
			return d, true
		}
	}
	return Difference{}, false
}

var figures = regexp.MustCompile(
	`(?m)^(Changes {4}|Duration {3}|Requests {3}|AI Credits |Tokens {5}).*\n`)

// WithoutFigures leaves out the figures at the end of copilot's text: a resumed call shows none.
func WithoutFigures(text string) string { return figures.ReplaceAllString(text, "") }
