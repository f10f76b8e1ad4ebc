package rewrite

import (
	"encoding/json"
	"slices"
	"strings"

	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// gemini is Gemini CLI. Facts in this file were measured with 0.61.0 unless they name another
// version; docs/internals/gemini.md lists them all.
type gemini struct{ base }

func init() { Register(gemini{}) }

var geminiDescriptor = Descriptor{
	Name:        "gemini",
	Headless:    []string{"gemini"},
	Unattended:  []string{"gemini", "--yolo", "-p"},
	Subcommands: []string{"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"},
	Alone:       []string{"--help", "-h", "--version", "-v", "--list-sessions"},
	Nested:      []string{"GEMINI_CLI"}, // set by its shell tool
	LoginKeys:   []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
	Provider:    "gcp.gen_ai",
	Home:        geminiHome,
	Sessions:    []string{"tmp/*/chats/session-*.json*"},
	Travels:     true,

	ResumeLosesCache: true,

	StandIn: StandIn{
		Env:    []string{"GOOGLE_GEMINI_BASE_URL=URL", "GEMINI_API_KEY=stand-in", "GEMINI_CLI_TRUST_WORKSPACE=true"},
		Config: ".gemini/settings.json",
		// Without a model, gemini first asks another model which one to use.
		Text: `{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "model": {"name": "gemini-2.5-pro"},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 1},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false}
}
`,
	},
}

func (gemini) Descriptor() *Descriptor { return &geminiDescriptor }

// geminiOptions lists every option of gemini 0.61.0, the hidden ones included. ManyValues are yargs
// arrays, with one value per occurrence.
var geminiOptions = optionTable{
	{[]string{"--accept-raw-output-risk"}, NoValue, setting},
	{[]string{"--acp"}, NoValue, server},
	{[]string{"--admin-policy"}, ManyValues, fileSetting},
	{[]string{"--allowed-mcp-server-names"}, ManyValues, setting},
	{[]string{"--allowed-tools"}, ManyValues, setting},
	{[]string{"--approval-mode"}, OneValue, setting},
	{[]string{"--debug", "-d"}, NoValue, neutral},
	{[]string{"--delete-session"}, OptionalValue, admin},
	{[]string{"--experimental-acp"}, NoValue, server},
	{[]string{"--extensions", "-e"}, ManyValues, setting},
	{[]string{"--fake-responses"}, OptionalValue, unmanaged},
	{[]string{"--fake-responses-non-strict"}, OptionalValue, unmanaged},
	{[]string{"--help", "-h"}, NoValue, admin},
	{[]string{"--include-directories"}, ManyValues, setting},
	{[]string{"--list-extensions", "-l"}, NoValue, admin},
	{[]string{"--list-sessions"}, NoValue, admin},
	{[]string{"--model", "-m"}, OneValue, model},
	{[]string{"--output-format", "-o"}, OneValue, format},
	{[]string{"--policy"}, ManyValues, fileSetting},
	{[]string{"--prompt", "-p"}, OneValue, neutral},
	{[]string{"--prompt-interactive", "-i"}, OneValue, admin},
	{[]string{"--raw-output"}, NoValue, setting},
	{[]string{"--record-responses"}, OptionalValue, unmanaged},
	{[]string{"--resume", "-r"}, OptionalValue, callerOwned},
	{[]string{"--sandbox", "-s"}, NoValue, setting},
	{[]string{"--screen-reader"}, NoValue, setting},
	{[]string{"--session-file"}, OneValue, callerOwned},
	{[]string{"--session-id"}, OneValue, callerOwned},
	{[]string{"--skip-trust"}, NoValue, setting},
	{[]string{"--version", "-v"}, NoValue, admin},
	{[]string{"--worktree", "-w"}, OptionalValue, unmanaged},
	{[]string{"--yolo", "-y"}, NoValue, setting},
}

// Variables returns gemini's own variables. Those of Google's cloud count for every tool.
func (gemini) Variables() Variables {
	return Variables{
		Settings: []string{"GEMINI_*", "SEATBELT_PROFILE", "SANDBOX", "BUILD_SANDBOX"},
		Account:  []string{"GEMINI_API_KEY", "GEMINI_API_KEY_*", "GEMINI_CLI_USE_COMPUTE_ADC", "CLOUD_SHELL", "CODE_ASSIST_*"},
		Neutral: []string{
			"GEMINI_MODEL", // already counted as the call's model
			"GEMINI_CLI_HOME", "GEMINI_TELEMETRY_*", "GEMINI_CLI_NO_RELAUNCH", "GEMINI_CLI_IDE_*", "GEMINI_CLI_SURFACE",
			"GEMINI_DEBUG_LOG_FILE", "GOOGLE_CLOUD_SHELL",
		},
	}
}

func (g gemini) Parse(in Invocation) Call {
	call := geminiDescriptor.newCall(in)
	p := parseYargs(in.Args, geminiOptions.with(in.Learned))
	call.Model = in.Env("GEMINI_MODEL")
	call.readYargs(p, in)
	call.Home = geminiHome(in.Env)
	call.Reason = geminiReason(&call, p, in)
	switch call.Reason {
	case "":
		call.Mode = Fresh
		call.SettingsFiles = geminiSettingsFiles(call.Home, in.Env)
		call.Watched = geminiWatched(call.Home)
	case reason.CallerSession:
		if call.Format != Text {
			call.Mode = Observe // its output contains the session ID
		}
	}
	return call
}

// geminiHome returns gemini's directory below the home directory, which GEMINI_CLI_HOME replaces.
func geminiHome(env func(string) string) string {
	home := env("GEMINI_CLI_HOME")
	if home == "" {
		home = env("HOME")
	}
	return home + "/.gemini"
}

// geminiSettingsFiles returns the settings of the user, the project and the system.
func geminiSettingsFiles(home string, env func(string) string) []string {
	return []string{
		home + "/settings.json", ".gemini/settings.json", env("GEMINI_CLI_SYSTEM_SETTINGS_PATH"),
		"/etc/gemini-cli/settings.json", "/Library/Application Support/GeminiCli/settings.json",
		home + "/google_accounts.json", home + "/oauth_creds.json",
	}
}

// geminiWatched returns the files that gemini reads on its own at the start of a session. It reads
// the nearest .env, which may contain its key.
func geminiWatched(home string) []Watch {
	watched := []Watch{
		{Path: home + "/GEMINI.md", Name: "~/.gemini/GEMINI.md", Guard: reason.InstructionsChanged},
		{Path: home + "/policies/*.toml", Name: "~/.gemini/policies"},
		{Path: ".gemini/policies/*.toml"},
		{Path: home + "/extensions/*/gemini-extension.json", Name: "~/.gemini/extensions"},
		{Path: ".gemini/extensions/*/gemini-extension.json"},
		{Path: ".gemini/system.md", Guard: reason.InstructionsChanged},
		{Path: home + "/.env", Name: "~/.gemini/.env", Guard: reason.AuthChanged},
	}
	for _, name := range []string{"GEMINI.md", "AGENTS.md"} {
		watched = append(watched, Watch{Path: name, Above: true, Guard: reason.InstructionsChanged})
	}
	for _, name := range []string{".gemini/.env", ".env"} {
		watched = append(watched, Watch{Path: name, Above: true, Guard: reason.AuthChanged})
	}
	return watched
}

// geminiAccount returns what identifies the account in one of gemini's login files. The access
// token there changes every hour.
func geminiAccount(path, text string) Setting {
	s := Setting{Name: "~/.gemini/google_accounts.json", Value: jsonMember(text, "active"), Guard: reason.AuthChanged}
	if strings.HasSuffix(path, "/oauth_creds.json") {
		s.Name, s.Value = "~/.gemini/oauth_creds.json", jsonMember(text, "refresh_token")
	}
	return s
}

// geminiReason returns why the call is not managed, or "".
func geminiReason(c *Call, p parsedArgs, in Invocation) reason.Code {
	p = p.withoutOff()
	s := c.yargsSigns(&geminiDescriptor, p, in)
	if c.Format == Text && (p.names("--raw-output") || p.names("--accept-raw-output-risk")) {
		s.unmanaged = "--raw-output" // raw text would be indistinguishable from its escape sequences
	}
	why := c.why(&geminiDescriptor, p, in, s)
	if why == "" && geminiForgets(c.Prompt) {
		return reason.SlashCommand
	}
	return why
}

// geminiForgets reports whether gemini takes a prompt for a command of its own or for context that
// it added itself. It may still send it to the model, but leaves it out of the history of a resumed
// session (isIgnoredUserContent in 0.61.0).
func geminiForgets(text string) bool {
	text = strings.TrimSpace(text)
	return prompt.StartsLikeCommand(text) || strings.HasPrefix(text, "<session_context>") ||
		strings.HasPrefix(text, "<hook_context>")
}

// ResolveWithEnv passes a call through if a settings file may change the format of a call that
// names none, or has a hook at session start, whose output replaces the prompt in the history.
// --session-id exists since 0.41.
func (gemini) ResolveWithEnv(c Call, s HostEnv) Call {
	leave := func(why reason.Code) { c.Mode, c.Reason = Passthrough, why }
	for _, path := range c.SettingsFiles {
		text, found := s.Settings[path]
		if strings.HasSuffix(path, "/google_accounts.json") || strings.HasSuffix(path, "/oauth_creds.json") {
			if account := geminiAccount(path, text); account.Value != "" {
				c.Settings = append(c.Settings, account)
			}
			continue
		}
		if found {
			c.Settings = append(c.Settings, jsonSettings(path, text)...)
		}
		switch {
		case strings.Contains(text, `"SessionStart"`):
			leave(reason.HookSetting)
		case c.formatArg.n == 0 && strings.Contains(text, `"output"`) && strings.Contains(text, `"format"`):
			leave(reason.VerboseSetting)
		}
	}
	if s.Version != "" && !atLeast(s.Version, 0, 41, 0) {
		leave(reason.NoResume)
	}
	return c
}

// ActsOn reports file mentions: "@" after anything but a backslash.
func (gemini) ActsOn(text string) bool { return prompt.Mentions(text, '@', true) }

func (gemini) Options(help string) Probe { return yargsProbe(help, "--prompt", "--resume") }

// EffectivePrompt puts stdin first, then an empty line, then the prompt
// (recordings/gemini/stdin-and-arg). It returns "" if gemini would not send or not store all of it.
func (gemini) EffectivePrompt(c Call, stdin string) string {
	prompt := c.yargsPrompt(stdin)
	if geminiForgets(prompt) {
		return ""
	}
	return prompt
}

// Plan leaves every format as it is. In text, which does not name the session, the shim chooses its ID.
func (gemini) Plan(c Call, t Target) Plan {
	plan := c.planYargs(t)
	plan.ReexecsSelf, plan.ExitsBeforeFlush = true, true
	if c.Format == Text {
		plan.Follow = []Follow{followGemini(c.Home, plan.ID())}
	}
	return plan
}

// SessionPaths returns the session's file. A project's directory is named after the working
// directory, with a suffix if several projects share that name. The file is named after its first
// minute and the first characters of the ID.
func (gemini) SessionPaths(home, cwd, id string) []string {
	file := "/chats/session-*-" + id[:min(8, len(id))] + ".jsonl"
	home = Literal(home)
	return []string{home + "/tmp/" + Literal(cwd[strings.LastIndex(cwd, "/")+1:]) + file, home + "/tmp/*" + file}
}

// SessionFiles returns what gemini itself deletes with a session (0.61.0). The file's name contains
// only eight characters of the ID.
func (gemini) SessionFiles(home, id, path string) (SessionFiles, bool) {
	parts := below(home, path, "tmp/*/chats/session-*-"+id[:min(8, len(id))]+".jsonl")
	if parts == nil {
		return SessionFiles{}, false
	}
	project := "tmp/" + parts[1]
	return SessionFiles{Paths: []string{
		strings.Join(parts, "/"),
		project + "/chats/" + id,
		project + "/logs/session-" + id + ".jsonl",
		project + "/tool-outputs/session-" + id,
		project + "/" + id,
	}}, true
}

// IsOrphanFile reports whether the file is the one that a resume leaves if it takes place in a
// later minute than the session began: a header, and the context of a session that is then not
// continued (recordings/gemini/retention). When another session of the project starts, gemini takes
// that file for a broken session and deletes all files of that ID. A file with any other content is
// not an orphan.
func (gemini) IsOrphanFile(_ string, data []byte) bool {
	lines := 0
	for line := range strings.Lines(string(data)) {
		var record struct {
			ID, Type  string
			SessionID string                              `json:"sessionId"`
			Set       *struct{ Messages []geminiMessage } `json:"$set"`
			Rewind    string                              `json:"$rewindTo"`
		}
		if json.Unmarshal([]byte(line), &record) != nil || record.ID != "" || record.Type != "" || record.Rewind != "" {
			return false
		}
		if record.SessionID == "" && (record.Set == nil || !slices.ContainsFunc(record.Set.Messages, geminiMessage.isContext)) {
			return false
		}
		if record.Set != nil && slices.ContainsFunc(record.Set.Messages, geminiMessage.isContent) {
			return false
		}
		lines++
	}
	return lines > 0
}

// A geminiMessage is a message in a session's file.
type geminiMessage struct {
	Type    string
	Content []struct{ Text string }
}

// isContext reports whether the message is the context that gemini itself sends first.
func (m geminiMessage) isContext() bool {
	return m.Type == "user" && len(m.Content) == 1 && strings.HasPrefix(m.Content[0].Text, "<session_context>")
}

func (m geminiMessage) isContent() bool { return !m.isContext() }

// geminiRefusals lists what gemini writes when it does not continue a session: on stderr if it does
// not know the session (CLI-FACTS 3.2), in an API error if the history is too long or broken
// (CLI-FACTS 3.6).
var geminiRefusals = refusals{
	{"Error resuming session: Invalid session identifier", reason.RefusedUnknown},
	{"Error resuming session: No previous sessions found", reason.RefusedUnknown},
	{"Unknown argument: resume", reason.RefusedNoResume},
	{"Error resuming session: ", reason.RefusedBroken},
	{"exceeds the maximum number of tokens allowed", reason.RefusedContext},
	{"function response parts is equal to the number of function call parts", reason.RefusedBroken},
	{"ensure that function call turn comes immediately after", reason.RefusedBroken},
}

// Refused ignores limits, logins, network errors and anything unknown: they do not concern the
// session.
func (gemini) Refused(stderr string, exit int) reason.Code {
	if exit == 0 {
		return ""
	}
	return geminiRefusals.in(stderr)
}
