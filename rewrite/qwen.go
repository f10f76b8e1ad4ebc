package rewrite

import (
	"cmp"
	"strings"

	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// qwen is Qwen Code. Facts in this file were measured with 0.24.4 unless they name another version;
// docs/internals/qwen.md lists them all.
type qwen struct{ base }

func init() { Register(qwen{}) }

var qwenDescriptor = Descriptor{
	Name:        "qwen",
	Headless:    []string{"qwen"},
	Unattended:  []string{"qwen", "--yolo", "-p"},
	Subcommands: []string{"auth", "board", "channel", "extensions", "hooks", "hook", "mcp", "review", "sandbox", "sessions", "update"},
	Servers:     []string{"serve"},
	Alone:       []string{"--help", "-h", "--version", "-v"},
	Nested:      []string{"QWEN_CODE"}, // set by its shell tool
	LoginKeys:   []string{"OPENAI_API_KEY", "DASHSCOPE_API_KEY"},
	Provider:    "alibaba_cloud",
	Home:        qwenHome,
	Sessions:    []string{"projects/*/chats/????????-????-????-????-????????????.jsonl"},

	ResumeLosesCache: true,

	StandIn: StandIn{
		Env: []string{
			"OPENAI_BASE_URL=URL/openai/v1", "OPENAI_API_KEY=stand-in", "OPENAI_MODEL=stand-in",
			"QWEN_CODE_SUPPRESS_YOLO_WARNING=1",
		},
		Config: ".qwen/settings.json",
		// Without the last setting, a second model is asked after most calls what to remember.
		Text: `{
  "$version": 4,
  "security": {"auth": {"selectedType": "openai"}},
  "general": {"enableAutoUpdate": false},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false},
  "memory": {"enableManagedAutoMemory": false}
}
`,
	},
}

func (qwen) Descriptor() *Descriptor { return &qwenDescriptor }

// qwenOptions lists every option of qwen 0.24.4, the hidden ones included. ManyValues are yargs
// arrays, with one value per occurrence.
var qwenOptions = optionTable{
	{[]string{"--acp"}, NoValue, server},
	{[]string{"--allowed-mcp-server-names"}, ManyValues, setting},
	{[]string{"--allowed-tools"}, ManyValues, setting},
	{[]string{"--append-system-prompt"}, OneValue, setting},
	{[]string{"--approval-mode"}, OneValue, setting},
	{[]string{"--auth-type"}, OneValue, setting},
	{[]string{"--bare"}, NoValue, setting},
	{[]string{"--channel"}, OneValue, setting},
	{[]string{"--chat-recording"}, NoValue, neutral}, // turned off, it is an opt-out
	{[]string{"--continue", "-c"}, NoValue, callerOwned},
	{[]string{"--core-tools"}, ManyValues, setting},
	{[]string{"--debug", "-d"}, NoValue, neutral},
	{[]string{"--disabled-slash-commands"}, ManyValues, setting},
	{[]string{"--exclude-tools"}, ManyValues, setting},
	{[]string{"--experimental-acp"}, NoValue, server},
	{[]string{"--experimental-lsp"}, NoValue, setting},
	{[]string{"--extensions", "-e"}, ManyValues, setting},
	{[]string{"--fallback-model"}, ManyValues, setting},
	{[]string{"--fork-session"}, NoValue, callerOwned},
	{[]string{"--help", "-h"}, NoValue, admin},
	{[]string{"--include-directories", "--add-dir"}, ManyValues, setting},
	{[]string{"--include-partial-messages"}, NoValue, streamOnly},
	{[]string{"--input-file"}, OneValue, unmanaged},
	{[]string{"--input-format"}, OneValue, neutral},
	{[]string{"--insecure"}, NoValue, setting},
	{[]string{"--json-fd"}, OneValue, unmanaged},
	{[]string{"--json-file"}, OneValue, unmanaged},
	{[]string{"--json-schema"}, OneValue, setting},
	{[]string{"--list-extensions", "-l"}, NoValue, admin},
	{[]string{"--max-session-turns"}, OneValue, neutral},
	{[]string{"--max-subagent-depth"}, OneValue, setting},
	{[]string{"--max-tool-calls"}, OneValue, neutral},
	{[]string{"--max-wall-time"}, OneValue, neutral},
	{[]string{"--mcp-config"}, OneValue, fileSetting},
	{[]string{"--model", "-m"}, OneValue, model},
	{[]string{"--openai-api-key"}, OneValue, setting},
	{[]string{"--openai-base-url"}, OneValue, setting},
	{[]string{"--openai-logging"}, NoValue, neutral},
	{[]string{"--openai-logging-dir"}, OneValue, neutral},
	{[]string{"--output-format", "-o"}, OneValue, format},
	{[]string{"--output-style"}, OneValue, setting},
	{[]string{"--prompt", "-p"}, OneValue, neutral},
	{[]string{"--prompt-interactive", "-i"}, OneValue, admin},
	{[]string{"--proxy"}, OneValue, setting},
	{[]string{"--restore-ask-user-question"}, NoValue, unmanaged},
	{[]string{"--resume", "-r"}, OptionalValue, callerOwned},
	{[]string{"--safe-mode"}, NoValue, setting},
	{[]string{"--sandbox", "-s"}, NoValue, setting},
	{[]string{"--sandbox-image"}, OneValue, setting},
	{[]string{"--sandbox-session-id"}, OneValue, callerOwned},
	{[]string{"--screen-reader"}, NoValue, setting},
	{[]string{"--session-id"}, OneValue, callerOwned},
	{[]string{"--system-prompt"}, OneValue, setting},
	{[]string{"--telemetry"}, NoValue, neutral},
	{[]string{"--telemetry-log-prompts"}, NoValue, neutral},
	{[]string{"--telemetry-otlp-endpoint"}, OneValue, neutral},
	{[]string{"--telemetry-otlp-protocol"}, OneValue, neutral},
	{[]string{"--telemetry-outfile"}, OneValue, neutral},
	{[]string{"--telemetry-target"}, OneValue, neutral},
	{[]string{"--version", "-v"}, NoValue, admin},
	{[]string{"--worktree"}, OptionalValue, unmanaged},
	{[]string{"--yolo", "-y"}, NoValue, setting},
}

// Variables returns qwen's own variables, and those of the APIs that it can use.
func (qwen) Variables() Variables {
	return Variables{
		Settings: []string{"QWEN_*", "ENABLE_WEB_SEARCH", "WEB_SEARCH_*"},
		Account:  []string{"OPENAI_*", "DASHSCOPE_*", "ANTHROPIC_*", "GEMINI_*", "QWEN_OAUTH", "QWEN_API_KEY", "QWEN_CUSTOM_API_KEY_*", "QWEN_BASE_URL"},
		Neutral: []string{
			"OPENAI_MODEL", "QWEN_MODEL", // already counted as the call's model
			"QWEN_HOME", "QWEN_RUNTIME_DIR", "QWEN_TELEMETRY_*", "QWEN_DEBUG_LOG_FILE", "QWEN_CODE_IDE_*",
			"QWEN_CODE_SUPPRESS_YOLO_WARNING", "QWEN_CODE_PROFILE_*",
		},
	}
}

// qwenOwn is what qwen's calls have of their own: where their sessions are.
type qwenOwn struct{ chats project }

func (qwen) Parse(in Invocation) Call {
	call := qwenDescriptor.newCall(in)
	p := parseYargs(in.Args, qwenOptions.with(in.Learned))
	call.Model = cmp.Or(in.Env("OPENAI_MODEL"), in.Env("QWEN_MODEL"))
	call.readYargs(p, in)
	for i := range call.Settings {
		if s := &call.Settings[i]; s.Name == "--json-schema" && strings.HasPrefix(s.Value, "@") {
			s.Value, s.File = s.Value[1:], true
		}
	}
	call.Home = qwenHome(in.Env)
	call.Reason = qwenReason(&call, p, in)
	switch call.Reason {
	case "":
		call.Mode = Fresh
		settings := qwenSettingsHome(in.Env)
		call.SettingsFiles = qwenSettingsFiles(settings, in.Env)
		call.Watched = qwenWatched(settings)
	case reason.CallerSession:
		if call.Format != Text {
			call.Mode = Observe // its output contains the session ID
		}
	}
	return call
}

// qwenSettingsHome returns the directory of qwen's settings.
func qwenSettingsHome(env func(string) string) string {
	return cmp.Or(env("QWEN_HOME"), env("HOME")+"/.qwen")
}

// qwenHome returns the directory in which qwen keeps its sessions. A setting that names another one is
// not read: the session is then not found, and the next call is fresh.
func qwenHome(env func(string) string) string {
	return cmp.Or(env("QWEN_RUNTIME_DIR"), qwenSettingsHome(env))
}

// qwenSettingsFiles returns the settings of the user, the project and the system, and the login.
func qwenSettingsFiles(home string, env func(string) string) []string {
	return []string{
		home + "/settings.json", ".qwen/settings.json",
		cmp.Or(env("QWEN_CODE_SYSTEM_SETTINGS_PATH"), "/etc/qwen-code/settings.json"),
		cmp.Or(env("QWEN_CODE_SYSTEM_DEFAULTS_PATH"), "/etc/qwen-code/system-defaults.json"),
		"/Library/Application Support/QwenCode/settings.json",
		home + "/oauth_creds.json",
	}
}

// qwenWatched returns the files that qwen reads on its own at the start of a session. It reads the
// nearest .env, which may contain its key. An update is a version below updates, named in active.json.
func qwenWatched(home string) []Watch {
	watched := []Watch{
		{Path: home + "/QWEN.md", Name: "~/.qwen/QWEN.md", Guard: reason.InstructionsChanged},
		{Path: home + "/AGENTS.md", Name: "~/.qwen/AGENTS.md", Guard: reason.InstructionsChanged},
		{Path: home + "/agents/*.md", Name: "~/.qwen/agents"},
		{Path: ".qwen/agents/*.md"},
		{Path: home + "/extensions/*/qwen-extension.json", Name: "~/.qwen/extensions"},
		{Path: home + "/updates/npm/*/active.json", Name: "~/.qwen/updates", Guard: reason.RuntimeChanged},
		{Path: ".qwen/system.md", Guard: reason.InstructionsChanged},
		{Path: home + "/.env", Name: "~/.qwen/.env", Guard: reason.AuthChanged},
	}
	for _, name := range []string{"QWEN.md", "AGENTS.md", "QWEN.local.md"} {
		watched = append(watched, Watch{Path: name, Above: true, Guard: reason.InstructionsChanged})
	}
	for _, name := range []string{".qwen/.env", ".env"} {
		watched = append(watched, Watch{Path: name, Above: true, Guard: reason.AuthChanged})
	}
	return watched
}

// qwenReason returns why the call is not managed, or "".
func qwenReason(c *Call, p parsedArgs, in Invocation) reason.Code {
	if p.startsWith(in.Args, qwenDescriptor.Servers) {
		return reason.AppServer
	}
	unrecorded := p.sets("--chat-recording", func(value string) bool { return value == "false" })
	p = p.withoutOff()
	s := c.yargsSigns(&qwenDescriptor, p, in)
	if p.sets("--input-format", func(value string) bool { return value != "text" }) {
		s.unmanaged = "--input-format"
	}
	s.bad = s.bad || p.has(streamOnly) && c.Format != StreamJSON
	s.optsOut = unrecorded
	why := c.why(&qwenDescriptor, p, in, s)
	if why == "" && prompt.IsSlashCommand(c.Prompt) {
		return reason.SlashCommand
	}
	return why
}

// ResolveWithEnv reads the settings. Hooks that run when a session starts add to its first prompt, or
// behave otherwise in a resume. 0.23.4 is the oldest version tried that copies a session; older ones are passed through.
func (qwen) ResolveWithEnv(c Call, s HostEnv) Call {
	for _, path := range c.SettingsFiles {
		text, found := s.Settings[path]
		switch {
		case strings.HasSuffix(path, "/oauth_creds.json"):
			if account := jsonMember(text, "resource_url"); found && account != "" {
				c.Settings = append(c.Settings, Setting{Name: "~/.qwen/oauth_creds.json", Value: account, Guard: reason.AuthChanged})
			}
			continue
		case found:
			c.Settings = append(c.Settings, qwenSettings(path, text)...)
		}
		if strings.Contains(text, `"SessionStart"`) {
			c.Mode, c.Reason = Passthrough, reason.HookSetting
		}
	}
	chats := newProject(c.Home, s.Dirs)
	if chats.exact {
		chats.dir += "/chats"
	}
	c.Own = qwenOwn{chats}
	c.Copies = s.Version != "" && atLeast(s.Version, 0, 23, 4)
	if s.Version != "" && !c.Copies && c.Mode == Fresh {
		c.Mode, c.Reason = Passthrough, reason.NoResume // with stream-json 0.15.10 ends well where the API has refused
	}
	return c
}

// qwenSettings returns what a settings file sets. The version of its form does not count: qwen adds it
// the first time that it reads the file.
func qwenSettings(path, text string) []Setting {
	text = jsonCompact(string(removeKey([]byte(text), "$version")))
	if text == "" {
		return nil
	}
	return jsonSettings(path, text)
}

// ActsOn reports file mentions: "@" after anything but a backslash.
func (qwen) ActsOn(text string) bool { return prompt.Mentions(text, '@', true) }

func (qwen) Options(help string) Probe { return yargsProbe(help, "--prompt", "--resume") }

// EffectivePrompt puts stdin first, then an empty line, then the prompt
// (recordings/qwen/stdin-and-arg). qwen adds that line to stdin alone as well; it is left out here, so
// that a resume adds it again. It returns "" if qwen would not send all of it.
func (qwen) EffectivePrompt(c Call, stdin string) string {
	text := c.yargsPrompt(stdin)
	if prompt.IsSlashCommand(text) {
		return ""
	}
	return text
}

// Plan leaves every format as it is. In text, which does not name the session, the shim chooses its ID. A copy's
// ID is qwen's own: it takes --session-id with neither --resume nor --fork-session.
func (qwen) Plan(c Call, t Target) Plan {
	plan := c.planYargs(t)
	plan.ReexecsSelf, plan.ExitsBeforeFlush = true, true
	if c.Format == Text {
		own, _ := c.Own.(qwenOwn)
		plan.Follow = []Follow{followQwen(own.chats, plan)}
	}
	return plan
}

// SessionPaths returns the session's file. Its directory is named as claude's.
func (qwen) SessionPaths(home, cwd, id string) []string {
	home = Literal(home)
	return []string{home + "/projects/" + dashed(cwd) + "/chats/" + id + ".jsonl", home + "/projects/*/chats/" + id + ".jsonl"}
}

// SessionFiles returns what qwen itself deletes with a session.
func (qwen) SessionFiles(home, id, path string) (SessionFiles, bool) {
	parts := below(home, path, "projects/*/chats/"+id+".jsonl")
	if parts == nil {
		return SessionFiles{}, false
	}
	chats := strings.Join(parts[:3], "/") + "/"
	return SessionFiles{Paths: []string{
		strings.Join(parts, "/"), chats + id + ".worktree.json", chats + id + ".pr.json", chats + id + ".ledger.jsonl", "file-history/" + id,
	}}, true
}

// qwenRefusals lists what qwen writes when it does not continue a session: on stderr if it does not
// know the session, in an API error if the history is too long or broken.
var qwenRefusals = refusals{
	{"No saved session found with ID", reason.RefusedUnknown},
	{"Unknown argument: resume", reason.RefusedNoResume},
	{"maximum context length", reason.RefusedContext},
	{"must be followed by tool messages", reason.RefusedBroken},
}

// Refused ignores limits, logins, network errors and anything unknown: they do not concern the
// session.
func (qwen) Refused(stderr string, exit int) reason.Code {
	if exit == 0 {
		return ""
	}
	return qwenRefusals.in(stderr)
}
