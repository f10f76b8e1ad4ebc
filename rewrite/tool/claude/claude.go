// Package claude is Claude Code as the shim knows it: command line, output, session files. Facts
// here were measured with 2.1.329 unless they name another version.
package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/rewrite/tool/base"
	"reprise/rewrite/tool/grammar"
)

type claude struct{ base.Base }

func init() { rewrite.Register(tool) }

var tool = claude{base.Base{About: &descriptor, Reads: reads,
	Help: []string{"--print", "--resume"}}}

var descriptor = rewrite.Descriptor{
	Name:       "claude",
	Packages:   []string{"@anthropic-ai/claude-code"},
	Unattended: []string{"claude", "--allowedTools=Bash", "-p"},
	// The subcommands in --help, and hidden or older ones.
	Subcommands: strings.Fields(`agents api-key attach auth auto-mode config daemon doctor
		experimental-next gateway help import install kill logs mcp migrate-installer plugin
		plugins project purge rc remote-control respawn rm setup-token stop ultrareview update
		upgrade`),
	Alone:     []string{"--help", "-h", "--version", "-v"},
	Nested:    []string{"CLAUDECODE"},
	KeepsHour: true,

	FileLimitKills: true,
	TellsFirst:     true,

	// 2.1.197 reports a copy as a resume, 2.1.330 as a fork.
	Hooks: rewrite.Hooks{
		Prompt:  []string{"UserPromptSubmit", "UserPromptExpansion"},
		Start:   []string{"SessionStart", "Setup"},
		Sources: []string{"startup", "resume", "fork"},
		Code:    append([]string{"modules"}, elsewhere...),
		Off:     "disableAllHooks", Plugins: "enabledPlugins",
	},

	Home: base.Home("CLAUDE_CONFIG_DIR", "/.claude", ""),
	// The directory of a session is named after the working directory. Long names are cut and
	// hashed, so the last pattern matches the ID under any name. The directory beside a session's
	// file has its subagents and large results. Running claude processes name their sessions in
	// files of their own (2.1.329).
	Paths: []string{"projects/{dir}/{id}.jsonl", "projects/*/{id}.jsonl"},
	Files: rewrite.SessionFiles{Paths: []string{"{file}", "{own}", "tasks/{id}"},
		Named: []string{"{own}"}, Running: []string{"sessions/*.json"}},
	Travels: true,
	// X-Claude-Code-Session-Id
	RoutedBySession: true,
	// The prefixes cover every variable in claude's docs. The neutral ones name the caller or the
	// terminal, say where telemetry goes, or are already part of the chain's key.
	Variables: rewrite.Variables{
		Settings: []string{
			"CLAUDE_*", "ANTHROPIC_*", "MAX_*", "BASH_*", "MCP_*", "DISABLE_*", "ENABLE_*",
			"TASK_MAX_OUTPUT_LENGTH", "SLASH_COMMAND_TOOL_CHAR_BUDGET", "USE_BUILTIN_RIPGREP",
			"API_TIMEOUT_MS", "FALLBACK_FOR_ALL_PRIMARY_MODELS",
		},
		Account: []string{
			"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL",
			"ANTHROPIC_BEDROCK_*", "ANTHROPIC_VERTEX_*", "ANTHROPIC_FOUNDRY_*", "ANTHROPIC_AWS_*",
			"ANTHROPIC_UNIX_SOCKET", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_OAUTH_REFRESH_TOKEN",
			"CLAUDE_CODE_USE_*", "CLAUDE_CODE_SKIP_*_AUTH", "CLAUDE_CODE_CLIENT_*",
			"CLAUDE_CODE_ACCOUNT_*", "CLAUDE_CODE_ORGANIZATION_UUID", "CLAUDE_CODE_USER_EMAIL",
			"CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR", "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR",
			"CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR",
		},
		Model: []string{"ANTHROPIC_MODEL"},
		Neutral: []string{
			"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT",
			"CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_REMOTE_SESSION_ID",
			"CLAUDE_CODE_PARENT_SESSION_ID", "CLAUDE_CODE_CONTAINER_ID", "CLAUDE_CODE_EXECPATH",
			"CLAUDE_AGENT_SDK_VERSION", "CLAUDE_AGENT_SDK_CLIENT_APP", "CLAUDE_PID",
			"CLAUDE_CODE_ENABLE_TELEMETRY", "CLAUDE_CODE_OTEL_*", "CLAUDE_CODE_DEBUG_*",
			"CLAUDE_CODE_DIAGNOSTICS_FILE", "CLAUDE_CODE_TMPDIR", "CLAUDE_TMPDIR",
			"CLAUDE_CODE_EXIT_AFTER_*", "BASH_VERSION", "BASH_ENV", "BASH_FUNC_*", "BASH_SUBSHELL",
			"DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER",
		},
	},
}

// options lists every option of claude 2.1.329: those in --help and the undocumented ones
// that callers use.
var options = grammar.Options{
	{grammar.Setting, rewrite.NoValue, `--allow-dangerously-skip-permissions --await-initialize
		--brief --chrome --dangerously-skip-permissions --disable-slash-commands
		--exclude-dynamic-system-prompt-sections --no-chrome --strict-mcp-config`},
	{grammar.Setting, rewrite.OneValue, `--agent --append-system-prompt --autocompact --effort
		--fallback-model --initialize-fields --json-schema --max-thinking-tokens --name|-n
		--permission-mode --permission-prompt-tool --permission-prompts --plugin-dir --plugin-url
		--setting-sources --system-prompt --system-prompt-snapshot --task-budget --thinking
		--thinking-display`},
	{grammar.Setting, rewrite.ManyValues, `--add-dir --allowed-tools|--allowedTools --betas
		--disallowed-tools|--disallowedTools --tools`},
	{grammar.FileSetting, rewrite.OneValue, `--agents --append-system-prompt-file --settings
		--system-prompt-file`},
	{grammar.FileSetting, rewrite.ManyValues, `--mcp-config`},
	{grammar.Model, rewrite.OneValue, `--model`},
	{grammar.Format, rewrite.OneValue, `--output-format`},
	{grammar.StreamOnly, rewrite.NoValue, `--forward-subagent-text --include-partial-messages
		--replay-user-messages`},
	{grammar.StreamOnly, rewrite.OptionalValue, `--prompt-suggestions`},
	{grammar.Neutral, rewrite.NoValue, `--ax-screen-reader --debug-to-stderr --include-hook-events
		--mcp-debug --print|-p --verbose`},
	{grammar.Neutral, rewrite.OneValue, `--debug-file --input-format --max-budget-usd --max-turns`},
	{grammar.Neutral, rewrite.OptionalValue, `--debug|-d`},
	{grammar.CallerOwned, rewrite.NoValue, `--continue|-c --fork-session`},
	{grammar.CallerOwned, rewrite.OneValue, `--resume-session-at --session-id`},
	{grammar.CallerOwned, rewrite.OptionalValue, `--from-pr --resume|-r`},
	{grammar.OptOut, rewrite.NoValue, `--no-session-persistence`},
	{grammar.Unmanaged, rewrite.NoValue,
		`--background|--bg --bare --desktop --ide --restricted --safe-mode --tmux`},
	{grammar.Unmanaged, rewrite.OneValue, `--environment --remote-control-session-name-prefix`},
	{grammar.Unmanaged, rewrite.OptionalValue, `--cloud --remote-control --teleport --worktree|-w`},
	{grammar.Unmanaged, rewrite.ManyValues, `--file`},
	{grammar.Admin, rewrite.NoValue, `--help|-h --version|-v`},
}

// sessionEnv lists variables that change which session a run uses. A call with one of them is
// not managed.
var sessionEnv = []string{"CLAUDE_CODE_SKIP_PROMPT_HISTORY", "CLAUDE_CODE_SIMPLE",
	"CLAUDE_CODE_SAFE_MODE"}

// cacheEnv lists variables that let a caller choose how long the provider keeps a prompt, or that
// it keeps none.
var cacheEnv = []string{
	"CLAUDE_CODE_PROMPT_CACHE_TTL", "CLAUDE_CODE_MESSAGES_PROMPT_CACHE_TTL",
	"ENABLE_PROMPT_CACHING_1H", "FORCE_PROMPT_CACHING_5M", "DISABLE_PROMPT_CACHING",
}

// hour returns the variable that makes a version ask the provider to keep a prompt for an hour, ""
// if it has none. The first came with 2.1.108, the other one replaced it in 2.1.242.
func hour(version string) string {
	switch {
	case version == "" || !base.AtLeast(version, 2, 1, 108):
		return ""
	case base.AtLeast(version, 2, 1, 242):
		return "CLAUDE_CODE_PROMPT_CACHE_TTL=1h"
	}
	return "ENABLE_PROMPT_CACHING_1H=1"
}

type details struct {
	file         rewrite.Follow // the session's, without the name
	cacheChosen  bool           // the caller has said how long the provider keeps a prompt
	version      string         // the binary's, "" if not known
	namesDefault bool           // a resume must name the default model
	maxTurns     string         // the caller's limit
	sources      string         // the settings that the caller wants to be read, separated by commas
}

func (c claude) Parse(in rewrite.Input) rewrite.CommandLine {
	p := grammar.Commander(in.Args, options.With(in.Learned))
	call, set := c.Read(p, in), func(name string) bool { return in.Env(name) != "" }
	call.Own = details{
		maxTurns: p.Value("--max-turns", ""), sources: p.Value("--setting-sources", allSources),
		cacheChosen: slices.ContainsFunc(cacheEnv, set),
	}
	if call.Format == rewrite.JSON && p.Names("--verbose") {
		call.Format = rewrite.JSONVerbose
	}
	call.KeepPrompt = p.Names("--replay-user-messages")
	if len(p.Operands) > 0 {
		call.PromptArgs, call.Prompt = p.Operands[:1], in.Args[p.Operands[0].At]
	}
	call.Stdin = base.Stdin(in, len(call.PromptArgs) > 0, rewrite.StdinAppended)
	if !in.StdinTTY && p.Value("--input-format", "") == "stream-json" {
		call.Stdin = rewrite.StdinFrames
	}
	call.ChosenID = takeChosen(&p)
	c.Complete(&call, p, in, signs(call, p, in))
	if call.Mode == rewrite.Fresh {
		if p.Names("--agent") {
			agents.Into(&call, in.Env, p.Values)
		}
		// beside the sessions' directory unless that was moved
		call.SettingsFiles = append(call.SettingsFiles,
			cmp.Or(in.Env("CLAUDE_CONFIG_DIR"), in.Env("HOME"))+"/.claude.json")
		if slices.ContainsFunc(elsewhere, set) {
			call.CannotReadHooks()
		}
	}
	return call
}

// takeChosen returns the ID that the caller chose for a new session, and takes the option out of
// the others. It returns "" if the caller also names another session.
func takeChosen(p *grammar.Args) (id string) {
	owned := func(o grammar.ParsedOption) bool { return o.Kind == grammar.CallerOwned }
	at := slices.IndexFunc(p.Options, owned)
	if at < 0 || slices.ContainsFunc(p.Options[at+1:], owned) ||
		p.Options[at].Names[0] != "--session-id" || !base.IsUUID(p.Options[at].Value()) {
		return ""
	}
	id = p.Options[at].Value()
	p.Options = slices.Delete(slices.Clone(p.Options), at, at+1)
	return id
}

var reads = base.Reads{
	Home: "~/.claude",
	Settings: []string{"~/settings.json", "~/.credentials.json",
		".claude/settings{,.local}.json", "/etc/claude-code/managed-settings.json", "{--settings}"},
	Hooks: []string{"^/.claude/settings.local.json", "~/remote-settings.json",
		"/etc/claude-code/managed-settings.d/*.json",
		"/Library/Application Support/ClaudeCode/managed-settings{,.d/*}.json",
		"~/plugins/marketplaces/*/.claude-plugin/marketplace.json",
		"{~/plugins/cache/*/*/*,~/skills/*,^/.claude/skills/*}/" + pluginFiles,
		"{--plugin-dir}{,/*}/" + pluginFiles},
	Watched: base.Watched{
		{reason.InstructionsChanged, []string{"{~,/etc/claude-code}/CLAUDE.md", "~/rules/**/*.md",
			"{^,--add-dir}/{CLAUDE,CLAUDE.local,.claude/CLAUDE,.claude/rules/**/*}.md"}},
		{"", []string{"^/.mcp.json", "~/{agents,commands}/**/*.md", "~/skills/*/SKILL.md",
			"/etc/claude-code/managed-mcp.json", "{.claude,~}/output-styles/*.md",
			"{^,--add-dir}/.claude/{agents/**/*,commands/**/*,skills/*/SKILL}.md",
			"{--plugin-dir}/**/*.{md,json}"}},
	},
}

const pluginFiles = "{hooks/hooks,.claude-plugin/plugin}.json"

// agents are read for an agent, which can have hooks.
var agents = base.Reads{Home: "~/.claude", Hooks: []string{"{~,^/.claude}/agents/*.md"}}

// allSources are the settings that claude reads by default.
const allSources = "user,project,local"

// skipsSettings returns which files the caller's --setting-sources leaves out. The user's settings
// also say which plugins are enabled.
func skipsSettings(c *rewrite.CommandLine, sources string) func(path string) bool {
	reads := func(source string) bool {
		return slices.Contains(strings.Split(sources, ","), source)
	}
	return func(path string) bool {
		switch {
		case strings.HasSuffix(path, ".claude/settings.local.json"):
			return !reads("local")
		case path == ".claude/settings.json":
			return !reads("project")
		case path == c.Home+"/settings.json", strings.HasPrefix(path, c.Home+"/skills/"):
			return !reads("user")
		}
		return strings.HasSuffix(path, "/.claude.json") || path == credentialsFile(c.Home)
	}
}

// elsewhere are variables that have claude read plugins or the user's settings from other places
// (2.1.332). A settings file can set them too.
var elsewhere = []string{"CLAUDE_CODE_PLUGIN_DIRS", "CLAUDE_CODE_PLUGIN_CACHE_DIR",
	"CLAUDE_CODE_USE_COWORK_PLUGINS"}

func hooks(c *rewrite.CommandLine, s rewrite.HostEnv) {
	table := descriptor.Hooks
	if !base.AtLeast(s.Version, 2, 1, 198) {
		table.Sources = []string{"startup", "resume"}
	}
	c.ReadHooks(table, s, skipsSettings(c, base.Own[details](*c).sources))
	for _, setting := range c.Settings {
		switch setting.Name {
		case "--settings", "--agents":
			if strings.HasPrefix(strings.TrimSpace(setting.Value), "{") {
				c.ReadHooksIn(table, setting.Value)
			}
		case "--plugin-dir":
			if !slices.ContainsFunc(s.Hooks, func(f rewrite.File) bool {
				return strings.Contains(f.Path, strings.Trim(setting.Value, "./"))
			}) {
				c.CannotReadHooks()
			}
		case "--plugin-url":
			c.CannotReadHooks()
		}
	}
}

func credentialsFile(home string) string { return home + "/.credentials.json" }

// servers returns the MCP servers that claude's state file names for the user and for a
// project, and which of the project's own are enabled. Nothing else in that file counts, since
// claude rewrites it at every start.
func servers(state string, dirs []string) []rewrite.Setting {
	var found []rewrite.Setting
	add := func(name, object string) {
		if value := jsonline.Compact(jsonline.Member(object, name)); value != "" {
			found = append(found, rewrite.Setting{Name: "~/.claude.json " + name, Value: value})
		}
	}
	add("mcpServers", state)
	projects := jsonline.Member(state, "projects")
	for _, dir := range dirs {
		project := jsonline.Member(projects, dir)
		for _, name := range []string{"mcpServers", "enabledMcpjsonServers",
			"disabledMcpjsonServers", "disabledMcpServers"} {
			add(name, project)
		}
	}
	return found
}

// account returns the settings that identify the account that claude is logged in to. Tokens change
// every few hours, so they count only if nothing else identifies their owner.
func account(state, credentials string) []rewrite.Setting {
	account := jsonline.Member(state, "oauthAccount")
	id := jsonline.Compact(jsonline.Member(account, "accountUuid")) +
		jsonline.Compact(jsonline.Member(account, "organizationUuid"))
	var found []rewrite.Setting
	if id != "" {
		found = append(found, rewrite.Setting{Name: "~/.claude.json oauthAccount", Value: id,
			Guard: reason.AuthChanged})
	}
	if login := jsonline.Member(credentials, "claudeAiOauth"); login != "" {
		value := jsonline.Compact(jsonline.Member(login, "subscriptionType"))
		if id == "" {
			value = jsonline.Compact(login)
		}
		found = append(found, rewrite.Setting{Name: "~/.claude/.credentials.json", Value: value,
			Guard: reason.AuthChanged})
	}
	return found
}

// readFiles adds the settings files to the call's settings. It returns claude's state and
// credentials, and the text of all settings together.
func readFiles(c *rewrite.CommandLine, s rewrite.HostEnv) (state, credentials, texts string) {
	var named []string // files that are settings by the caller's options
	for _, setting := range c.Settings {
		if setting.Name == "--settings" {
			texts += setting.Value
		}
		if setting.File {
			named = append(named, setting.Paths()...)
		}
	}
	for _, f := range s.Settings {
		switch {
		case f.Path == credentialsFile(c.Home):
			credentials = f.Text
		case strings.HasSuffix(f.Path, "/.claude.json"):
			state = f.Text
		default:
			texts += f.Text
			if !slices.Contains(named, f.Path) {
				c.Settings = append(c.Settings, rewrite.JSONSettings(f.Path, f.Text)...)
			}
		}
	}
	return state, credentials, texts
}

// ResolveWithEnv adds the settings files that a session depends on, and the abilities of the
// version.
func (claude) ResolveWithEnv(c rewrite.CommandLine, s rewrite.HostEnv) rewrite.CommandLine {
	own := base.Own[details](c)
	state, credentials, texts := readFiles(&c, s)
	names := func(options string) bool {
		return slices.ContainsFunc(c.Settings, func(setting rewrite.Setting) bool {
			return strings.HasPrefix(setting.Name, options)
		})
	}
	// a plugin might have start hooks
	c.NoScout = base.When(names("--plugin-") || rewrite.StartHooks.In([]byte(state)) ||
		rewrite.StartHooks.In([]byte(texts)), reason.HookSetting)
	hooks(&c, s)
	c.Settings = slices.Concat(c.Settings, servers(state, s.Dirs), account(state, credentials))
	own.file = base.InProject(c.Home, s.Dirs, "")
	// Up to 1.0.111 a resume continued under another ID; 1.0.124 keeps it.
	c.NoResume = !base.AtLeast(s.Version, 1, 0, 124)
	// --session-id beside --fork-session came with 2.0.73.
	c.Copies = s.Version != "" && base.AtLeast(s.Version, 2, 0, 73)
	if !own.cacheChosen && !slices.ContainsFunc(cacheEnv, func(name string) bool {
		return strings.Contains(texts, name)
	}) {
		c.HourCache = hour(s.Version)
	}
	// The option came with 2.1.98. From 2.1.277 on the session keeps the system prompt that it
	// began with, and it changes nothing.
	own.namesDefault = c.Model == "" && !names("--agent") && !strings.Contains(texts, `"model"`) &&
		!base.AtLeast(s.Version, 2, 1, 271)
	own.version = s.Version
	c.Own = own
	return c
}

func signs(c rewrite.CommandLine, p grammar.Args, in rewrite.Input) base.Signs {
	set := func(name string) bool { return in.Env(name) != "" }
	frames := c.Stdin == rewrite.StdinFrames
	s := base.Signs{
		Interactive: !p.Names("--print") && (in.StdoutTTY || !p.Has(grammar.Format) && in.StdinTTY),
		Bad: p.Bad || len(p.Operands) > 1 ||
			(p.Has(grammar.StreamOnly) || frames) && c.Format != rewrite.StreamJSON ||
			slices.ContainsFunc(p.Values("--input-format"), func(value string) bool {
				return value != "text" && value != "stream-json"
			}),
		OptsOut: slices.ContainsFunc(sessionEnv, set),
		Last: cmp.Or(base.When(len(c.PromptArgs) == 0 && in.StdinTTY, reason.Interactive),
			base.When(prompt.IsSlashCommand(c.Prompt), reason.SlashCommand)),
	}
	if frames && len(c.PromptArgs) > 0 && !s.Bad {
		s.Unmanaged = "--input-format" // versions treat it differently
	}
	return s
}

// ActsOn reports file mentions ("@" followed by anything but space) and the words that make claude
// think more in that turn.
func (claude) ActsOn(text string) bool {
	lower := strings.ToLower(text)
	return base.Mentions(text, '@', false) || strings.Contains(lower, "ultrathink") ||
		strings.Contains(lower, "megathink") || strings.Contains(lower, "think hard")
}

// Plan leaves the caller's output format. For text and json it chooses the ID of a new session,
// since text does not show one, and follows the session's file. Added options stand where no
// variadic option can take them as values and before any "--".
func (claude) Plan(c rewrite.CommandLine, t rewrite.Target) rewrite.Plan {
	own := base.Own[details](c)
	plan := t.Plan(c)
	if own.version != "" && base.AtLeast(own.version, 2, 1, 330) { // 2.1.329 ends with 0
		plan.CannotWrite = 1
	}
	var added []string
	if plan.Resume != "" {
		added = append(added, "--resume", plan.Resume)
		if plan.Copy {
			added = append(added, "--fork-session")
		}
		if t.ForkAt != "" {
			added = append(added, "--resume-session-at", t.ForkAt)
		}
		// From some version after 2.1.100 up to 2.1.270, a resume without a model takes a smaller
		// variant of the default model, with 200,000 tokens of context instead of a million.
		if own.namesDefault {
			added = append(added, "--model", "default")
		}
	}
	if plan.Resume == "" || plan.Copy {
		plan.NewID = c.ChosenID
	}
	if c.Format != rewrite.StreamJSON {
		if plan.NewID == "" && (plan.Resume == "" || plan.Copy) {
			plan.NewID = t.NewID
			added = append(added, "--session-id", plan.NewID)
		}
		own.file.Name = plan.ID() + ".jsonl"
		plan.Follow = []rewrite.Follow{own.file}
	}
	base.Add(&plan, c, "", added...)
	return plan
}

// ForkPoint returns the last entry of the conversation, of any type. The entries behind an answer
// (a snapshot of the system prompt, a hook's output) belong to it (LIVE 2.1.329). A copy cut right
// after the answer sends the model the same.
func (claude) ForkPoint(tail []byte) string {
	for _, line := range slices.Backward(slices.Collect(bytes.Lines(tail))) {
		var entry struct {
			Type string `json:"type"`
			UUID string `json:"uuid"`
			// a subagent's entry, in the same file in older versions
			Sidechain bool `json:"isSidechain"`
		}
		if json.Unmarshal(line, &entry) != nil {
			return ""
		}
		switch entry.Type {
		case "user", "assistant", "attachment", "system":
			if entry.Sidechain {
				continue
			}
			if !base.IsUUID(entry.UUID) {
				return ""
			}
			return entry.UUID
		}
	}
	return ""
}

// refusals lists claude's words on stderr when it refuses a resume. A
// session held by a background agent is busy, not dead.
var refusals = base.Causes{
	{"No conversation found with session ID", reason.RefusedUnknown},
	{"requires a valid session ID", reason.RefusedUnknown},
	{"is currently running as a background agent", reason.RefusedBusy},
	{"unknown option '--resume'", reason.RefusedNoResume},
	{"Failed to resume session", reason.RefusedBroken},
	{"No message found with message.uuid", reason.RefusedBroken},
	{"No deferred tool marker found", reason.RefusedBroken},
}

// failures are measured with 2.0.76, 2.1.197 and 2.1.329. A newer one has the status beside the
// text.
var failures = base.WithStatus("API Error: %d ", base.Causes{
	{"API Error: Unable to connect to API (", reason.Unreachable},
	{"API Error: Connection refused", reason.Unreachable},
})

func (claude) Refused(stderr string, exit int) reason.Code {
	if why := refusals.In(stderr); why != "" || exit == 0 {
		return why
	}
	return reason.RefusedSilent
}
