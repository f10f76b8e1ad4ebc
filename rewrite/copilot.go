package rewrite

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// copilot is GitHub Copilot CLI. Facts in this file were measured with 1.0.102 unless they name
// another version; docs/internals/copilot.md lists them all.
//
// A call runs in the caller's format, text included: text shows tools at work in a form that json
// does not have. What the output lacks is read from a file that copilot writes for --usage-output-file,
// from the file of the session that is resumed, and for silent text from a file of --share.
type copilot struct{ base }

func init() { Register(copilot{}) }

var copilotDescriptor = Descriptor{
	Name:       "copilot",
	Headless:   []string{"copilot"},
	Unattended: []string{"copilot", "--allow-all", "-p"},
	Subcommands: []string{
		"app", "login", "help", "init", "config", "update", "version", "workflow", "sessions", "memories", "plugin", "mcp",
		"skill", "instruction", "lsp", "sandbox", "completion",
	},
	Alone:     []string{"--help", "-h", "--version", "-v"},
	Nested:    []string{"COPILOT_CLI"}, // set for the commands of its shell tool
	LoginKeys: []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"},
	Provider:  "github",
	Home:      copilotHome,
	Sessions:  []string{"session-state/*/events.jsonl"},
	StandIn: StandIn{
		Env: []string{
			"COPILOT_PROVIDER_BASE_URL=URL/v1", "COPILOT_PROVIDER_API_KEY=stand-in", "COPILOT_MODEL=gpt-4.1",
			"COPILOT_PROVIDER_MAX_PROMPT_TOKENS=400000", "COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false",
		},
		Cache: "COPILOT_CACHE_HOME",
	},
}

func (copilot) Descriptor() *Descriptor { return &copilotDescriptor }

// copilotOptions lists every option of copilot 1.0.102.
var copilotOptions = optionTable{
	{[]string{"-C"}, OneValue, neutral},
	{[]string{"--acp"}, NoValue, server},
	{[]string{"--add-dir"}, OneValue, setting},
	{[]string{"--add-github-mcp-tool"}, OneValue, setting},
	{[]string{"--add-github-mcp-toolset"}, OneValue, setting},
	{[]string{"--additional-mcp-config"}, OneValue, fileSetting},
	{[]string{"--agent"}, OneValue, setting},
	{[]string{"--allow-all", "--yolo"}, NoValue, setting},
	{[]string{"--allow-all-mcp-server-instructions"}, NoValue, setting},
	{[]string{"--allow-all-paths"}, NoValue, setting},
	{[]string{"--allow-all-tools"}, NoValue, setting},
	{[]string{"--allow-all-urls"}, NoValue, setting},
	{[]string{"--allow-tool"}, ManyValues, setting},
	{[]string{"--allow-url"}, ManyValues, setting},
	{[]string{"--assisted-approval"}, NoValue, setting},
	{[]string{"--attachment"}, OneValue, unmanaged},
	{[]string{"--auto-tier"}, OneValue, setting},
	{[]string{"--autopilot"}, NoValue, setting},
	{[]string{"--available-tools"}, ManyValues, setting},
	{[]string{"--banner"}, NoValue, neutral},
	{[]string{"--bash-env"}, OptionalValue, setting},
	{[]string{"--connect"}, OptionalValue, unmanaged},
	{[]string{"--context"}, OneValue, setting},
	{[]string{"--continue"}, NoValue, callerOwned},
	{[]string{"--deny-tool"}, ManyValues, setting},
	{[]string{"--deny-url"}, ManyValues, setting},
	{[]string{"--disable-builtin-mcps"}, NoValue, setting},
	{[]string{"--disable-client-telemetry"}, NoValue, neutral},
	{[]string{"--disable-mcp-server"}, OneValue, setting},
	{[]string{"--disallow-temp-dir"}, NoValue, setting},
	{[]string{"--dynamic-retrieval"}, OneValue, setting},
	{[]string{"--enable-all-github-mcp-tools"}, NoValue, setting},
	{[]string{"--enable-mcp-server"}, OneValue, setting},
	{[]string{"--enable-memory"}, NoValue, setting},
	{[]string{"--environment-compute-id"}, OneValue, unmanaged},
	{[]string{"--environment-host"}, OneValue, unmanaged},
	{[]string{"--excluded-tools"}, ManyValues, setting},
	{[]string{"--experimental"}, NoValue, setting},
	{[]string{"--extension-sdk-path"}, OneValue, setting},
	{[]string{"--fleet"}, NoValue, setting},
	{[]string{"--help", "-h"}, NoValue, admin},
	{[]string{"--interactive", "-i"}, OneValue, admin},
	{[]string{"--log-dir"}, OneValue, neutral},
	{[]string{"--log-level"}, OneValue, neutral},
	{[]string{"--max-ai-credits"}, OneValue, unmanaged}, // of a session, not of a call
	{[]string{"--max-autopilot-continues"}, OneValue, neutral},
	{[]string{"--mcp-github-auth"}, OneValue, setting},
	{[]string{"--mode"}, OneValue, setting},
	{[]string{"--model"}, OneValue, model},
	{[]string{"--mouse"}, OptionalValue, neutral},
	{[]string{"--name", "-n"}, OneValue, unmanaged}, // of a new session
	{[]string{"--no-ask-user"}, NoValue, setting},
	{[]string{"--no-auto-update"}, NoValue, setting},
	{[]string{"--no-bash-env"}, NoValue, setting},
	{[]string{"--no-color"}, NoValue, neutral},
	{[]string{"--no-custom-instructions"}, NoValue, setting},
	{[]string{"--no-eager-powershell-resolution"}, NoValue, neutral},
	{[]string{"--no-experimental"}, NoValue, setting},
	{[]string{"--no-mouse"}, NoValue, neutral},
	{[]string{"--no-remote"}, NoValue, setting},
	{[]string{"--no-remote-export"}, NoValue, setting},
	{[]string{"--output-format"}, OneValue, format},
	{[]string{"--plain-diff"}, NoValue, neutral},
	{[]string{"--plan"}, NoValue, setting},
	{[]string{"--plugin-dir"}, OneValue, setting},
	{[]string{"--prompt", "-p"}, OneValue, neutral},
	{[]string{"--reasoning-effort", "--effort"}, OneValue, setting},
	{[]string{"--remote"}, NoValue, unmanaged},
	{[]string{"--remote-export"}, NoValue, unmanaged},
	{[]string{"--resume", "-r"}, OptionalValue, callerOwned},
	{[]string{"--screen-reader"}, NoValue, neutral},
	{[]string{"--secret-env-vars"}, ManyValues, setting},
	{[]string{"--session-id"}, OneValue, callerOwned},
	{[]string{"--share"}, OptionalValue, unmanaged}, // the whole session
	{[]string{"--share-gist"}, NoValue, unmanaged},
	{[]string{"--silent", "-s"}, NoValue, neutral},
	{[]string{"--stream"}, OneValue, neutral},
	{[]string{"--trust-folder"}, NoValue, setting},
	{[]string{"--usage-output-file"}, OneValue, unmanaged}, // the whole session's figures
	{[]string{"--version", "-v"}, NoValue, admin},
}

// Variables returns the prefix COPILOT_.
func (copilot) Variables() Variables {
	return Variables{
		Settings: []string{"COPILOT_*", "USE_BUILTIN_RIPGREP"},
		Account:  []string{"COPILOT_PROVIDER_*", "COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST", "COPILOT_GH_HOST"},
		Neutral: []string{
			"COPILOT_MODEL", // already counted as the call's model
			"COPILOT_HOME", "COPILOT_CACHE_HOME", "COPILOT_EDITOR", "COPILOT_MULTIPLEXER", "COPILOT_OTEL_*",
		},
	}
}

// copilotOwn is what copilot's calls have of their own.
type copilotOwn struct {
	silent  bool     // text without figures
	secrets []string // what it blanks in json
	learned Probe    // what Args was parsed with
}

func copilotOwnOf(c Call) copilotOwn {
	own, _ := c.Own.(copilotOwn)
	return own
}

func (copilot) Parse(in Invocation) Call {
	call := copilotDescriptor.newCall(in)
	p, _ := parseClap(in.Args, 0, copilotOptions.with(in.Learned), func(string) bool { return false })
	call.readCopilot(p, in)
	switch call.Reason = copilotReason(&call, p, in); call.Reason {
	case "":
		call.Mode = Fresh
	case reason.CallerSession:
		if call.Format == JSON {
			call.Mode = Observe // its last line contains the session ID
		}
	}
	return call
}

// copilotFormats are the values of --output-format. json is a stream of lines.
var copilotFormats = map[string]Format{"text": Text, "json": JSON}

// readCopilot copies into the call every option that does not decide whether it is managed. If an
// option occurs twice, the last counts.
func (c *Call) readCopilot(p parsedArgs, in Invocation) {
	c.Unknown, c.Model = p.unknown, in.Env("COPILOT_MODEL")
	own := copilotOwn{learned: in.Learned}
	hidden := []string{"COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN", "COPILOT_GITHUB_TOKEN", "GITHUB_TOKEN"}
	for _, o := range p.options {
		value := strings.Join(o.values, ",")
		switch o.Kind {
		case setting:
			c.Settings = append(c.Settings, Setting{Name: o.Names[0], Value: value})
		case fileSetting:
			path, file := strings.CutPrefix(value, "@")
			c.Settings = append(c.Settings, Setting{Name: o.Names[0], Value: path, File: file})
		case format:
			c.Format = copilotFormats[value]
		case callerOwned:
			c.SessionID = value
		case model:
			c.Model = value
		}
		switch o.Names[0] {
		case "--prompt":
			c.Prompt = value
			c.promptArgs = append(c.promptArgs, o.span)
		case "-C":
			c.Dir = value
		case "--silent":
			own.silent = true
		case "--secret-env-vars":
			hidden = append(hidden, strings.Split(value, ",")...)
		}
	}
	slices.SortStableFunc(c.Settings, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	for _, name := range hidden {
		if value := in.Env(name); value != "" {
			own.secrets = append(own.secrets, value)
		}
	}
	c.Own = own
	c.Home = copilotHome(in.Env)
	c.SettingsFiles = copilotSettingsFiles(c.Home)
	c.Watched = copilotWatched(c.Home)
	// Data beside a prompt in argv are not read (recordings/copilot/stdin-and-arg).
	if !p.names("--prompt") && !in.StdinTTY {
		c.Stdin, c.Silence = StdinPrompt, SilenceAwaited
	}
}

func copilotHome(env func(string) string) string {
	if dir := env("COPILOT_HOME"); dir != "" {
		return dir
	}
	return env("HOME") + "/.copilot"
}

// copilotState is the file in which copilot keeps its own state. Earlier versions kept the user's settings there, and
// copilot rewrites them.
const copilotState = "/config.json"

// copilotSettingsFiles returns the settings of the user and the project.
func copilotSettingsFiles(home string) []string {
	return []string{
		home + copilotState, home + "/settings.json", ".github/copilot/settings.json", ".github/copilot/settings.local.json",
	}
}

// copilotWatched returns the files that copilot reads on its own at the start of a session.
func copilotWatched(home string) []Watch {
	watched := []Watch{
		{Path: home + "/copilot-instructions.md", Name: "~/.copilot/copilot-instructions.md", Guard: reason.InstructionsChanged},
		{Path: home + "/mcp-config.json", Name: "~/.copilot/mcp-config.json"},
		{Path: home + "/agents/*.md", Name: "~/.copilot/agents"},
		{Path: home + "/hooks/*.json", Name: "~/.copilot/hooks"},
		{Path: ".github/agents/*.md"},
		{Path: ".github/hooks/*.json"},
		{Path: ".github/mcp.json"},
		{Path: ".mcp.json"},
		{Path: ".vscode/mcp.json"},
		{Path: ".github/instructions/*.instructions.md", Guard: reason.InstructionsChanged},
	}
	for _, name := range []string{".github/copilot-instructions.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md"} {
		watched = append(watched, Watch{Path: name, Above: true, Guard: reason.InstructionsChanged})
	}
	return watched
}

// copilotReason returns why the call is not managed, or "".
func copilotReason(c *Call, p parsedArgs, in Invocation) reason.Code {
	why := c.why(&copilotDescriptor, p, in, signs{
		command:     p.startsWith(c.Args, copilotDescriptor.Subcommands),
		interactive: in.StdinTTY && (in.StdoutTTY || p.unknown == "" && !p.bad && !p.names("--prompt")) && c.Prompt == "",
		bad:         len(p.operands) > 0 || c.Format == "" || c.Stdin == StdinUnused && c.Prompt == "",
	})
	if why == "" && prompt.IsSlashCommand(c.Prompt) {
		return reason.SlashCommand
	}
	return why
}

// ResolveWithEnv adds the settings of user and project. It passes through versions that reject
// --usage-output-file, as 1.0.80 does, and unknown ones unless their help lists it.
func (copilot) ResolveWithEnv(c Call, s HostEnv) Call {
	learned := copilotOwnOf(c).learned
	if known := s.Version != "" || learned.Known; !known || s.Version != "" && !atLeast(s.Version, 1, 0, 83) || learned.Known && !learned.Resume {
		c.Mode, c.Reason, c.NoResume = Passthrough, reason.NoResume, true
		return c
	}
	for _, path := range c.SettingsFiles {
		if text, found := s.Settings[path]; found {
			c.Settings = append(c.Settings, copilotSettings(path, text)...)
		}
	}
	return c
}

// copilotAccount are the members of copilot's state that say who is logged in.
var copilotAccount = []string{"lastLoggedInUser", "loggedInUsers"}

// copilotSettings returns what a settings file sets. Comments, formatting, the time of the first
// start, and the older spelling of keys do not count: copilot itself adds or changes them at its start
// (recordings/copilot/migrated).
func copilotSettings(path, text string) []Setting {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "//") {
			lines = append(lines, line)
		}
	}
	var members map[string]json.RawMessage
	text = strings.Join(lines, "")
	if json.Unmarshal([]byte(text), &members) != nil {
		return []Setting{{Name: path, Value: text}}
	}
	var settings []Setting
	if strings.HasSuffix(path, copilotState) {
		delete(members, "firstLaunchAt")
		for _, key := range slices.Sorted(maps.Keys(members)) {
			if name := camelCase(key); slices.Contains(copilotAccount, name) {
				settings = append(settings, Setting{Name: path + " " + name, Value: jsonCompact(string(members[key])), Guard: reason.AuthChanged})
				delete(members, key)
			}
		}
	}
	renamed := map[string]json.RawMessage{}
	for key, value := range members {
		renamed[camelCase(key)] = value
	}
	if len(renamed) == 0 {
		return settings
	}
	plain, err := json.Marshal(renamed)
	if err != nil {
		return append(settings, Setting{Name: path, Value: text})
	}
	return append(settings, jsonSettings(path, string(plain))...)
}

// camelCase returns camelCase for camel_case.
func camelCase(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// ActsOn returns false: a file mention in a headless prompt is sent as it is
// (recordings/copilot/mention).
func (copilot) ActsOn(string) bool { return false }

// Options reports that a version can resume only if it can also write its figures to a file. 1.0.80 cannot.
func (copilot) Options(help string) Probe {
	return readProbe(help, "--prompt", "--resume", "--usage-output-file")
}

// EffectivePrompt returns the prompt as copilot stores it. The model is sent it without the white space at
// its end.
func (copilot) EffectivePrompt(c Call, stdin string) string {
	text := c.Prompt
	if c.Stdin == StdinPrompt {
		text = stdin
	}
	if strings.TrimSpace(text) == "" || prompt.IsSlashCommand(text) {
		return ""
	}
	return text
}

// Files that a run writes for the shim.
const (
	copilotUsageFile = "usage.json"
	copilotShareFile = "session.md"
	copilotEvents    = "events.jsonl"
)

// Plan adds a private --usage-output-file. Silent text names its session nowhere else than in a file of
// --share. A resume gets the new prompt in place of the caller's.
func (copilot) Plan(c Call, t Target) Plan {
	prompt, whole := t.Prompt()
	plan := Plan{
		Resume: t.Session(), Prompt: prompt, Whole: whole, Asked: t.Asked(), Args: slices.Clone(c.Args), ReexecsSelf: true,
		Follow: []Follow{{Dir: Scratch, Name: copilotUsageFile}},
	}
	silent := copilotOwnOf(c).silent
	shows := c.Format == Text && !silent
	plan.ReadStderr, plan.OneStream = shows, shows
	front := []string{"--usage-output-file=" + Scratch + "/" + copilotUsageFile}
	if plan.Resume != "" {
		plan.resumeCopilot(c, t)
		plan.Follow = append(plan.Follow, Follow{Dir: c.Home + "/session-state/" + plan.Resume, Name: copilotEvents, Lines: true})
	} else if silent && c.Format == Text {
		front = append(front, "--share="+Scratch+"/"+copilotShareFile)
		plan.Follow = append(plan.Follow, Follow{Dir: Scratch, Name: copilotShareFile})
	}
	plan.Args = append(front, plan.Args...)
	return plan
}

// resumeCopilot ends a delta as the prompt ends: the model is sent neither's white space there, so the two differ in
// length by what is left out.
func (p *Plan) resumeCopilot(c Call, t Target) {
	if !p.Whole {
		p.Prompt = trimEnd(p.Prompt) + p.Asked[len(trimEnd(p.Asked)):]
	}
	p.Args = removePrompt(p.Args, c.promptArgs)
	front := []string{"--resume=" + p.Resume}
	if t.fromArgv(c) {
		front = append(front, "--prompt="+p.Prompt)
	} else {
		p.Stdin, p.HasStdin = p.Prompt, true
	}
	p.Args = append(front, p.Args...)
}

// SessionPaths returns the session's events; home is copilot's directory.
func (copilot) SessionPaths(home, _, id string) []string {
	return []string{Literal(home) + "/session-state/" + id + "/" + copilotEvents}
}

// SessionFiles returns the session's directory. A process that has it open holds a lock on a file
// that is named after the process.
func (copilot) SessionFiles(home, id, path string) (SessionFiles, bool) {
	dir := "session-state/" + id
	if below(home, path, dir+"/"+copilotEvents) == nil {
		return SessionFiles{}, false
	}
	return SessionFiles{Paths: []string{dir}, Lock: dir + "/inuse.*.hold"}, true
}

// copilotRefusals lists what copilot writes if it does not continue a session: on stderr if it cannot
// load it, in an API error if the history is too long or broken.
var copilotRefusals = refusals{
	{"Error: No session, task, or name matched '", reason.RefusedUnknown},
	{"was found but could not be loaded.", reason.RefusedBroken},
	{"error: unexpected argument '--resume", reason.RefusedNoResume},
	{"maximum context length", reason.RefusedContext},
	{"prompt is too long", reason.RefusedContext},
	{"context_length_exceeded", reason.RefusedContext},
	{"exceeds the context window", reason.RefusedContext},
	{"Not the same number of function calls and responses", reason.RefusedBroken},
	{"ids were found without `tool_result` blocks", reason.RefusedBroken},
	{"must be followed by tool messages", reason.RefusedBroken},
	{"No tool output found for function call", reason.RefusedBroken},
}

// Refused ignores limits, logins, network errors and anything unknown: they do not concern the
// session.
func (copilot) Refused(stderr string, exit int) reason.Code {
	if exit == 0 {
		return ""
	}
	return copilotRefusals.in(stderr)
}
