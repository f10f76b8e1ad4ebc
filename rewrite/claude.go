package rewrite

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// claude is Claude Code. Facts in this file were measured with 2.1.329 unless they name another
// version.
type claude struct{ base }

func init() { Register(claude{}) }

var claudeDescriptor = Descriptor{
	Name:       "claude",
	Headless:   []string{"claude", "-p"},
	Unattended: []string{"claude", "--allowedTools=Bash", "-p"},
	// The subcommands in --help, and hidden or older ones.
	Subcommands: strings.Fields(`agents api-key attach auth auto-mode config daemon doctor experimental-next gateway help
		import install kill logs mcp migrate-installer plugin plugins project purge rc remote-control respawn rm setup-token
		stop ultrareview update upgrade`),
	Alone:     []string{"--help", "-h", "--version", "-v"},
	Nested:    []string{"CLAUDECODE"},
	LoginKeys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"},
	KeepsHour: true,
	Provider:  "anthropic",

	FileLimitKills: true,

	Home:     claudeHome,
	Sessions: []string{"projects/*/*.jsonl"},
	Travels:  true,
	StandIn: StandIn{Env: []string{
		"ANTHROPIC_BASE_URL=URL",
		"ANTHROPIC_API_KEY=stand-in",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_MAX_RETRIES=0",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
	}},
}

func (claude) Descriptor() *Descriptor { return &claudeDescriptor }

// claudeOptions lists every option of claude 2.1.329: those in --help and the undocumented ones
// that callers use.
var claudeOptions = optionTable{
	{[]string{"--add-dir"}, ManyValues, setting},
	{[]string{"--agent"}, OneValue, setting},
	{[]string{"--agents"}, OneValue, fileSetting},
	{[]string{"--allow-dangerously-skip-permissions"}, NoValue, setting},
	{[]string{"--allowed-tools", "--allowedTools"}, ManyValues, setting},
	{[]string{"--append-system-prompt"}, OneValue, setting},
	{[]string{"--append-system-prompt-file"}, OneValue, fileSetting},
	{[]string{"--autocompact"}, OneValue, setting},
	{[]string{"--await-initialize"}, NoValue, setting},
	{[]string{"--ax-screen-reader"}, NoValue, neutral},
	{[]string{"--background", "--bg"}, NoValue, unmanaged},
	{[]string{"--bare"}, NoValue, unmanaged},
	{[]string{"--betas"}, ManyValues, setting},
	{[]string{"--brief"}, NoValue, setting},
	{[]string{"--chrome"}, NoValue, setting},
	{[]string{"--cloud"}, OptionalValue, unmanaged},
	{[]string{"--continue", "-c"}, NoValue, callerOwned},
	{[]string{"--dangerously-skip-permissions"}, NoValue, setting},
	{[]string{"--debug", "-d"}, OptionalValue, neutral},
	{[]string{"--debug-file"}, OneValue, neutral},
	{[]string{"--debug-to-stderr"}, NoValue, neutral},
	{[]string{"--desktop"}, NoValue, unmanaged},
	{[]string{"--disable-slash-commands"}, NoValue, setting},
	{[]string{"--disallowed-tools", "--disallowedTools"}, ManyValues, setting},
	{[]string{"--effort"}, OneValue, setting},
	{[]string{"--environment"}, OneValue, unmanaged},
	{[]string{steadyOption}, NoValue, setting},
	{[]string{"--fallback-model"}, OneValue, setting},
	{[]string{"--file"}, ManyValues, unmanaged},
	{[]string{"--fork-session"}, NoValue, callerOwned},
	{[]string{"--forward-subagent-text"}, NoValue, streamOnly},
	{[]string{"--from-pr"}, OptionalValue, callerOwned},
	{[]string{"--help", "-h"}, NoValue, admin},
	{[]string{"--ide"}, NoValue, unmanaged},
	{[]string{"--include-hook-events"}, NoValue, neutral},
	{[]string{"--include-partial-messages"}, NoValue, streamOnly},
	{[]string{"--initialize-fields"}, OneValue, setting},
	{[]string{"--input-format"}, OneValue, neutral},
	{[]string{"--json-schema"}, OneValue, setting},
	{[]string{"--max-budget-usd"}, OneValue, neutral},
	{[]string{"--max-thinking-tokens"}, OneValue, setting},
	{[]string{"--max-turns"}, OneValue, neutral},
	{[]string{"--mcp-config"}, ManyValues, fileSetting},
	{[]string{"--mcp-debug"}, NoValue, neutral},
	{[]string{"--model"}, OneValue, model},
	{[]string{"--name", "-n"}, OneValue, setting},
	{[]string{"--no-chrome"}, NoValue, setting},
	{[]string{"--no-session-persistence"}, NoValue, optOut},
	{[]string{"--output-format"}, OneValue, format},
	{[]string{"--permission-mode"}, OneValue, setting},
	{[]string{"--permission-prompt-tool"}, OneValue, setting},
	{[]string{"--permission-prompts"}, OneValue, setting},
	{[]string{"--plugin-dir"}, OneValue, setting},
	{[]string{"--plugin-url"}, OneValue, setting},
	{[]string{"--print", "-p"}, NoValue, neutral},
	{[]string{"--prompt-suggestions"}, OptionalValue, streamOnly},
	{[]string{"--remote-control"}, OptionalValue, unmanaged},
	{[]string{"--remote-control-session-name-prefix"}, OneValue, unmanaged},
	{[]string{"--replay-user-messages"}, NoValue, streamOnly},
	{[]string{"--restricted"}, NoValue, unmanaged},
	{[]string{"--resume", "-r"}, OptionalValue, callerOwned},
	{[]string{"--resume-session-at"}, OneValue, callerOwned},
	{[]string{"--safe-mode"}, NoValue, unmanaged},
	{[]string{"--session-id"}, OneValue, callerOwned},
	{[]string{"--setting-sources"}, OneValue, setting},
	{[]string{"--settings"}, OneValue, fileSetting},
	{[]string{"--strict-mcp-config"}, NoValue, setting},
	{[]string{"--system-prompt"}, OneValue, setting},
	{[]string{"--system-prompt-file"}, OneValue, fileSetting},
	{[]string{"--system-prompt-snapshot"}, OneValue, setting},
	{[]string{"--task-budget"}, OneValue, setting},
	{[]string{"--teleport"}, OptionalValue, unmanaged},
	{[]string{"--thinking"}, OneValue, setting},
	{[]string{"--thinking-display"}, OneValue, setting},
	{[]string{"--tmux"}, NoValue, unmanaged},
	{[]string{"--tools"}, ManyValues, setting},
	{[]string{"--verbose"}, NoValue, neutral},
	{[]string{"--version", "-v"}, NoValue, admin},
	{[]string{"--worktree", "-w"}, OptionalValue, unmanaged},
}

// steadyOption moves what changes between calls, as git's status, from the system prompt to the first message.
const steadyOption = "--exclude-dynamic-system-prompt-sections"

// claudeSessionEnv lists variables that change which session a run uses. A call with one of them is
// not managed.
var claudeSessionEnv = []string{"CLAUDE_CODE_SKIP_PROMPT_HISTORY", "CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"}

// claudeCacheEnv lists variables by which a caller itself chooses how long the provider keeps a prompt, or that it keeps none.
var claudeCacheEnv = []string{
	"CLAUDE_CODE_PROMPT_CACHE_TTL", "CLAUDE_CODE_MESSAGES_PROMPT_CACHE_TTL", "ENABLE_PROMPT_CACHING_1H", "FORCE_PROMPT_CACHING_5M", "DISABLE_PROMPT_CACHING",
}

// claudeHour returns the variable with which a version has the provider keep a prompt for an hour, "" if it has none. The first
// came with 2.1.108, the other one replaced it in 2.1.242.
func claudeHour(version string) string {
	switch {
	case version == "" || !atLeast(version, 2, 1, 108):
		return ""
	case atLeast(version, 2, 1, 242):
		return "CLAUDE_CODE_PROMPT_CACHE_TTL=1h"
	}
	return "ENABLE_PROMPT_CACHING_1H=1"
}

// Variables returns the prefixes that cover every variable in claude's docs. The neutral ones name
// the caller or its terminal, say where telemetry goes, or are already part of the chain's key.
func (claude) Variables() Variables {
	return Variables{
		Settings: []string{
			"CLAUDE_*", "ANTHROPIC_*", "MAX_*", "BASH_*", "MCP_*", "DISABLE_*", "ENABLE_*", "TASK_MAX_OUTPUT_LENGTH",
			"SLASH_COMMAND_TOOL_CHAR_BUDGET", "USE_BUILTIN_RIPGREP", "API_TIMEOUT_MS", "FALLBACK_FOR_ALL_PRIMARY_MODELS",
		},
		Account: []string{
			"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_*", "ANTHROPIC_VERTEX_*",
			"ANTHROPIC_FOUNDRY_*", "ANTHROPIC_AWS_*", "ANTHROPIC_UNIX_SOCKET", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_OAUTH_REFRESH_TOKEN",
			"CLAUDE_CODE_USE_*", "CLAUDE_CODE_SKIP_*_AUTH", "CLAUDE_CODE_CLIENT_*", "CLAUDE_CODE_ACCOUNT_*", "CLAUDE_CODE_ORGANIZATION_UUID",
			"CLAUDE_CODE_USER_EMAIL", "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR", "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR",
			"CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR",
		},
		Neutral: []string{
			"ANTHROPIC_MODEL", // already counted as the call's model
			"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_REMOTE_SESSION_ID",
			"CLAUDE_CODE_PARENT_SESSION_ID", "CLAUDE_CODE_CONTAINER_ID", "CLAUDE_CODE_EXECPATH", "CLAUDE_AGENT_SDK_VERSION", "CLAUDE_AGENT_SDK_CLIENT_APP", "CLAUDE_PID",
			"CLAUDE_CODE_ENABLE_TELEMETRY", "CLAUDE_CODE_OTEL_*", "CLAUDE_CODE_DEBUG_*", "CLAUDE_CODE_DIAGNOSTICS_FILE",
			"CLAUDE_CODE_TMPDIR", "CLAUDE_TMPDIR", "CLAUDE_CODE_EXIT_AFTER_*", "BASH_VERSION", "BASH_ENV", "BASH_FUNC_*", "BASH_SUBSHELL",
			"DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER",
		},
	}
}

// claudeOwn is what claude's calls have of their own.
type claudeOwn struct {
	project      project
	cacheChosen  bool   // the caller has said how long the provider keeps a prompt
	unsteady     bool   // the system prompt changes from call to call
	namesDefault bool   // a resume must name the default model
	maxTurns     string // the caller's limit
}

func claudeOwnOf(c Call) claudeOwn {
	own, _ := c.Own.(claudeOwn)
	return own
}

func (c claude) Parse(in Invocation) Call {
	call := claudeDescriptor.newCall(in)
	p := parseCommander(in.Args, claudeOptions.with(in.Learned))
	call.read(p, in)
	call.Home = claudeHome(in.Env)
	call.Reason = claudeReason(&call, p, in)
	switch call.Reason {
	case "":
		call.Mode = Fresh
		call.SettingsFiles = claudeSettingsFiles(call, in.Env)
		call.Watched = claudeWatched(call.Home)
	case reason.CallerSession:
		if call.Format != Text {
			call.Mode = Observe // its output contains the session ID
		}
	}
	return call
}

// read copies into the call every option that does not decide whether it is managed.
func (c *Call) read(p parsedArgs, in Invocation) {
	own := claudeOwn{cacheChosen: slices.ContainsFunc(claudeCacheEnv, func(name string) bool { return in.Env(name) != "" })}
	c.Unknown = p.unknown
	c.Model = in.Env("ANTHROPIC_MODEL")
	outputFormat, frames, verbose := "", false, false
	for _, o := range p.options {
		value := ""
		if len(o.values) > 0 {
			value = o.values[len(o.values)-1]
		}
		switch o.Kind {
		case model:
			c.Model = value
		case format:
			outputFormat = value
		case setting, fileSetting:
			c.Settings = append(c.Settings, Setting{Name: o.Names[0], Value: strings.Join(o.values, "\x00"), File: o.Kind == fileSetting})
		case callerOwned:
			if value != "" {
				c.SessionID = value
			}
		}
		switch o.Names[0] {
		case "--verbose":
			verbose = true
		case "--input-format":
			frames = value == "stream-json"
		case "--replay-user-messages":
			c.KeepPrompt = true
		case "--max-turns":
			own.maxTurns = value
		}
	}
	c.Own = own
	slices.SortStableFunc(c.Settings, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	switch {
	case outputFormat == "json" && verbose:
		c.Format = JSONVerbose
	case outputFormat != "":
		c.Format = Format(outputFormat)
	}
	if len(p.operands) > 0 {
		c.promptArg = p.operands[0].at
		c.Prompt = c.Args[c.promptArg]
	}
	switch {
	case in.StdinTTY:
	case frames:
		c.Stdin = StdinFrames
	case c.promptArg < 0:
		c.Stdin = StdinPrompt
	default:
		c.Stdin, c.Silence = StdinAppended, SilenceSkipped
	}
}

// claudeHome returns the directory that CLAUDE_CONFIG_DIR moves.
func claudeHome(env func(string) string) string {
	if dir := env("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return env("HOME") + "/.claude"
}

// claudeSettingsFiles returns the settings files that the format and display of a headless answer
// depend on, the project's included.
func claudeSettingsFiles(c Call, env func(string) string) []string {
	files := []string{
		c.Home + "/settings.json", claudeState(env), claudeCredentials(c.Home),
		".claude/settings.json", ".claude/settings.local.json", "/etc/claude-code/managed-settings.json",
	}
	for _, s := range c.Settings {
		if s.Name == "--settings" {
			files = append(files, s.Value)
		}
	}
	return files
}

// claudeState returns the file in which claude keeps its own state. It is beside the sessions
// directory unless that was moved.
func claudeState(env func(string) string) string {
	if dir := env("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir + "/.claude.json"
	}
	return env("HOME") + "/.claude.json"
}

func claudeCredentials(home string) string { return home + "/.credentials.json" }

// claudeWatched returns the files that claude reads on its own at the start of a session.
func claudeWatched(home string) []Watch {
	watched := []Watch{
		{Path: ".mcp.json", Above: true},
		{Path: ".claude/agents/*.md", Above: true},
		{Path: home + "/agents/*.md", Name: "~/.claude/agents"},
		{Path: ".claude/commands/*.md", Above: true},
		{Path: home + "/commands/*.md", Name: "~/.claude/commands"},
		{Path: ".claude/skills/*/SKILL.md", Above: true},
		{Path: home + "/skills/*/SKILL.md", Name: "~/.claude/skills"},
		{Path: "/etc/claude-code/managed-mcp.json"},
		{Path: ".claude/output-styles/*.md"},
		{Path: home + "/output-styles/*.md", Name: "~/.claude/output-styles"},
		{Path: home + "/CLAUDE.md", Name: "~/.claude/CLAUDE.md", Guard: reason.InstructionsChanged},
		{Path: home + "/rules/*.md", Name: "~/.claude/rules", Guard: reason.InstructionsChanged},
		{Path: "/etc/claude-code/CLAUDE.md", Guard: reason.InstructionsChanged},
	}
	for _, name := range []string{"CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/*.md"} {
		watched = append(watched, Watch{Path: name, Above: true, Guard: reason.InstructionsChanged})
	}
	return watched
}

// claudeServers returns the MCP servers that claude's state file names for the user and for a
// project, and which of the project's own are enabled. Nothing else in that file counts, since
// claude rewrites it at every start.
func claudeServers(state string, dirs []string) []Setting {
	var found []Setting
	add := func(name, object string) {
		if value := jsonCompact(jsonMember(object, name)); value != "" {
			found = append(found, Setting{Name: "~/.claude.json " + name, Value: value})
		}
	}
	add("mcpServers", state)
	projects := jsonMember(state, "projects")
	for _, dir := range dirs {
		project := jsonMember(projects, dir)
		for _, name := range []string{"mcpServers", "enabledMcpjsonServers", "disabledMcpjsonServers", "disabledMcpServers"} {
			add(name, project)
		}
	}
	return found
}

// claudeAccount returns what identifies the account that claude is logged in to. Tokens change
// every few hours, so they count only if nothing else identifies their owner.
func claudeAccount(state, credentials string) []Setting {
	account := jsonMember(state, "oauthAccount")
	id := jsonCompact(jsonMember(account, "accountUuid")) + jsonCompact(jsonMember(account, "organizationUuid"))
	var found []Setting
	if id != "" {
		found = append(found, Setting{Name: "~/.claude.json oauthAccount", Value: id, Guard: reason.AuthChanged})
	}
	if login := jsonMember(credentials, "claudeAiOauth"); login != "" {
		value := jsonCompact(jsonMember(login, "subscriptionType"))
		if id == "" {
			value = jsonCompact(login)
		}
		found = append(found, Setting{Name: "~/.claude/.credentials.json", Value: value, Guard: reason.AuthChanged})
	}
	return found
}

// ResolveWithEnv adds the settings files, which are part of what a session depends on, and what the
// version can do.
func (claude) ResolveWithEnv(c Call, s HostEnv) Call {
	c.NoScout = claudeNoScout(c)
	own := claudeOwnOf(c)
	model := slices.ContainsFunc(c.Settings, func(s Setting) bool { return s.Name == "--agent" || s.Name == "--agents" })
	check := func(text string) {
		own.cacheChosen = own.cacheChosen || slices.ContainsFunc(claudeCacheEnv, func(name string) bool { return strings.Contains(text, name) })
		model = model || strings.Contains(text, `"model"`)
		if startHooks.in([]byte(text)) {
			c.NoScout = reason.HookSetting
		}
	}
	for _, setting := range c.Settings {
		if setting.Name == "--settings" {
			check(setting.Value)
		}
	}
	state, credentials := "", ""
	for _, path := range c.SettingsFiles {
		text, found := s.Settings[path]
		if !found {
			continue
		}
		switch {
		case path == claudeCredentials(c.Home):
			credentials = text
		case strings.HasSuffix(path, "/.claude.json"):
			if startHooks.in([]byte(text)) {
				c.NoScout = reason.HookSetting
			}
			state = text
		default:
			check(text)
			if !inSettings(c.Settings, path) {
				c.Settings = append(c.Settings, jsonSettings(path, text)...)
			}
		}
	}
	c.Settings = slices.Concat(c.Settings, claudeServers(state, s.Dirs), claudeAccount(state, credentials))
	own.project = newProject(c.Home, s.Dirs)
	// Up to 1.0.111 a resume continued under another ID; 1.0.124 keeps it.
	c.NoResume = s.Version != "" && !atLeast(s.Version, 1, 0, 124)
	// --session-id beside --fork-session came with 2.0.73.
	c.Copies = s.Version != "" && atLeast(s.Version, 2, 0, 73)
	if !own.cacheChosen {
		c.HourCache = claudeHour(s.Version)
	}
	// The option came with 2.1.98. From 2.1.277 on the session keeps the system prompt that it began with, and it changes nothing.
	own.unsteady = s.Version != "" && atLeast(s.Version, 2, 1, 98) && !atLeast(s.Version, 2, 1, 277)
	own.namesDefault = !model && c.Model == "" && !atLeast(s.Version, 2, 1, 271)
	c.Own = own
	return c
}

// A project is where a tool keeps the sessions of a working directory: in dir itself if exact, or
// somewhere below.
type project struct {
	dir   string
	exact bool
}

// newProject finds the directory of the first of dirs. claude cuts and hashes a long name.
func newProject(home string, dirs []string) project {
	const longest = 200 // bytes
	if len(dirs) == 0 || len(dirs[0]) > longest {
		return project{home + "/projects", false}
	}
	return project{home + "/projects/" + dashed(dirs[0]), true}
}

// startHooks are settings that make claude run something when it starts or ends.
var startHooks = newMarks("SessionStart", "SessionEnd", "Setup", "enabledPlugins", "plugins")

// claudeNoScout returns why claude must not be started before the prompt is known: a plugin may
// have hooks of its own.
func claudeNoScout(c Call) reason.Code {
	if slices.ContainsFunc(c.Settings, func(s Setting) bool { return strings.HasPrefix(s.Name, "--plugin-") }) {
		return reason.HookSetting
	}
	return ""
}

// Opened completes a call by the frames that its conversation begins with. The last one is the
// first message of a user. A reason says that the conversation must not be changed. The request
// to initialize is a setting: it names the caller's hooks and servers and its system prompt.
func (c Call) Opened(frames []Frame) (opened Call, prompt string, why reason.Code) {
	c.Settings = slices.Clone(c.Settings)
	for _, f := range frames[:len(frames)-1] {
		switch {
		case f.Kind == ResponseFrame, f.Kind == IdleFrame:
		case f.Kind != RequestFrame || f.Subtype != Initialize:
			return c, "", reason.ControlRequest
		default:
			c.Settings = append(c.Settings, jsonSettings(Initialize, jsonCompact(f.Body))...)
			if startHooks.in([]byte(f.Body)) {
				return c, "", reason.HookSetting // a resume calls them with other values
			}
			c.KeepPrompt = c.KeepPrompt || promptHooks.in([]byte(f.Body))
		}
	}
	last := frames[len(frames)-1]
	prompt, why = last.Prompt()
	c.KeepPrompt = c.KeepPrompt || !last.CanReplace()
	return c, prompt, why
}

// promptHooks are the hooks that are given the prompt.
var promptHooks = newMarks("UserPromptSubmit", "UserPromptExpansion")

// inSettings reports whether a setting already names the file.
func inSettings(settings []Setting, path string) bool {
	return slices.ContainsFunc(settings, func(s Setting) bool { return s.File && slices.Contains(s.Paths(), path) })
}

// claudeReason returns why the call is not managed, or "".
func claudeReason(c *Call, p parsedArgs, in Invocation) reason.Code {
	set := func(name string) bool { return in.Env(name) != "" }
	frames := c.Stdin == StdinFrames
	s := signs{
		command:     p.startsWith(in.Args, claudeDescriptor.Subcommands),
		interactive: !p.names("--print") && (in.StdoutTTY || !p.has(format) && in.StdinTTY),
		bad: p.bad || len(p.operands) > 1 || !slices.Contains([]Format{Text, JSON, JSONVerbose, StreamJSON}, c.Format) ||
			(p.has(streamOnly) || frames) && c.Format != StreamJSON ||
			p.sets("--input-format", func(value string) bool { return value != "text" && value != "stream-json" }),
		optsOut: slices.ContainsFunc(claudeSessionEnv, set),
	}
	if frames && c.promptArg >= 0 && !s.bad {
		s.unmanaged = "--input-format" // versions do not agree on what becomes of it
	}
	switch why := c.why(&claudeDescriptor, p, in, s); {
	case why != "":
		return why
	case c.promptArg < 0 && in.StdinTTY:
		return reason.Interactive
	case prompt.IsSlashCommand(c.Prompt):
		return reason.SlashCommand
	}
	return ""
}

// ActsOn reports file mentions ("@" followed by anything but space) and the words that make claude
// think more in that turn.
func (claude) ActsOn(text string) bool {
	lower := strings.ToLower(text)
	return prompt.Mentions(text, '@', false) || strings.Contains(lower, "ultrathink") || strings.Contains(lower, "megathink") ||
		strings.Contains(lower, "think hard") || strings.Contains(lower, "think harder")
}

func (claude) Options(help string) Probe { return readProbe(help, "--print", "--resume") }

// EffectivePrompt joins prompt and stdin the way claude does: PROMPT, a newline, DATA
// (recordings/claude/stdin-and-arg-text).
func (claude) EffectivePrompt(c Call, stdin string) string {
	switch {
	case c.Stdin == StdinPrompt:
		return stdin
	case stdin == "":
		return c.Prompt
	}
	return c.Prompt + "\n" + stdin
}

// longestArg keeps a prompt in argv well under the 128 KiB that Linux allows for one argument.
const longestArg = 96 << 10

// Plan leaves the caller's output format. For text and json it chooses the ID of a new session, since
// text does not show one, and follows the session's file. Added options stand first, where no variadic
// option can take them as values and before any "--" (CLI-FACTS 1.5).
func (claude) Plan(c Call, t Target) Plan {
	prompt, whole := t.Prompt()
	own := claudeOwnOf(c)
	plan := Plan{Resume: t.Session(), Copy: t.Copied(), Prompt: prompt, Whole: whole}
	args := slices.Clone(c.Args)
	var front []string
	if plan.Resume != "" {
		front = append(front, "--resume", plan.Resume)
		if plan.Copy {
			front = append(front, "--fork-session")
		}
		if message := t.ForkAt(); message != "" {
			front = append(front, "--resume-session-at", message)
		}
		// From some version after 2.1.100 up to 2.1.270, a resume without a model takes a smaller
		// variant of the default model, with 200,000 tokens of context instead of a million.
		if own.namesDefault {
			front = append(front, "--model", "default")
		}
		args = plan.placePrompt(c, t, args)
	}
	if c.Format != StreamJSON {
		if plan.Resume == "" || plan.Copy {
			plan.NewID = t.NewID()
			front = append(front, "--session-id", plan.NewID)
		}
		plan.Follow = []Follow{{Dir: own.project.dir, Name: plan.ID() + ".jsonl", Exact: own.project.exact, Lines: true}}
	}
	if c.Steady && own.unsteady && !slices.Contains(c.Args, steadyOption) {
		front = append(front, steadyOption)
	}
	if c.Hour && c.HourCache != "" {
		plan.Env = append(plan.Env, c.HourCache)
	}
	plan.Args = append(front, args...)
	return plan
}

// placePrompt puts the prompt of a resume where the caller's prompt was. A whole prompt stays as
// the caller sent it. A delta goes to stdin if any of the caller's prompt came from there, if it is
// too long for argv, or if claude would read it as an option or a subcommand there.
func (p *Plan) placePrompt(c Call, t Target, args []string) []string {
	switch {
	case c.promptArg >= 0 && p.Whole, c.Stdin == StdinFrames:
		return args
	case c.promptArg >= 0 && t.fromArgv(c) && len(p.Prompt) <= longestArg && !looksLikeOption(p.Prompt) && !isWord(p.Prompt):
		args[c.promptArg] = p.Prompt
		p.HasStdin = c.Stdin == StdinAppended && !c.Silent // stdin was empty
		return args
	}
	p.Stdin, p.HasStdin = p.Prompt, true
	if c.promptArg >= 0 {
		args = slices.Delete(args, c.promptArg, c.promptArg+1)
	}
	return args
}

// isWord reports whether a text is a single word. Every subcommand is one, also in versions not
// tried yet.
func isWord(text string) bool { return !strings.ContainsAny(text, " \t\r\n") }

// ForkPoint returns the last entry of the conversation, whatever its type. What follows an answer
// (a snapshot of the system prompt, a hook's output) belongs to it (LIVE 2.1.329). A copy cut right
// after the answer sends the model the same.
func (claude) ForkPoint(tail []byte) string {
	for line := range backwards(tail) {
		var entry struct {
			Type      string `json:"type"`
			UUID      string `json:"uuid"`
			Sidechain bool   `json:"isSidechain"` // a subagent's entry, in the same file in older versions
		}
		if json.Unmarshal(line, &entry) != nil {
			return ""
		}
		switch entry.Type {
		case "user", "assistant", "attachment", "system":
			if entry.Sidechain {
				continue
			}
			if !isUUID(entry.UUID) {
				return ""
			}
			return entry.UUID
		}
	}
	return ""
}

// backwards returns the lines of a text in reverse order.
func backwards(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(text) > 0 {
			start := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
			if !yield(text[start:]) {
				return
			}
			text = text[:start]
		}
	}
}

func isUUID(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i, r := range []byte(id) {
		switch i {
		case 8, 13, 18, 23:
			if r != '-' {
				return false
			}
		default:
			if (r < '0' || r > '9') && (r < 'a' || r > 'f') {
				return false
			}
		}
	}
	return true
}

// SessionPaths returns the transcript's path. Its directory is named after the working directory,
// with everything but letters and digits replaced. Long names are cut and hashed, so the last
// pattern matches the ID under any name (CLI-FACTS 1.2).
func (claude) SessionPaths(home, cwd, id string) []string {
	home = Literal(home)
	return []string{home + "/projects/" + dashed(cwd) + "/" + id + ".jsonl", home + "/projects/*/" + id + ".jsonl"}
}

// dashed returns a path with everything but letters and digits replaced.
func dashed(path string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, path)
}

// SessionFiles returns the transcript, the directory of the same name beside it (subagents and
// large results) and the session's task list in tasks. Running claude processes name their sessions
// in files of their own (2.1.329).
func (claude) SessionFiles(home, id, path string) (SessionFiles, bool) {
	parts := below(home, path, "projects/*/"+id+".jsonl")
	if parts == nil {
		return SessionFiles{}, false
	}
	own := strings.Join(parts, "/")
	return SessionFiles{
		Paths:   []string{own, strings.TrimSuffix(own, ".jsonl"), "tasks/" + id},
		Running: []string{"sessions/*.json"},
	}, true
}

// claudeRefusals lists what claude writes to stderr when it refuses a resume (CLI-FACTS 1.3). A
// session held by a background agent is busy, not dead.
var claudeRefusals = refusals{
	{"No conversation found with session ID", reason.RefusedUnknown},
	{"requires a valid session ID", reason.RefusedUnknown},
	{"is currently running as a background agent", reason.RefusedBusy},
	{"unknown option '--resume'", reason.RefusedNoResume},
	{"Failed to resume session", reason.RefusedBroken},
	{"No message found with message.uuid", reason.RefusedBroken},
	{"No deferred tool marker found", reason.RefusedBroken},
}

func (claude) Refused(stderr string, exit int) reason.Code {
	if reason := claudeRefusals.in(stderr); reason != "" || exit == 0 {
		return reason
	}
	return reason.RefusedSilent
}
